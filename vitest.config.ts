import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    // Two cores: process-level tests and property tests share them, so a slow machine needs room.
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
