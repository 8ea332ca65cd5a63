import { statfsSync } from "node:fs";
import { defineConfig } from "vitest/config";
import { BaseSequencer } from "vitest/node";
import type { TestSpecification } from "vitest/node";

/** What a run without a mode leaves out: 830 orders, killed at ten moments. Random kills are tried there in test/faults. */
const longest = ["test/scenarios/northwind-killed.test.ts"];

/** What needs a browser, and minutes: `--mode faults` has it. */
const withBrowser = "test/faults/browser-*.test.ts";

/** What `npm run pictures` runs. */
const pictures = "test/pictures/*.ts";

/** The parts that `--mode faults` runs: all that is longer there than in a run without a mode. */
const faultMatrix = [
  "test/{faults,simulation,sabotage}/*.test.ts",
  ...longest,
  "test/run/schedule.test.ts",
  "test/run/real-histories.test.ts",
  "test/scenarios/life/policy-words.test.ts",
  "test/config/config.test.ts",
];

/** Files that take longest, most of it waiting for real clocks. They begin first: nothing is left to wait for when all others are done. */
const first = [
  ...longest,
  "test/faults/sigterm.test.ts",
  "test/cli/trouble.test.ts",
  "test/faults/random-kills.test.ts",
  "test/faults/ledger-unwritable.test.ts",
  "test/simulation/simulation.test.ts",
  "test/sabotage/sabotage.test.ts",
  "test/cli/serve.test.ts",
];

/** Vitest's order, which knows on a new machine only how large a file is, behind the files that are known to take long. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = first.findIndex((name) => moduleId.endsWith(name));
      return at === -1 ? first.length : at;
    };
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}

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
    globalSetup: ["test/support/new-ledger.ts", "test/support/bundle.ts"],
    include: mode === "pictures" ? [pictures] : mode === "faults" ? faultMatrix : ["test/**/*.test.ts"],
    exclude: mode === "faults" || mode === "full" ? [] : [...longest, withBrowser],
    // One more than the cores that a contributor has at least: while one file waits for a clock, two others work.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    // Each file would load the whole program for itself.
    isolate: false,
    // Safety nets for what never comes to its end, far beyond what a loaded machine needs.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    // A release is tried on the disk.
    env: {
      ...(mode === "full" ? {} : temporaryFiles()),
      TEST_SIZE: mode === "full" || mode === "faults" ? mode : "sample",
    },
  },
}));
