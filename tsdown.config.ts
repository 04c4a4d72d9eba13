import { defineConfig } from "tsdown";

export default defineConfig({
  entry: {
    cli: "src/cli/main.ts",
    pack: "src/pack/pack.ts",
    "commit-thread": "src/store/sqlite/commit-thread.ts",
  },
  format: "esm",
  platform: "neutral",
  target: "node24",
  outDir: "dist",
  clean: true,
  dts: false,
  // One file per command and few shared chunks: a cold start opens a handful of files instead of two hundred.
  deps: { alwaysBundle: [/.*/], neverBundle: [/^node:/] },
  outputOptions: { chunkFileNames: "[name]-[hash].js", entryFileNames: "[name].js" },
});
