import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { onTestFinished } from "vitest";
import type { JsonObject } from "../../src/base/canonical-json.ts";
import { sha256 } from "../../src/base/canonical-json.ts";
import type { Clock } from "../../src/base/clock.ts";
import { createIds } from "../../src/base/ids.ts";
import type { Randomness } from "../../src/base/ids.ts";
import type { RecordKey } from "../../src/crm/model.ts";
import type { Conclusion } from "../../src/ledger/journal/journal.ts";
import { Ledger } from "../../src/ledger/ledger.ts";
import type { LedgerOptions } from "../../src/ledger/ledger.ts";
import { operation } from "../../src/operation/new-operation.ts";
import type { Operation } from "../../src/operation/operation.ts";
import type { ShapeMap } from "../../src/operation/registry.ts";
import type { Meant } from "../../src/operation/shape.ts";
import { putNewLedger } from "../support/new-ledger.ts";

export const sealSecret = "a sealing key of some length";

/** A folder that is gone after the test. */
export function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "ledger-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

let drawn = 0;

/** Time that a test moves, and randomness that repeats from one execution of a test file to the next. */
export class HandTime implements Clock {
  at = Date.UTC(2026, 9, 1, 8);
  now = (): number => this.at;
  monotonic = (): number => this.at;
  sleep = async (ms: number): Promise<void> => {
    this.at += ms;
  };
  random: Randomness = {
    hex: (length) => {
      drawn += 1;
      return sha256(`random ${drawn}`)
        .repeat(4)
        .slice(0, length * 2);
    },
    fraction: () => 0.5,
  };
}

/** A ledger in a folder of its own. `isNew`: one that this process makes, with a salt of its own. */
export async function openLedger(
  options: Partial<LedgerOptions> & { time?: HandTime; isNew?: true } = {},
): Promise<{ ledger: Ledger; path: string; time: HandTime }> {
  const time = options.time ?? new HandTime();
  const path = options.path ?? join(folder(), "ledger.db");
  if (options.path === undefined && options.isNew !== true) putNewLedger(path);
  const ledger = await Ledger.open({
    clock: time,
    ids: createIds(() => time.now(), time.random),
    random: time.random,
    sealSecret,
    ...options,
    path,
  });
  onTestFinished(() => ledger.close());
  return { ledger, path, time };
}

/** Another look at the file, past the ledger. */
export function sqlite(path: string, options: Database.Options = {}): Database.Database {
  const database = new Database(path, options);
  onTestFinished(() => {
    database.close();
  });
  return database;
}

export function count(path: string, table: string): number {
  const database = new Database(path, { readonly: true });
  try {
    return Number(database.prepare(`select count(*) from ${table}`).pluck().get());
  } finally {
    database.close();
  }
}

export function key(id: string, namespace = "crm"): RecordKey {
  return { namespace, id };
}

/** An E4 for a customer: an operation that needs nothing else. */
export function update(
  customer: string,
  fields: Partial<Meant<ShapeMap["update-enterprise"]>> = {},
): Operation<"update-enterprise"> {
  return operation("update-enterprise", {
    customer: key(customer),
    subject: `customer:crm/${customer}`,
    records: [{ stream: "customers", ...key(customer) }],
    target: {},
    payload: { crmCustomerId: customer, branchName: "Branch" },
    reason: "changed in the CRM: branch",
    before: null,
    after: { name: "n", branchName: "Branch", address: null },
    ...fields,
  });
}

export async function intend(ledger: Ledger, planned: Operation, context: JsonObject = {}): Promise<string> {
  const hash = sha256(planned.hash);
  return await ledger.journal.intend({
    operation: planned,
    runId: null,
    wireHash: hash,
    nonce: hash.slice(0, 32),
    context,
  });
}

export const doneWith = (changes: Conclusion["changes"] = []) => ({
  state: "done" as const,
  attempt: { outcome: "done" as const, httpStatus: 200 },
  changes,
  audit: { kind: "update-enterprise", body: { note: "done" } },
});

/** The Problem that something throws. */
export async function problemOf(
  work: () => unknown,
): Promise<{ code: string; exitCode: number; message: string; cure: string }> {
  try {
    await work();
  } catch (error) {
    if (error instanceof Error && "code" in error && "cure" in error && "exitCode" in error) {
      return {
        code: String(error.code),
        exitCode: Number(error.exitCode),
        message: error.message,
        cure: String(error.cure),
      };
    }
    throw error;
  }
  throw new Error("nothing was thrown");
}
