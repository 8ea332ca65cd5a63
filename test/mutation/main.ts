import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { z } from "zod";

/*
 * Mutation tests: `npm run test:mutation -- [--quick] [FILE[:FROM-TO]… | --since COMMIT | --survived]`. Each file of
 * `src/` that is named, or that changed since a commit, is mutated, or its lines from-to, and the tests of its folder
 * have to see each mutant. The commit is the merge base with `origin/main` where nobody says, or the one before this.
 * `--survived` mutates the lines of what survived last time; `--quick` leaves `long` tests out. Prints what survived;
 * `reports/mutation.json` has all of it.
 */

const project = join(import.meta.dirname, "../..");

/** Tests of other folders that a file of `src/` is tested by, by the beginning of its path. */
const beside: Readonly<Record<string, readonly string[]>> = {
  "src/engine/plan/limits.ts": ["test/engine/decisions.test.ts"],
};

const placeSchema = z.object({ line: z.int() });
const reportSchema = z.object({
  files: z.record(
    z.string(),
    z.object({
      mutants: z.array(z.object({ status: z.string(), location: z.object({ start: placeSchema, end: placeSchema }) })),
    }),
  ),
});

function git(...words: string[]): string {
  return execFileSync("git", words, { cwd: project, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
}

function usualCommit(): string {
  try {
    return git("merge-base", "HEAD", "origin/main");
  } catch {
    return "HEAD~1";
  }
}

/** Files of `src/` that differ from what they were, those that nobody committed included. */
function changedSince(commit: string): string[] {
  const changed = git("diff", "--name-only", "--diff-filter=d", commit, "--", "src");
  const added = git("ls-files", "--others", "--exclude-standard", "--", "src");
  return [...changed.split("\n"), ...added.split("\n")].filter((file) => file.endsWith(".ts"));
}

/** The lines of `src/` in which something survived last time. */
function survived(): string[] {
  const { files } = reportSchema.parse(JSON.parse(readFileSync(join(project, "reports/mutation.json"), "utf8")));
  const lines = Object.entries(files).flatMap(([file, { mutants }]) =>
    mutants
      .filter(({ status }) => status === "Survived" || status === "NoCoverage")
      .map(({ location: { start, end } }) => `${file}:${start.line}-${end.line}`),
  );
  return [...new Set(lines)];
}

/** The tests of the same folder below `test/`, and those that are named for it. */
function testsOf(file: string): string[] {
  const folder = dirname(file).replace(/^src/u, "test");
  const others = Object.entries(beside).flatMap(([beginning, tests]) => (file.startsWith(beginning) ? tests : []));
  return [...globSync(`${folder}/*.test.ts`, { cwd: project }), ...others];
}

function named(files: string[], since: string | undefined): string[] {
  return files.length > 0 ? files : changedSince(since ?? usualCommit());
}

function main(): number {
  const { values, positionals } = parseArgs({
    options: { since: { type: "string" }, survived: { type: "boolean" }, quick: { type: "boolean" } },
    allowPositionals: true,
  });
  const mutated = values.survived === true ? survived() : named(positionals, values.since);
  const files = [...new Set(mutated.map((name) => name.replace(/:\d+-\d+$/u, "")))];
  const unknown = files.filter((file) => !file.startsWith("src/") || !existsSync(join(project, file)));
  if (unknown.length > 0) {
    process.stderr.write(`not a file of src/: ${unknown.join(", ")}\n`);
    return 64;
  }
  const tests = [...new Set(files.flatMap(testsOf))].sort();
  if (tests.length === 0) {
    process.stdout.write(files.length === 0 ? "nothing to mutate\n" : "no tests stand in the same folders\n");
    return files.length === 0 ? 0 : 1;
  }
  process.stdout.write(`${files.length} files, tested by ${tests.length}:\n  ${tests.join("\n  ")}\n`);
  const env = {
    ...process.env,
    MUTATION_TESTS: tests.join(","),
    MUTATION_TAGS: values.quick === true ? "!long" : undefined,
  };
  return (
    spawnSync("stryker", ["run", "--mutate", mutated.join(",")], { cwd: project, stdio: "inherit", env }).status ?? 1
  );
}

process.exitCode = main();
