import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createProgram } from "../../src/cli/command-line.ts";
import { definedCommands } from "../../src/cli/command-tree.ts";
import { registerAll } from "../../src/cli/program.ts";

const project = join(import.meta.dirname, "../..");
const read = (name: string): string => readFileSync(join(project, name), "utf8");
const { scripts } = z.object({ scripts: z.record(z.string(), z.string()) }).parse(JSON.parse(read("package.json")));

const program = createProgram("");
registerAll(program, async () => {});
const commands = definedCommands(program);
const everywhere = new Set(["--help", "--version", ...(commands[0]?.options ?? []).map(({ long }) => long)]);

const documents = globSync(["*.md", "docs/**/*.md", "test/README.md"], { cwd: project });
const mostWords: Record<string, number> = {
  "README.md": 700,
  "ARCHITECTURE.md": 900,
  "CONTRIBUTING.md": 600,
  "test/README.md": 300,
  "SECURITY.md": 500,
};

/** The command lines in a document: a line of a block for a shell, or code inside a sentence. */
function shown(text: string): string[] {
  const lines = [...text.matchAll(/^```sh\n([^]*?)^```/gmu)].flatMap(([, block = ""]) => block.split("\n"));
  const inline = [...text.matchAll(/(?<!`)`([^`\n]+)`(?!`)/gu)].map(([, code = ""]) => code);
  return [...lines, ...inline].flatMap(
    (line) => /^(?:bin\/)?crm-sync (?!COMMAND|--help)([^#|]+)/u.exec(line)?.[1]?.trim() ?? [],
  );
}

/** What the program does not know of a command line: the command itself, or an option. */
function unknownOf(line: string): string[] {
  const words = line.split(/\s+/u);
  const first = words.findIndex((word, index) => /^[a-z]/u.test(word) && words[index - 1] !== "--config");
  const named = words.slice(first);
  const command = commands.findLast(
    (one) => one.words.length > 0 && one.words.every((word, index) => named[index] === word),
  );
  if (command === undefined) return [line];
  const known = new Set([...everywhere, ...command.options.map(({ long }) => long)]);
  const options = words.flatMap((word) => /^\[?(--[a-z-]+)/u.exec(word)?.[1] ?? []);
  return options.filter((option) => !known.has(option)).map((option) => `${option} of ${line}`);
}

describe.each(documents)("%s", (name) => {
  const text = read(name);

  it("names only files and folders that exist", () => {
    const named = [
      ...text.matchAll(
        /(?<![\w/.:-])((?:src|test|jobs|migrations|config|demo|deploy|scripts|bench)(?:\/[\w.-]*\w)+)/gu,
      ),
    ].map(([, path = ""]) => path);
    const made = /^(?:demo\/state$|deploy\/crm-sync$)/u;
    expect(named.filter((path) => !made.test(path) && !existsSync(join(project, path)))).toEqual([]);
  });

  it("links only to pages and pictures that exist", () => {
    const targets = [...text.matchAll(/\]\((?!https?:)([^)#\s]+)/gu)].map(([, target = ""]) => target);
    expect(targets.filter((target) => !existsSync(join(project, dirname(name), target)))).toEqual([]);
  });

  it("shows only commands and options that the program has", () => {
    const unknown = [...text.matchAll(/npm run (?:--silent )?([\w:]+)/gu)].filter(
      ([, script = ""]) => scripts[script] === undefined,
    );
    expect(unknown.map(([line]) => line)).toEqual([]);
    expect(shown(text).flatMap(unknownOf)).toEqual([]);
  });

  const most = mostWords[name];
  it.runIf(most !== undefined)("is short", () => {
    expect(text.split(/\s+/u).filter((word) => word !== "").length).toBeLessThanOrEqual(most ?? 0);
  });
});

it("the index of documents names each of them, and ARCHITECTURE.md every folder of the program", () => {
  const index = read("docs/README.md");
  const pages = documents.filter((name) => name.startsWith("docs/") && name !== "docs/README.md");
  expect(pages.filter((name) => !index.includes(`(${name.slice("docs/".length)})`))).toEqual([]);
  const folders = globSync("src/*/", { cwd: project }).map((folder) => folder.replaceAll("\\", "/"));
  expect(folders.length).toBeGreaterThan(10);
  const text = read("ARCHITECTURE.md");
  expect(folders.filter((folder) => !text.includes(`\`${folder.replace(/\/$/u, "")}\``))).toEqual([]);
});
