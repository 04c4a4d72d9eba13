import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    // Many tests wait for processes they started, so a few more files than cores are run at once; and on a
    // slow machine each needs room.
    maxWorkers: 3,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // A page that is still drawing is asked again for as long as a slow machine may need.
    expect: { poll: { timeout: 15_000 } },
  },
});
