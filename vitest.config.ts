import { statfsSync } from "node:fs";
import { defineConfig } from "vitest/config";

/** What `npm run pictures` runs. */
const pictures = "test/pictures/*.ts";

/**
 * Which tests a mode runs. A `long` test is left out of `npm test`; a `sized` one tries more cases where there is more
 * time (test/support/sizes.ts).
 */
const filters: Record<string, string[]> = { test: ["!long"], faults: ["long || sized"], full: [], pictures: [] };

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

/** `vitest run` is what everybody runs all day; `--mode faults` has what takes minutes, `--mode full` what takes hours. */
export default defineConfig(({ mode }) => ({
  test: {
    globalSetup: ["test/support/new-ledger.ts", "test/support/bundle.ts"],
    setupFiles: ["test/support/resources.ts"],
    include: mode === "pictures" ? [pictures] : ["test/**/*.test.ts"],
    tags: [
      { name: "long", description: "takes more than a moment: not in `npm test`" },
      { name: "sized", description: "tries more cases in `npm run test:faults` and `npm run test:full`" },
    ],
    tagsFilter: filters[mode] ?? [],
    maxWorkers: 3,
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
