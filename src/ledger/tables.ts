import { decisionTables } from "./decisions/tables.ts";
import { auditTables } from "./audit/tables.ts";
import { bookTables } from "./books/tables.ts";
import { handedIn } from "../engine/model/registry.ts";
import type { ResourceTables } from "../engine/model/resource.ts";
import { table, type Full, type RowsOf } from "./database/statements.ts";
import { journalTables } from "./journal/tables.ts";
import { privateTables } from "./private/private-tables.ts";
import { recordTables } from "./records/tables.ts";
import { runTables } from "./runs/run-tables.ts";
import { scheduleTables } from "./schedule/tables.ts";
import { stateTables } from "./state/registry.ts";

const tables = {
  meta: table<{ key: string; value: string }>(),
  ...privateTables,
  ...recordTables,
  ...stateTables,
  ...journalTables,
  ...decisionTables,
  ...runTables,
  ...scheduleTables,
  ...auditTables,
  ...bookTables,
  /** Number of live rows for each table. */
  tally: table<{ name: string; count: number }>(),
};

/** The tables as read: instants are ISO text in UTC, flags are 0 or 1, bodies are JSON text. */
export interface LedgerTables extends RowsOf<typeof tables>, ResourceTables {}

/** A statement that names every table. Preparing it fails if a table is missing; it is never run. */
export function everyTable(): string {
  const names = [...Object.keys(tables), ...handedIn().resources.flatMap(({ state }) => state?.tables ?? [])];
  return names.map((name) => `select 1 from ${name}`).join(" union all ");
}

export type Row<Table extends keyof LedgerTables, Column extends keyof LedgerTables[Table]> = Pick<
  LedgerTables[Table],
  Column
>;

export type FullRow<Table extends keyof LedgerTables, Column extends keyof LedgerTables[Table]> = Full<
  LedgerTables[Table],
  Column
>;
