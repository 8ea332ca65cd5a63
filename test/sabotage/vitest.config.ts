import { defineConfig } from "vitest/config";
import type { Plugin } from "vitest/config";
import { broken, project } from "./break.ts";
import { breaks, triedBreaks } from "./breaks.ts";
import { reachOf } from "./reach.ts";
import { control } from "./stage-names.ts";
import { VerdictReporter } from "./verdicts.ts";

/**
 * Runs, for each break, the test that has to turn red for it, with the program broken in that one place; and all those
 * tests with the program as it is. By hand: `vitest run --config test/sabotage/vitest.config.ts -t "the settle time is
 * skipped"`.
 */

const rows = Object.values(breaks);

/**
 * A module `file.ts?break=7` is the one of row 7: the broken file itself, and every file through which the test reaches
 * it. All others are shared. So each row has a program of its own within one process, and no file is touched.
 */
function sabotage(): Plugin {
  const reach = reachOf();
  const reached = rows.map((row) => reach(row.file));
  const rowOf = (id: string | undefined): number | undefined => {
    const number = /\?break=(\d+)$/u.exec(id ?? "")?.[1];
    return number === undefined ? undefined : Number(number);
  };
  const bare = (id: string): string => id.replace(/\?break=\d+$/u, "");
  return {
    name: "sabotage",
    enforce: "pre",
    configureVitest({ defineCacheKeyGenerator }) {
      // Nothing of a broken program is kept for another run, nor taken from what was kept of the whole one.
      defineCacheKeyGenerator(({ id }) => (rowOf(id) === undefined ? undefined : false));
    },
    async resolveId(source, importer, options) {
      const number = rowOf(source) ?? rowOf(importer);
      if (number === undefined) return undefined;
      const from = importer === undefined ? undefined : bare(importer);
      const found = await this.resolve(bare(source), from, { ...options, skipSelf: true });
      if (found === null || reached[number]?.has(found.id) !== true) return found;
      return { ...found, id: `${found.id}?break=${number}` };
    },
    transform(code, id) {
      const row = rows[rowOf(id) ?? -1];
      if (row === undefined || bare(id) !== `${project}/${row.file}`) return undefined;
      return { code: broken(row, code), map: null };
    },
  };
}

/** The pattern that lets exactly the named tests run. */
function namedTests(): RegExp {
  const names = Object.entries(triedBreaks).flatMap(([name, { title }]) => [
    `${name} > ${title}`,
    `${control} > ${title}`,
  ]);
  return new RegExp(
    `^(?:${[...new Set(names)].map((name) => name.replaceAll(/[\\^$.*+?()[\]{}|]/gu, "\\$&")).join("|")})$`,
    "u",
  );
}

const verdicts = process.env["SABOTAGE_VERDICTS"];

export default defineConfig({
  root: project,
  plugins: [sabotage()],
  test: {
    include: ["test/sabotage/stages/*.ts"],
    testNamePattern: namedTests(),
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
    maxWorkers: 2,
    pool: "threads",
    isolate: false,
    env: { TEST_SIZE: "faults" },
    reporters: verdicts === undefined ? ["default"] : [new VerdictReporter(verdicts)],
  },
});
