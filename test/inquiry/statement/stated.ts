import { onTestFinished } from "vitest";
import { ReadOnlyLedger } from "../../../src/inquiry/read-only-ledger.ts";
import { statements } from "../../../src/inquiry/statement/statements.ts";
import type { Statement, StatementKind } from "../../../src/inquiry/statement/statements.ts";
import { openReadOnly } from "../../../src/ledger/database/database.ts";
import type { Cell, Row, StatementRequest } from "../../../src/report/statement/shape.ts";
import { october } from "../reported-month.ts";

/** The rows of a statement by their parts. */
export async function stated(
  path: string,
  kind: StatementKind,
  fields: Partial<StatementRequest> = {},
): Promise<Record<string, Row[]>> {
  const ledger = new ReadOnlyLedger(path, openReadOnly(path));
  onTestFinished(() => ledger.close());
  const statement: Statement = statements[kind];
  const { shape } = statement;
  const parts: Record<string, Row[]> = Object.fromEntries(shape.parts.map(({ name }) => [name, []]));
  const places = shape.parts.map(({ name }) => name);
  const columns = new Map(shape.parts.map((part) => [part.name, new Set(part.columns.map(({ name }) => name))]));
  let last = 0;
  for await (const { part, row } of statement.rows(ledger, {
    period: october,
    by: "happened",
    filters: {},
    ...fields,
  })) {
    const place = places.indexOf(part);
    if (place < last) throw new Error(`${part} comes after ${places[last] ?? ""}`);
    last = place;
    const unknown = Object.keys(row).find((name) => columns.get(part)?.has(name) !== true);
    if (unknown !== undefined) throw new Error(`${part} has no column ${unknown}`);
    parts[part]?.push(row);
  }
  return parts;
}

/** Some cells of a row, in the order of their names. */
export function cells(row: Row, ...names: string[]): (Cell | undefined)[] {
  return names.map((name) => {
    if (!(name in row)) throw new Error(`no cell ${name}`);
    return row[name];
  });
}
