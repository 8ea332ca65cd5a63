import { statfsSync } from "node:fs";
import { defineConfig } from "vitest/config";

/** What a run without a mode leaves out: 830 orders, killed at ten moments. Random kills are tried there in test/faults. */
const longest = ["test/scenarios/northwind-killed.test.ts"];

/** The parts that `--mode faults` runs: all that is longer there than in a run without a mode. */
const faultMatrix = [
  "test/{faults,simulation,sabotage}/*.test.ts",
  ...longest,
  "test/run/schedule.test.ts",
  "test/config/config.test.ts",
];

/** Ledgers in memory, where the system has room for them there: a test waits for no disk. What a kill leaves behind is the same. */
function temporaryFiles(): Record<string, string> {
  const memory = "/dev/shm";
  try {
    const { bavail, bsize } = statfsSync(memory);
    return bavail * bsize > 4 * 2 ** 30 ? { TMPDIR: memory } : {};
  } catch {
    return {};
  }
}

/** `vitest run` tries a sample of the fault matrix, `--mode faults` and `--mode full` more of it; see test/support/sizes.ts. */
export default defineConfig(({ mode }) => ({
  test: {
    include: mode === "faults" ? faultMatrix : ["test/**/*.test.ts"],
    exclude: mode === "faults" || mode === "full" ? [] : longest,
    // Crash tests start processes of their own; on two cores a cold start under load takes seconds.
    maxWorkers: 2,
    // Each file would load the whole program for itself.
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A release is tried on the disk.
    env: {
      ...(mode === "full" ? {} : temporaryFiles()),
      TEST_SIZE: mode === "full" || mode === "faults" ? mode : "sample",
    },
  },
}));
