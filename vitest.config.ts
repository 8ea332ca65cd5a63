import { defineConfig } from "vitest/config";

/** `vitest run --mode full` runs the fault matrix at its whole size; see test/support/sizes.ts. */
export default defineConfig(({ mode }) => ({
  test: {
    include: ["test/**/*.test.ts"],
    // Crash tests start processes of their own; on two cores a cold start under load takes seconds.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    env: { TEST_SIZE: mode === "full" ? "full" : "small" },
  },
}));
