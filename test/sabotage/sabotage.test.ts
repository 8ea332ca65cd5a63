import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { project, staleness } from "./break.ts";
import { isSample } from "../support/sizes.ts";
import { breaks, fewBreaks, sampleVariable } from "./breaks.ts";
import { control } from "./stage-names.ts";
import { verdictsSchema } from "./verdicts.ts";
import type { Verdict } from "./verdicts.ts";

/**
 * A test that cannot fail proves nothing. Here the program is broken on purpose, in one place at a time and in memory
 * only, and for each break a test that is named has to turn red; see vitest.config.ts beside this file.
 */

type Ran = Verdict["ran"][number];

const folder = mkdtempSync(join(tmpdir(), "sabotage-"));
const ran = new Map<string, Ran>();
let problems: string[] = [];
let said = "";

/** Vitest by its own entry, with nothing in its environment of the one that runs this. */
async function runStages(verdicts: string): Promise<string> {
  const vitest = join(dirname(createRequire(import.meta.url).resolve("vitest/package.json")), "vitest.mjs");
  const environment = Object.entries(process.env).filter(([name]) => !/^VITEST|^TEST$|^TEST_SIZE$/u.test(name));
  const words = [vitest, "run", "--config", join(import.meta.dirname, "vitest.config.ts")];
  const options = {
    cwd: project,
    env: {
      ...Object.fromEntries(environment),
      ...(isSample ? { [sampleVariable]: "yes" } : {}),
      SABOTAGE_VERDICTS: verdicts,
    },
    maxBuffer: 2 ** 26,
  };
  try {
    await promisify(execFile)(process.execPath, words, options);
    return "vitest found nothing wrong with broken programs";
  } catch (error) {
    return String(error);
  }
}

beforeAll(async () => {
  const path = join(folder, "verdicts.json");
  said = await runStages(path);
  const verdicts = verdictsSchema.parse(JSON.parse(readFileSync(path, "utf8")));
  problems = verdicts.flatMap((verdict) => verdict.problems);
  for (const test of verdicts.flatMap((verdict) => verdict.ran)) ran.set(test.title, test);
}, 1_500_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What kept a test from being shown at all: the file cannot be loaded with the break, or has no test of that name. */
function missing(group: string): string {
  const loaded = ran.get(`${group} > cannot be loaded`);
  return loaded === undefined ? said.slice(0, 2_000) : JSON.stringify(loaded.errors);
}

describe("a program that is broken on purpose", () => {
  it("is broken in at least 25 ways, each in a place that is there exactly once", () => {
    expect(Object.keys(breaks).length).toBeGreaterThanOrEqual(25);
    const stale = Object.entries(breaks).flatMap(([name, row]) => {
      const wrong = staleness(row);
      return wrong === undefined ? [] : [`${name}: ${wrong}`];
    });
    expect(stale, "rows that no longer fit the program: say where it stands now, and what").toEqual([]);
  });

  it("lets every file of tests be run", () => {
    expect(problems).toEqual([]);
  });

  it.each(Object.entries(isSample ? fewBreaks : breaks))("turns a test red: %s", (name, { test, title }) => {
    const whole = ran.get(`${control} > ${title}`);
    const why = whole === undefined ? missing(control) : JSON.stringify(whole.errors);
    expect(whole?.state, `test/${test} has no test "${title}" that passes\n${why}`).toBe("passed");
    const broken = ran.get(`${name} > ${title}`);
    expect(broken, `with this break, "${title}" of test/${test} was not run\n${missing(name)}`).toBeDefined();
    expect(broken?.state, `no test finds this break: "${title}" of test/${test} stays green`).toBe("failed");
    const [error] = broken?.errors ?? [];
    // Red for another reason than what the test looks at is no proof: the break does not run, or the test waited in
    // vain.
    expect(["ReferenceError", "SyntaxError", "TypeError"]).not.toContain(error?.name);
    expect(error?.message).not.toContain("timed out");
  });
});
