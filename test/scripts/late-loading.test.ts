import { expect, it } from "vitest";
import { withLateLoading } from "../../scripts/build/late-loading.ts";

/** Runs the text of a file of the bundle; gives what it printed and, in their places, what it loaded. */
function run(text: string): string[] {
  const said: string[] = [];
  const files: Record<string, unknown> = {
    "a-file": { one: 1, add: (left: number, right: number) => left + right, Thing: Map, list: [1, 2] },
    "rolldown-runtime": { __toESM: (loaded: unknown) => ({ default: loaded }) },
  };
  const require = (name: string): unknown => {
    said.push(`loads ${name}`);
    return files[name];
  };
  const say = (what: unknown): number => said.push(String(what));
  // oxlint-disable-next-line typescript/no-implied-eval, no-new-func -- it is what is tested
  new Function("require", "say", withLateLoading(text))(require, say);
  return said;
}

it("loads a file when something of it is used first, and once", () => {
  const text = `const a = require("a-file");\nsay("begins");\nsay((0, a.add)(a.one, 2));\nsay([...a.list]);`;
  expect(run(text)).toEqual(["begins", "loads a-file", "3", "1,2"]);
});

it("loads nothing that is not used, be it named in a function", () => {
  expect(run(`const a = require("a-file");\nfunction never() { return a.one; }\nsay("ends");`)).toEqual(["ends"]);
});

it("keeps constructors, keys and properties of the same name what they are", () => {
  const text = `const a = require("a-file");\nconst o = { a: 5 };\nsay(new a.Thing().constructor.name);\nsay(o.a);`;
  expect(run(text)).toEqual(["loads a-file", "Map", "5"]);
});

it("loads a package that is made a module of in the same way", () => {
  const runtime = `const r = require("rolldown-runtime");\n`;
  const text = `${runtime}let a = require("a-file");\na = r.__toESM(a, 1);\nsay("begins");\nsay(a.default.one);`;
  expect(run(text)).toEqual(["loads rolldown-runtime", "begins", "loads a-file", "1"]);
});

it.each([
  ["is handed on", `const a = require("a-file");\nsay("begins");\nsay(((x) => x.one)(a));`, "1"],
  [
    "has the name of a parameter",
    `const a = require("a-file");\nsay("begins");\nsay(((a) => a.one)({ one: 7 }));`,
    "7",
  ],
])("leaves at the start what %s", (_, text, last) => {
  expect(run(text)).toEqual(["loads a-file", "begins", last]);
});

it("keeps every line where it is", () => {
  const text = `const a = require("a-file");\nlet b = require("b-file");\nb = r.__toESM(b);\nsay(a.one, b.two);\n`;
  expect(withLateLoading(text).split("\n")).toHaveLength(text.split("\n").length);
});
