import { defineConfig } from "tsdown";

export default defineConfig({
  entry: {
    cli: "src/cli/main.ts",
    pack: "src/pack/pack.ts",
    packloop: "src/library/packloop.ts",
    sqlite: "src/library/sqlite.ts",
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
