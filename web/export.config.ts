// How the page of an exported run is built: one script and one style sheet, which `packloop export --html` puts
// into the file. It has no worker and loads nothing.

import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

/** A file that is opened from a disk can start no worker, so there is no address of one. */
const noWorker: Plugin = {
  name: "no-worker",
  enforce: "pre",
  resolveId: (id) => (id.includes("journal-worker.ts?worker") ? "\0no-worker" : null),
  load: (id) => (id === "\0no-worker" ? 'export default "";' : null),
};

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  publicDir: false,
  plugins: [noWorker, react()],
  build: {
    outDir: "../dist/web-export",
    emptyOutDir: true,
    target: "es2023",
    cssCodeSplit: false,
    modulePreload: false,
    chunkSizeWarningLimit: 2_000,
    rolldownOptions: {
      input: fileURLToPath(new URL("src/main.tsx", import.meta.url)),
      output: {
        format: "iife",
        codeSplitting: false,
        entryFileNames: "page.js",
        assetFileNames: "page[extname]",
      },
    },
  },
});
