import { parseArgs } from "node:util";
import { type Sqlite, openDatabase } from "../../src/ledger/database/database.ts";
import { systemRandomness } from "../../src/base/ids.ts";
import { AuditLog } from "../../src/ledger/audit/audit-log.ts";
import { text } from "./arguments.ts";
import { type Row, historyRows, pastCustomer } from "./past-customer.ts";

/**
 * Makes a ledger at `--path` with at least `--rows` rows of history: customers that the CRM has no more, with ended
 * operations, attempts, audit entries and versions, and everything else that they leave. Into the real tables, the
 * audit chain by the program's own code, in large transactions.
 */

const runs = 2_000;
const customersAtOnce = 500;

const { values } = parseArgs({ options: { path: { type: "string" }, rows: { type: "string" } } });
const customers = Math.ceil(Number(text(values.rows, "rows")) / historyRows);
/** In no month that a report is asked for, and not so long ago that retention would thin it. */
const at = new Date(Date.now() - 100 * 86_400_000).toISOString();

const database = openDatabase(text(values.path, "path"));
database.pragma("synchronous = off");
database.pragma("cache_size = -200000");
const put = inserter(database);
const audit = new AuditLog(database, systemRandomness);
database.transaction(addRuns)();
const addCustomers = database.transaction((from: number, to: number) => {
  for (let number = from; number <= to; number += 1) {
    const { rows, entries } = pastCustomer(number, at, runOf(number));
    for (const [table, row] of rows) put(table, row);
    for (const entry of entries) audit.append({ at, ...entry });
  }
  audit.grow();
});
for (let from = 1; from <= customers; from += customersAtOnce) {
  const to = Math.min(customers, from + customersAtOnce - 1);
  addCustomers(from, to);
  if (to % (40 * customersAtOnce) === 0) process.stderr.write(`history: ${to} of ${customers} customers\n`);
}
// No ANALYZE and no optimize: the program's own ledgers have no statistics, and those of a ledger in which nothing is
// live yet lead SQLite's planner astray.
database.pragma("wal_checkpoint(truncate)");
database.close();
process.stdout.write(`${JSON.stringify({ rows: customers * historyRows })}\n`);

function runOf(number: number): string {
  return `run_past${String(number % runs).padStart(6, "0")}`;
}

function addRuns(): void {
  const ended = { started_at: at, finished_at: at };
  for (let number = 0; number < runs; number += 1) {
    const id = runOf(number);
    const json = { balance: "null", summary: "null", header: "{}" };
    const job = `job-${number % 3}`;
    put("run", {
      id,
      job,
      kind: "sync",
      trigger: "schedule",
      scope: null,
      ...ended,
      state: "done",
      exit_code: 0,
      ...json,
    });
    for (const stream of ["customers", "orders"])
      put("source_read", { run_id: id, source: "past", stream, ...ended, complete: 1, whole: 1, rows: 1_000 });
  }
}

/** Puts rows into tables; each statement is prepared once. */
function inserter(into: Sqlite): (table: string, row: Row) => void {
  const prepared = new Map<string, { run: (row: Row) => unknown }>();
  return (table, row) => {
    let statement = prepared.get(table);
    if (statement === undefined) {
      const columns = Object.keys(row);
      statement = into.prepare<[Row]>(
        `insert into ${table} (${columns.join(", ")}) values (${columns.map((name) => `@${name}`).join(", ")})`,
      );
      prepared.set(table, statement);
    }
    statement.run(row);
  };
}
