import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { statements, type Statement } from "../../../src/inquiry/statement/statement.ts";

/** Each column that a version of a statement promises: statement, version, part, column, type. None is ever edited. */
const promised = readFileSync(new URL("promised-columns.txt", import.meta.url), "utf8")
  .trimEnd()
  .split("\n");

function columnsOf({ shape }: Statement): string[] {
  return shape.parts.flatMap((part) =>
    part.columns.map(({ name, type, currencyIn }) => {
      const money = currencyIn === undefined ? "" : ` in ${currencyIn}`;
      return `${shape.kind} ${shape.version} ${part.name} ${name} ${type}${money}`;
    }),
  );
}

it.each(Object.values(statements).map((statement: Statement) => [statement.shape.kind, statement] as const))(
  "%s has the columns that its version promises, in their order",
  (kind, statement) => {
    const { version } = statement.shape;
    const now = columnsOf(statement);
    const then = promised.filter((line) => line.startsWith(`${kind} ${version} `));
    expect(
      now,
      `What reads ${kind} by version ${version} reads it wrongly from now on. Raise the version in its shape, and add ` +
        `these lines to promised-columns.txt below those of the versions before:\n${now.join("\n")}\n`,
    ).toEqual(then);
  },
);

it("knows every statement by each of its versions", () => {
  for (const { shape } of Object.values(statements))
    for (let version = 1; version <= shape.version; version += 1)
      expect(
        promised.some((line) => line.startsWith(`${shape.kind} ${version} `)),
        `${shape.kind} ${version}`,
      ).toBe(true);
});
