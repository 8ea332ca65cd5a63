import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { exitCodes } from "../../src/base/errors.ts";
import { deadLinks, project, unknownSettings, wrongCommands, wrongExamples } from "./page-checks.ts";

const read = (name: string): string => readFileSync(join(project, name), "utf8");
const { scripts } = z.object({ scripts: z.record(z.string(), z.string()) }).parse(JSON.parse(read("package.json")));

const documents = globSync(["*.md", "docs/**/*.md", "src/**/README.md", "test/README.md"], { cwd: project });
const maxWords: Record<string, number> = {
  "README.md": 700,
  "ARCHITECTURE.md": 900,
  "CONTRIBUTING.md": 600,
  "test/README.md": 300,
  "SECURITY.md": 500,
};
const maxWordsOfHowTo = 500;
const maxWordsOfFolder = 200;

/** Pages whose settings and examples are checked where they are made. */
const isOfTheProgram = (name: string): boolean =>
  /^docs\/reference\/(?:configuration\/|(?:codes|mapping|personal-data|presets)\.md)/u.test(name);

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

  it("names by its name alone only a file of its own folder", () => {
    const folder = dirname(join(project, name));
    if (!name.startsWith("src/")) return;
    const named = [...text.matchAll(/`((?:[\w-]+\/)*[\w-]+\.ts)`/gu)].map(([, path = ""]) => path);
    const isThere = (path: string): boolean => [project, folder].some((from) => existsSync(join(from, path)));
    expect(named.filter((path) => !isThere(path))).toEqual([]);
  });

  it("links only to pages, headings and pictures that exist", () => {
    expect(deadLinks(name, text)).toEqual([]);
  });

  it("shows only commands and options that the program has", async () => {
    const unknown = [...text.matchAll(/npm run (?:--silent )?([\w:]+)/gu)].filter(
      ([, script = ""]) => scripts[script] === undefined,
    );
    expect(unknown.map(([line]) => line)).toEqual([]);
    expect(await wrongCommands(text)).toEqual([]);
  });

  it.skipIf(isOfTheProgram(name))("names only settings that exist, and shows only examples that hold", () => {
    expect(unknownSettings(text)).toEqual([]);
    expect(wrongExamples(text)).toEqual([]);
  });

  const ofFolder = name.startsWith("src/") ? maxWordsOfFolder : maxWords[name];
  const most = name.startsWith("docs/how-to/") ? maxWordsOfHowTo : ofFolder;
  it.runIf(most !== undefined)("is short", () => {
    expect(text.split(/\s+/u).filter((word) => word !== "").length).toBeLessThanOrEqual(most ?? 0);
  });
});

describe("the checks of pages", () => {
  it("find a link to no file and to no heading", () => {
    const text =
      "# A page\n\n[a](README.md) [b](nowhere.md) [c](#a-page) [d](#another) [e](limits.md#what-is-never-removed)";
    expect(deadLinks("docs/explanation/x.md", text)).toEqual(["README.md", "nowhere.md", "#another"]);
  });

  it("find a command, an option and an argument that the program does not have", async () => {
    const block = ["crm-sync stauts", "crm-sync status --al", "crm-sync audit subject E-1", "crm-sync settle list"];
    const text = `\`crm-sync runz\` \`crm-sync explain\`\n\n\`\`\`sh\n${block.join("\n")}\n\`\`\`\n`;
    const wrong = await wrongCommands(text);
    expect(wrong.map((line) => line.replace(/:[^]*/u, ""))).toEqual([...block.slice(0, 3), "crm-sync runz"]);
  });

  it("find a setting that does not exist, in a sentence and in an example", () => {
    expect(unknownSettings("`limits.newIds` `limits.oldIds` `jobs.night.budget` `staff.no-password`")).toEqual([
      "limits.oldIds",
    ]);
    const example = (yaml: string): string[] => wrongExamples(`1. So:\n\n   \`\`\`yaml\n   ${yaml}\n   \`\`\`\n`);
    expect(example("log: { level: warn }")).toEqual([]);
    expect(example("log: { levl: warn }")).not.toEqual([]);
    expect(example("logs: { level: warn }")).toEqual(["logs is no key of a configuration"]);
    const source = (mapping: string): string =>
      `sources: { crm: { kind: file, streams: { customers: { files: a.csv, mapping: ${mapping} } } } }`;
    expect(example(source("{ nmae: x }"))).not.toEqual([]);
  });
});

it("the index of documents names each of them, and ARCHITECTURE.md every folder of the program", () => {
  const index = `${read("docs/README.md")}${read("docs/reference/configuration.md").replaceAll("](", "](reference/")}`;
  const pages = documents.filter((name) => name.startsWith("docs/") && name !== "docs/README.md");
  expect(pages.filter((name) => !index.includes(`(${name.slice("docs/".length)})`))).toEqual([]);
  const folders = globSync("src/*/", { cwd: project }).map((folder) => folder.replaceAll("\\", "/"));
  expect(folders.length).toBeGreaterThan(10);
  const text = read("ARCHITECTURE.md");
  expect(folders.filter((folder) => !text.includes(`\`${folder.replace(/\/$/u, "")}\``))).toEqual([]);
});

it("the page of the exit codes has every one", () => {
  const listed = [...read("docs/reference/exit-codes.md").matchAll(/^\| (\d+) \|/gmu)].map(([, code]) => Number(code));
  expect(listed.toSorted((one, other) => one - other)).toEqual(Object.values(exitCodes));
});
