import { chmod } from "node:fs/promises";
import { defineConfig } from "tsdown";

const packageBuild = defineConfig({
  entry: {
    cli: "src/cli/main.ts",
    pack: "src/pack/pack.ts",
    packloop: "src/library/packloop.ts",
    sqlite: "src/library/sqlite.ts",
    postgres: "src/library/postgres.ts",
    "commit-thread": "src/store/sqlite/commit-thread.ts",
    "page-thread": "src/adapter/tool/fetch/page-thread.ts",
    "sqlite-process": "src/adapter/tool/sql/sqlite-process.ts",
  },
  format: "esm",
  platform: "neutral",
  target: "node24",
  outDir: "dist",
  clean: true,
  dts: false,
  // One file per command and few shared chunks: a cold start opens a handful of files instead of two hundred.
  // What only some runs load is left where it is installed.
  deps: {
    alwaysBundle: [/^(@cfworker|@dagrejs|@noble|commander|diff|yaml)/],
    neverBundle: [/^(?!@cfworker|@dagrejs|@noble|commander|diff|yaml)[@\w]/],
  },
  outputOptions: { chunkFileNames: "[name]-[hash].js", entryFileNames: "[name].js" },
});

/**
 * The plugin for gateways: one executable file that depends on nothing beside it, because hosts refuse an
 * entrypoint that leads out of its folder. It lies beside its manifest, from where `gateway install` copies both.
 */
const pluginBuild = defineConfig({
  entry: { "agentic-loop": "src/goal-plugin/main.ts" },
  format: "esm",
  platform: "node",
  target: "node20",
  outDir: "plugins/agentic-loop",
  clean: false,
  dts: false,
  deps: { alwaysBundle: [/.*/] },
  outputOptions: { entryFileNames: "[name].mjs", codeSplitting: false, banner: "#!/usr/bin/env node" },
  hooks: { "build:done": () => chmod("plugins/agentic-loop/agentic-loop.mjs", 0o755) },
});

export default [packageBuild, pluginBuild];
