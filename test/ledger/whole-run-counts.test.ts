import { describe, expect, it } from "vitest";
import type { OperationState } from "../../src/ledger/journal/tables.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { key } from "../support/world/records.ts";
import { openLedger, sqlite } from "../support/world/start.ts";

interface Rows {
  ledger: Ledger;
  record: (stream: string, id: string, fields?: Record<string, string | number | null>) => void;
  operation: (
    id: string,
    fields: { run: string | null; state?: OperationState; customer?: string; at?: string },
  ) => void;
  attempt: (operation: string, at: string, outcome: string | null) => void;
  run: (id: string, at: string) => void;
}

/** A ledger whose rows are written by hand. */
async function openRows(): Promise<Rows> {
  const { ledger, path } = await openLedger();
  const database = sqlite(path);
  const insert = (table: string, row: Record<string, string | number | null>): void => {
    const names = Object.keys(row);
    const marks = names.map((name) => `@${name}`).join(", ");
    database.prepare(`insert into ${table} (${names.join(", ")}) values (${marks})`).run(row);
  };
  return {
    ledger,
    record: (stream, id, fields = {}) =>
      insert("record", {
        stream,
        namespace: "crm",
        id,
        source: "crm",
        raw_hash: "r",
        body_hash: "b",
        version: 1,
        last_read: 1,
        customer_namespace: "crm",
        customer_id: id,
        state: "current",
        first_seen: "t",
        changed_at: "t",
        ...fields,
      }),
    operation: (id, { run, state = "done", customer = "C1", at = "2026-01-02" }) =>
      insert("operation", {
        id,
        run_id: run,
        customer_namespace: "crm",
        customer_id: customer,
        kind: "update-enterprise",
        endpoint: "E4",
        stage: "enterprise",
        subject: id,
        hash: id,
        state,
        target: "{}",
        payload: "{}",
        context: "{}",
        reason: "r",
        before: "null",
        after: "null",
        created_at: at,
        updated_at: at,
      }),
    attempt: (operation, at, outcome) =>
      insert("attempt", {
        operation_id: operation,
        number: 1,
        nonce: operation,
        wire_hash: "w",
        started_at: at,
        outcome,
      }),
    run: (id, at) =>
      insert("run", { id, job: "j", kind: "sync", trigger: "manual", started_at: at, state: "running", header: "{}" }),
  };
}

describe("customers with something to do", () => {
  it("are counted once each, wherever they are found", async () => {
    const { ledger, record, operation } = await openRows();
    record("customers", "C1", { pending: 1 });
    record("orders", "O1", { pending: 1, customer_id: "C1" });
    record("customers", "C2", { pending: 1 });
    record("customers", "C3");
    record("customers", "C4", { pending: 1, state: "quarantined" });
    operation("o1", { run: "r", state: "unknown", customer: "C1" });
    operation("o2", { run: "r", state: "planned", customer: "C1" });
    operation("o3", { run: "r", state: "sending", customer: "C5" });
    operation("o4", { run: "r", state: "planned", customer: "C5" });
    operation("o5", { run: "r", state: "planned", customer: "C6" });
    operation("o6", { run: "r", state: "parked", customer: "C7" });
    operation("o7", { run: "r", state: "held", customer: "C8" });
    operation("o8", { run: "r", state: "sending", customer: "" });
    const named = ["C1", "C2", "C5", "C6"].map((id) => key(id));
    expect(await ledger.records.pendingCustomers(undefined, 10)).toEqual(named);
    expect(await ledger.records.pendingCount()).toBe(named.length);
  });
});

describe("what a whole run did", () => {
  it("counts its operations and those that were carried in, each once", async () => {
    const { ledger, operation } = await openRows();
    operation("o1", { run: "r" });
    operation("o2", { run: "r" });
    operation("o3", { run: "r", state: "held" });
    operation("o4", { run: "earlier" });
    operation("o5", { run: null, state: "parked" });
    operation("o6", { run: "earlier", state: "unknown" });
    expect(await ledger.journal.statesOf("r", ["o2", "o4", "o5"])).toEqual({ done: 3, held: 1, parked: 1 });
    expect((await ledger.runs.countsOf("r")).operations).toEqual({ done: 2, held: 1 });
    expect(await ledger.journal.statesOf("none", [])).toEqual({});
  });

  it("counts the writing calls that left since it began: its own, and those of the pool", async () => {
    const { ledger, operation, attempt, run } = await openRows();
    run("r", "2026-01-02");
    operation("own", { run: "r" });
    attempt("own", "2026-01-03", "done");
    operation("unanswered", { run: "r" });
    attempt("unanswered", "2026-01-03", null);
    operation("not sent", { run: "r" });
    attempt("not sent", "2026-01-03", "not-sent");
    operation("before", { run: "r" });
    attempt("before", "2026-01-01", "done");
    operation("of another", { run: "other" });
    attempt("of another", "2026-01-03", "done");
    operation("pool", { run: null, customer: "", at: "2026-01-03" });
    attempt("pool", "2026-01-03", "done");
    operation("own of the pool", { run: "r", customer: "", at: "2026-01-03" });
    attempt("own of the pool", "2026-01-03", "done");
    operation("earlier pool", { run: null, customer: "", at: "2026-01-01" });
    attempt("earlier pool", "2026-01-03", "done");
    expect(await ledger.journal.writingCallsOf("r")).toBe(4);
  });

  it("counts its records by stream: what came of them, and what nothing came of", async () => {
    const { ledger, record } = await openRows();
    record("orders", "O1", { changed_run: "r", outcome_run: "r", outcome: "planned" });
    record("orders", "O2", { changed_run: "r", outcome_run: "r", outcome: "deferred" });
    record("orders", "O3", { changed_run: "earlier", outcome_run: "r", outcome: "rejected" });
    record("orders", "O4", { changed_run: "r", state: "quarantined" });
    record("orders", "O5", { changed_run: "r", outcome_run: "earlier", outcome: "planned" });
    record("orders", "O6", { changed_run: "earlier", outcome_run: "earlier", outcome: "planned" });
    record("staff", "S1", { changed_run: "r", outcome_run: "r", outcome: "planned" });
    record("customers", "C1", { changed_run: "earlier", outcome_run: "earlier", outcome: "planned" });
    const orders = { workedOn: 1, deferred: 1, rejected: 1, quarantinedLate: 1, takenUpAgain: 1, changed: 4, lost: 1 };
    const staff = { workedOn: 1, deferred: 0, rejected: 0, quarantinedLate: 0, takenUpAgain: 0, changed: 1, lost: 0 };
    expect((await ledger.runs.countsOf("r")).records).toEqual([
      { stream: "orders", ...orders },
      { stream: "staff", ...staff },
    ]);
  });
});
