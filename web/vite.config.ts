// How the debugger is built: hashed files without inline scripts, because the policy of the page allows none.

import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  plugins: [react()],
  build: {
    outDir: "../dist/web",
    emptyOutDir: true,
    target: "es2023",
    modulePreload: { polyfill: false },
    // Data addresses of small files would be scripts and styles that the policy forbids.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1_000,
  },
  worker: { format: "es" },
});
