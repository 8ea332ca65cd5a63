import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";

const project = join(import.meta.dirname, "../..");
const read = (name: string): string => readFileSync(join(project, name), "utf8");
const { scripts } = z.object({ scripts: z.record(z.string(), z.string()) }).parse(JSON.parse(read("package.json")));

describe.each(["ARCHITECTURE.md", "CONTRIBUTING.md"])("%s", (name) => {
  const text = read(name);

  it("names only files and folders that are there", () => {
    const named = [...text.matchAll(/(?<![\w/.])((?:src|test|jobs|migrations|config|demo|bench)(?:\/[\w.-]+)+)/gu)];
    expect(named.length).toBeGreaterThan(3);
    expect(named.flatMap(([, path = ""]) => (existsSync(join(project, path)) ? [] : [path]))).toEqual([]);
  });

  it("names only commands that are there", () => {
    const named = [...text.matchAll(/npm run ([\w:]+)/gu)].map(([, script = ""]) => script);
    expect(named.filter((script) => scripts[script] === undefined)).toEqual([]);
  });

  it("has at most two pages", () => {
    expect(text.split("\n").length).toBeLessThanOrEqual(120);
  });
});

it("ARCHITECTURE.md names every room of the program", () => {
  const rooms = readdirSync(join(project, "src"), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const text = read("ARCHITECTURE.md");
  expect(rooms.map(({ name }) => name).filter((name) => !text.includes(`\`src/${name}\``))).toEqual([]);
});
