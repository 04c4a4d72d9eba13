import { chmod } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
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

const provider = fileURLToPath(new URL("src/goal-plugin/ask-provider.ts", import.meta.url));

const providerModule = (code: string): string => `
import { createRequire } from "node:module";
import { compileFunction } from "node:vm";
const code = ${JSON.stringify(code)};
export function askProvider(question) {
  const made = { exports: {} };
  const load = compileFunction(code, ["module", "exports", "require"], { filename: "agentic-loop-provider.cjs" });
  load(made, made.exports, createRequire(import.meta.url));
  return made.exports.askProvider(question);
}`;

/** The libraries of providers, nine tenths of the plugin, stand in it as a text: most turns need none of them. */
const providerAsText = {
  name: "provider-as-text",
  async load(id: string) {
    if (id !== provider) return undefined;
    await using bundle = await rolldown({
      input: provider,
      platform: "node",
      transform: { target: "node20" },
    });
    const { output } = await bundle.generate({ format: "cjs", minify: true, codeSplitting: false });
    return { code: providerModule(output[0].code), moduleType: "js" as const };
  },
};

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
  plugins: [providerAsText],
  // Most of this build is the bundle within it.
  checks: { bundlerTimings: false },
  outputOptions: { entryFileNames: "[name].mjs", codeSplitting: false, banner: "#!/usr/bin/env node" },
  hooks: { "build:done": () => chmod("plugins/agentic-loop/agentic-loop.mjs", 0o755) },
});

export default [packageBuild, pluginBuild];
