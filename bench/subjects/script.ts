import { randomBytes } from "node:crypto";
import { join } from "node:path";
import Database from "better-sqlite3";
import pLimit from "p-limit";
import { fetch } from "undici";
import { subjectArguments } from "./arguments.ts";
import {
  type CreateAnswer,
  type CustomerRow,
  type LookUpAnswer,
  createBody,
  createPath,
  customerRows,
  lookUpPath,
  requestHeaders,
} from "./row.ts";
import { stopwatch } from "./worked.ts";

/**
 * What one would write in an afternoon: p-limit and fetch, the same calls as the floor, one commit for each customer at
 * SQLite's usual durability. It promises nothing after a crash.
 */

const worked = stopwatch();
const { baseUrl, csv, directory, lanes } = subjectArguments();
const database = new Database(join(directory, "script.db"));
database.pragma("journal_mode = wal");
database.exec(
  "create table customer (id text primary key, enterprise text not null, platform_customers text not null)",
);
const insert = database.prepare("insert into customer (id, enterprise, platform_customers) values (?, ?, ?)");
const limit = pLimit(lanes);

async function lookUp(id: string): Promise<LookUpAnswer> {
  const answer = await fetch(`${baseUrl}${lookUpPath(randomBytes(16).toString("hex"), id)}`, {
    headers: requestHeaders,
  });
  return (await answer.json()) as LookUpAnswer;
}

async function synchronise(row: CustomerRow): Promise<void> {
  let found = await lookUp(row.number);
  if (found.data === null || found.data.length === 0) {
    const answer = await fetch(`${baseUrl}${createPath(randomBytes(16).toString("hex"))}`, {
      method: "POST",
      headers: requestHeaders,
      body: createBody(row),
    });
    const made = (await answer.json()) as CreateAnswer;
    if (made.code !== 0) throw new Error(`E2 answered ${made.code}`);
    found = await lookUp(row.number);
  }
  const first = found.data?.[0];
  if (first === undefined) throw new Error(`${row.number} was not created`);
  insert.run(row.number, first.enterpriseGlobalId, JSON.stringify(found.data));
}

const work: Promise<void>[] = [];
for await (const row of customerRows(csv)) work.push(limit(() => synchronise(row)));
await Promise.all(work);
database.close();
process.stdout.write(`${JSON.stringify({ records: work.length, worked: worked() })}\n`);
