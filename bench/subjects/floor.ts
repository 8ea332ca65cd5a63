import { randomBytes } from "node:crypto";
import { join } from "node:path";
import Database from "better-sqlite3";
import { Pool } from "undici";
import { subjectArguments } from "./arguments.ts";
import {
  type CreateAnswer,
  type LookUpAnswer,
  createBody,
  createPath,
  customerRows,
  lookUpPath,
  requestHeaders,
} from "./row.ts";
import { stopwatch } from "./worked.ts";

/**
 * The floor: the same calls for each customer as a first run makes (E3, E2, E3) on bare undici lanes, its results
 * written to SQLite in batches. No journal, no checks, no audit; after a crash nothing is known. Nothing that does the
 * work can be much faster.
 */

const worked = stopwatch();
const { baseUrl, csv, directory, lanes } = subjectArguments();
const database = new Database(join(directory, "floor.db"));
database.pragma("journal_mode = wal");
database.exec(
  "create table customer (id text primary key, enterprise text not null, platform_customers text not null)",
);
const insert = database.prepare("insert into customer (id, enterprise, platform_customers) values (?, ?, ?)");
const write = database.transaction((rows: [string, string, string][]) => {
  for (const row of rows) insert.run(...row);
});
const pool = new Pool(baseUrl, { connections: lanes, pipelining: 1 });
const rows = customerRows(csv)[Symbol.asyncIterator]();
const batchSize = 500;
let batch: [string, string, string][] = [];
let records = 0;

async function lookUp(id: string): Promise<LookUpAnswer> {
  const path = lookUpPath(randomBytes(16).toString("hex"), id);
  const { body } = await pool.request({ method: "GET", path, headers: requestHeaders });
  return (await body.json()) as LookUpAnswer;
}

async function lane(): Promise<void> {
  for (;;) {
    const next = await rows.next();
    if (next.done === true) return;
    const row = next.value;
    let found = await lookUp(row.number);
    if (found.data === null || found.data.length === 0) {
      const { body } = await pool.request({
        method: "POST",
        path: createPath(randomBytes(16).toString("hex")),
        headers: requestHeaders,
        body: createBody(row),
      });
      const made = (await body.json()) as CreateAnswer;
      if (made.code !== 0) throw new Error(`E2 answered ${made.code}`);
      found = await lookUp(row.number);
    }
    const first = found.data?.[0];
    if (first === undefined) throw new Error(`${row.number} was not created`);
    batch.push([row.number, first.enterpriseGlobalId, JSON.stringify(found.data)]);
    records += 1;
    if (batch.length < batchSize) continue;
    const full = batch;
    batch = [];
    write(full);
  }
}

await Promise.all(Array.from({ length: lanes }, lane));
write(batch);
database.close();
await pool.close();
process.stdout.write(`${JSON.stringify({ records, worked: worked() })}\n`);
