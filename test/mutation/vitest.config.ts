import { defineConfig } from "vitest/config";
import whole from "../../vitest.config.ts";

/**
 * What runs against each mutant, started by Stryker: the tests that `main.ts` chose. No test of it starts the program
 * as a process, so no bundle is made. Stryker's own option for test files is not used: with it what a file makes when it
 * is loaded is never mutated.
 */
export default defineConfig((environment) => {
  const { test = {} } = whole(environment);
  const include = process.env["MUTATION_TESTS"]?.split(",") ?? [];
  const tagsFilter = process.env["MUTATION_TAGS"]?.split(",") ?? [];
  return { test: { ...test, globalSetup: ["test/support/new-ledger.ts"], include, tagsFilter } };
});
