import { expect } from "vitest";
import type { Cell } from "../../src/report/statement/shape.ts";
import { document, type Parsed, type World } from "./cli.ts";

/** A row of a statement as its JSON has it: money as decimals, instants in the configured zone. */
export type StatedRow = Readonly<Record<string, Cell>>;

/** The rows of one part of a statement of this month, as `crm-sync report` prints them. */
export async function statementRows(w: World, kind: string, part: string): Promise<StatedRow[]> {
  return (await statementPart(w, kind, part)).rows;
}

/** One part of a statement of this month, as `crm-sync report` prints it. */
export async function statementPart(
  w: World,
  kind: string,
  part: string,
): Promise<{ rows: StatedRow[]; totals: Parsed }> {
  const month = new Date(w.clock.now()).toISOString().slice(0, 7);
  const ended = await w.run("report", kind, "--period", month, "--format", "json");
  expect(ended.exitCode, ended.stderr).toBe(0);
  const { parts } = document(ended);
  expect(Object.keys(parts)).toContain(part);
  return parts[part];
}
