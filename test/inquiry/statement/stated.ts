import { onTestFinished } from "vitest";
import { ReadOnlyLedger } from "../../../src/inquiry/read-only-ledger.ts";
import { statements, type Statement, type StatementKind } from "../../../src/inquiry/statement/statement.ts";
import { openReadOnly } from "../../../src/ledger/database/database.ts";
import type { Cell, Period, Row, StatementRequest } from "../../../src/report/statement/shape.ts";

export const october: Period = {
  label: "2026-10",
  zone: "UTC",
  from: "2026-10-01T00:00:00.000Z",
  to: "2026-11-01T00:00:00.000Z",
};

export const statementKinds = Object.keys(statements).filter((kind) => isKind(kind));

function isKind(kind: string): kind is StatementKind {
  return Object.hasOwn(statements, kind);
}

/** The rows of a statement of a month by their parts, as the ledger at a path gives them. */
export async function stated(
  path: string,
  kind: StatementKind,
  fields: Partial<StatementRequest> = {},
): Promise<Record<string, Row[]>> {
  const ledger = new ReadOnlyLedger(path, openReadOnly(path));
  onTestFinished(() => ledger.close());
  return await rowsOf(ledger, kind, { period: october, by: "happened", filters: {}, ...fields });
}

/** The rows of a statement by their parts, which come in their order and have the columns that their part promises. */
export async function rowsOf(
  ledger: ReadOnlyLedger,
  kind: StatementKind,
  request: StatementRequest,
): Promise<Record<string, Row[]>> {
  const statement: Statement = statements[kind];
  const { shape } = statement;
  const parts: Record<string, Row[]> = Object.fromEntries(shape.parts.map(({ name }) => [name, []]));
  const places = shape.parts.map(({ name }) => name);
  const columns = new Map(shape.parts.map((part) => [part.name, new Set(part.columns.map(({ name }) => name))]));
  let last = 0;
  for await (const { part, row } of statement.rows(ledger, request)) {
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
