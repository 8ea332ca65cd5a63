import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

it("the driver of MySQL has every name that is taken of it, as Node imports it (the bundle leaves it outside)", () => {
  const source = readFileSync("src/source/sql/mysql.ts", "utf8");
  const names = [...source.matchAll(/const \{ (\w+) \} = await import\("mysql2"\)/gu)].map(([, name = ""]) => name);
  expect(names).not.toEqual([]);
  // In plain Node: vitest gives names of CommonJS that Node does not.
  const script = `const all = await import("mysql2"); console.log(JSON.stringify(${JSON.stringify(names)}.filter((name) => all[name] === undefined)))`;
  expect(JSON.parse(execFileSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" }))).toEqual([]);
});
