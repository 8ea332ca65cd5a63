import { expect } from "vitest";
import { statements, type StatementKind } from "../../../../src/inquiry/statement/statement.ts";
import type { Cell, Row } from "../../../../src/report/statement/shape.ts";

/** A row as a test computed it: a cell for every column of the part. */
export type Computed = Readonly<Record<string, Cell | undefined>>;

/**
 * Compares every cell of a part of a statement with what a test computed, whatever the order of the rows. `apart`: the
 * columns that are not computed a second way, each with the reason. A column that is neither computed nor named there
 * fails, so that a new one is not passed by.
 */
export function expectWhole(
  of: { kind: StatementKind; part: string; what: string },
  {
    rows = [],
    computed,
    apart = {},
  }: { rows: readonly Row[] | undefined; computed: readonly Computed[]; apart?: object },
): void {
  const shape = statements[of.kind].shape.parts.find(({ name }) => name === of.part);
  const columns = (shape?.columns ?? []).map(({ name }) => name);
  const compared = columns.filter((name) => !Object.hasOwn(apart, name));
  const about = `${of.what}: ${of.kind}, ${of.part}`;
  expect(Object.keys(apart), `${about}: columns left out`).toEqual(columns.filter((name) => !compared.includes(name)));
  for (const row of computed) expect(Object.keys(row).toSorted(), `${about}: columns`).toEqual(compared.toSorted());
  const shown = (all: readonly Computed[]): string[] =>
    all.map((row) => JSON.stringify(Object.fromEntries(compared.map((name) => [name, plain(row[name])])))).toSorted();
  expect.soft(shown(rows).map(parsed), about).toEqual(shown(computed).map(parsed));
}

const parsed = (text: string): unknown => JSON.parse(text);

/** Whole numbers are the same whether they are held as numbers or as bigints; what is left out is empty. */
function plain(cell: Cell | undefined): unknown {
  return typeof cell === "bigint" || typeof cell === "number" ? `${cell}n` : (cell ?? null);
}
