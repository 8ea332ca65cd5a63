import { defineConfig } from "vitest/config";

/** The parts that `--mode faults` runs: all that is longer there than in a run without a mode. */
const faultMatrix = [
  "test/{faults,simulation,sabotage}/*.test.ts",
  "test/scenarios/northwind-killed.test.ts",
  "test/run/schedule.test.ts",
  "test/config/config.test.ts",
];

/** `vitest run` tries a sample of the fault matrix, `--mode faults` and `--mode full` more of it; see test/support/sizes.ts. */
export default defineConfig(({ mode }) => ({
  test: {
    include: mode === "faults" ? faultMatrix : ["test/**/*.test.ts"],
    setupFiles: ["test/support/end-kept.ts"],
    // Crash tests start processes of their own; on two cores a cold start under load takes seconds.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    env: { TEST_SIZE: mode === "full" || mode === "faults" ? mode : "sample" },
  },
}));
