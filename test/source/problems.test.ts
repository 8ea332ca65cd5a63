import { expect, it } from "vitest";
import { fileProblem } from "../../src/source/problems.ts";

it.each([
  ["EACCES", "this user may not read it"],
  ["EPERM", "this user may not read it"],
  ["EISDIR", "it is a folder"],
])("a file that cannot be read (%s) is told with its reason and a cure", (code, reason) => {
  const thrown = Object.assign(new Error(`${code}: something`), { code });
  const problem = fileProblem(thrown, "staff.csv");
  expect(problem.code).toBe("source.unreadable-file");
  expect(problem.message).toBe(`The file staff.csv cannot be read: ${reason}.`);
  expect(problem.cure).not.toBe("");
});
