import type { RecordKey, Stream } from "../../crm/model.ts";
import type { RecordState } from "../../engine/model/desired.ts";
import type { RecordReference } from "../../engine/model/resource.ts";
import { waitsForNextRun } from "../../engine/plan/owner.ts";
import { isSuspectRow } from "./staged-records.ts";
import type { RecordOutcome } from "../../engine/plan/blocks.ts";
import type { Sqlite } from "../database/database.ts";
import { column, prepared, sql } from "../database/statements.ts";
import type { Row } from "../tables.ts";

/** Prefix of codes for customers that wait for a request of a person. */
export const requestCodes = "request.";

interface RecordOwner {
  customer: RecordKey;
  state: RecordState;
  isDone: boolean;
}

export type LookedAt =
  | "all"
  | { customer: RecordKey }
  | { order: RecordKey }
  | { record: RecordReference }
  | { source: string; since?: string };

/**
 * Triggers of the schema mark changed records, records that wait for a changed customer, and the customer that a record
 * left. Everything else is marked here only. Writes run inside the writer's transaction.
 */
export class WorkTables {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = prepared(database, texts);
  }

  /** Customers with work, in key order: pending records, unknown outcomes, planned operations or open requests. */
  pendingCustomers(after: RecordKey | undefined, limit: number): RecordKey[] {
    return this.#statements.pendingCustomers
      .all({ namespace: after?.namespace ?? "", id: after?.id ?? "", limit })
      .map((row) => ({ namespace: row.customer_namespace, id: row.customer_id }));
  }

  unlinkedCustomers(after: RecordKey | undefined, limit: number): RecordKey[] {
    return this.#statements.unlinkedCustomers
      .all({ namespace: after?.namespace ?? "", id: after?.id ?? "", limit })
      .map((row) => ({ namespace: row.customer_namespace, id: row.customer_id }));
  }

  pendingCount(): number {
    return this.#statements.pendingCount.get()?.count ?? 0;
  }

  markPending(what: LookedAt): number {
    const run = this.#statements;
    if (what === "all") return run.pendingAll.run().changes;
    if ("customer" in what) return run.pendingCustomer.run(what.customer.namespace, what.customer.id).changes;
    if ("source" in what) return run.pendingSource.run(what.source, what.since ?? "").changes;
    const { stream, namespace, id } = "record" in what ? what.record : { stream: "orders", ...what.order };
    return run.pendingRecord.run(stream, namespace, id).changes;
  }

  isDecidedBy(rules: string): boolean {
    return this.#statements.decidedBy.get() === rules;
  }

  /**
   * Marks everything that waits, and customers that orders left. Quarantined rows are mapped again at the next read,
   * except suspects: no setting answers their question.
   */
  decideBy(rules: string): number {
    this.#statements.decideBy.run(rules);
    this.#statements.retryQuarantined.run();
    return this.#statements.pendingWaiting.run().changes + this.#statements.pendingLeft.run().changes;
  }

  awaitsWholeRead(source: string, stream: Stream): boolean {
    return this.#statements.awaitsWholeRead.get(source, stream) !== undefined;
  }

  recordOutcomes(runId: string, outcomes: readonly RecordOutcome[], at: string): void {
    const run = this.#statements;
    for (const item of outcomes) {
      if (item.outcome === "planned") {
        run.planned.run(runId, item.stream, item.key.namespace, item.key.id);
      } else {
        run.waits.run({
          run: runId,
          outcome: item.outcome,
          pending: item.outcome === "deferred" && item.again === true ? 1 : 0,
          at,
          code: item.code ?? item.outcome,
          reason: item.reason ?? "",
          keeps: item.code !== undefined && waitsForNextRun(item.code) ? 1 : 0,
          stream: item.stream,
          namespace: item.key.namespace,
          id: item.key.id,
        });
      }
    }
  }

  /** Records why these records would wait, or no longer wait. Makes no decision: they stay pending. */
  noteDeferrals(outcomes: readonly Omit<RecordOutcome, "again">[], at: string): void {
    const run = this.#statements;
    for (const { key, stream, outcome, code = "deferred", reason = "" } of outcomes)
      if (outcome === "planned") run.noteGoing.run(stream, key.namespace, key.id);
      else run.noteDeferral.run({ at, code, reason, stream, namespace: key.namespace, id: key.id });
  }

  waitsAnything(customer: RecordKey): boolean {
    return this.#statements.waitsAnything.get(customer.namespace, customer.id) !== undefined;
  }

  deferPending(
    run: string,
    customer: RecordKey | undefined,
    why: { code: string; reason: string; at: string },
  ): number {
    const wait = { run, ...why, keeps: waitsForNextRun(why.code) ? 1 : 0 };
    if (customer === undefined) return this.#statements.deferChanged.run(wait).changes;
    const { namespace, id } = customer;
    return this.#statements.deferOf.run({ ...wait, namespace, id }).changes;
  }

  /** Ends the waiting of a customer's own record, if its code has this prefix. */
  endDeferral(customer: RecordKey, prefix: string): void {
    this.#statements.endDeferral.run(customer.namespace, customer.id, prefix, prefix);
  }

  /** Whether a customer's own record waits or was rejected for a code with another prefix. */
  waitsOtherwise(customer: RecordKey, prefix: string): boolean {
    return this.#statements.waitsOtherwise.get(customer.namespace, customer.id, prefix, prefix) !== undefined;
  }

  /** Marks a customer's own record if it waits or was rejected, or if a held operation may be unwanted now. */
  lookAgain(customer: RecordKey): void {
    this.#statements.lookAgain.run({ namespace: customer.namespace, id: customer.id });
  }

  customerOfOrder(order: RecordKey): RecordKey | undefined {
    const row = this.#statements.customerOfOrder.get(order.namespace, order.id);
    return row === undefined ? undefined : { namespace: row.customer_namespace, id: row.customer_id };
  }

  /** `isDone`: nothing is left to do or to report. Undefined if no source sent the record. */
  ownerOf(stream: Stream, { namespace, id }: RecordKey): RecordOwner | undefined {
    const row = this.#statements.ownerOf.get(stream, namespace, id);
    if (row === undefined) return undefined;
    const customer = { namespace: row.customer_namespace, id: row.customer_id };
    return { customer, state: row.state, isDone: row.is_done === 1 };
  }
}

// The first condition of each operation is the one of its partial index.
const pendingIn: readonly (readonly [from: string, where: string])[] = [
  ["record", "pending = 1 and state <> 'quarantined'"],
  ["operation", "state in ('sending', 'unknown', 'parked') and state <> 'parked' and customer_id <> ''"],
  ["operation", "state in ('planned', 'held') and state = 'planned' and customer_id <> ''"],
  ["manual_request", "to_at is null and due = 1"],
];

/** Counts each customer once. Each part uses its index; a union would need memory for all customers. */
function countOfPending(): string {
  const parts = pendingIn.map(([from, where], place) => {
    const earlier = pendingIn.slice(0, place).map(
      ([table, found]) => `and not exists (select 1 from ${table} where ${found}
        and customer_namespace = customer.customer_namespace and customer_id = customer.customer_id)`,
    );
    return `(select count(*) from (select distinct customer_namespace, customer_id from ${from} where ${where}) customer
      where true ${earlier.join(" ")})`;
  });
  return parts.join(" + ");
}

/** A new code starts a new wait. A record that the run only did not reach keeps its reason and start of waiting. */
const waiting = `deferred_since = case when deferred_since is not null and (deferred_code = @code or @keeps)
    then deferred_since else @at end,
  deferred_code = case when @keeps then coalesce(deferred_code, @code) else @code end,
  deferred_reason = case when @keeps and deferred_code is not null then deferred_reason else @reason end`;

const texts = {
  // Each part stops at the limit, in the order of its index.
  pendingCustomers: sql<
    [{ namespace: string; id: string; limit: number }],
    Row<"record", "customer_namespace" | "customer_id">
  >`
    select * from (
        select distinct customer_namespace, customer_id from record
        where pending = 1 and state <> 'quarantined' and (customer_namespace, customer_id) > (@namespace, @id)
        order by customer_namespace, customer_id limit @limit)
      union
      select * from (
        select distinct customer_namespace, customer_id from operation
        where state in ('sending', 'unknown', 'parked') and state <> 'parked' and customer_id <> ''
          and (customer_namespace, customer_id) > (@namespace, @id)
        order by customer_namespace, customer_id limit @limit)
      union
      select * from (
        select distinct customer_namespace, customer_id from operation
        where state in ('planned', 'held') and state = 'planned' and customer_id <> ''
          and (customer_namespace, customer_id) > (@namespace, @id)
        order by customer_namespace, customer_id limit @limit)
      union
      select * from (
        select distinct customer_namespace, customer_id from manual_request indexed by manual_request_due
        where to_at is null and due = 1 and (customer_namespace, customer_id) > (@namespace, @id)
        order by customer_namespace, customer_id limit @limit)
      order by 1, 2 limit @limit`,
  unlinkedCustomers: sql<
    [{ namespace: string; id: string; limit: number }],
    Row<"record", "customer_namespace" | "customer_id">
  >`
    select distinct customer_namespace, customer_id from record
      where pending = 1 and state <> 'quarantined' and (customer_namespace, customer_id) > (@namespace, @id)
        and not exists (select 1 from link where link.namespace = record.customer_namespace
          and link.customer_id = record.customer_id and link.to_at is null)
      order by customer_namespace, customer_id limit @limit`,
  pendingCount: sql<[], { count: number }>`select ${countOfPending()} as count`,
  pendingCustomer: sql`update record set pending = 1 where customer_namespace = +? and customer_id = +?
    and state <> 'quarantined'`,
  pendingRecord: sql`update record set pending = 1 where stream = +? and namespace = +? and id = +?
    and state <> 'quarantined'`,
  pendingAll: sql`update record set pending = 1 where pending = 0 and state <> 'quarantined'`,
  pendingSource: sql`update record set pending = 1 where source = +? and changed_at >= ? and state <> 'quarantined'`,
  pendingWaiting: sql`update record indexed by record_deferred set pending = 1
    where deferred_code is not null and pending = 0 and state <> 'quarantined'`,
  pendingLeft: sql`update record set pending = 1 where stream = 'customers' and pending = 0 and state <> 'quarantined'
    and (namespace, id) in (select customer_namespace, customer_id from moved_order indexed by moved_order_from
      where ended_at is null)`,
  decidedBy: column<[], string>`select value from meta where key = 'decided by'`,
  decideBy: sql`insert into meta (key, value) values ('decided by', ?) on conflict (key) do update
    set value = excluded.value`,
  retryQuarantined: sql`update quarantine indexed by quarantine_open set state = 'retry' where state <> 'resolved'
    and state = 'open' and not ${isSuspectRow}`,
  // Rows of stored forms need no read: they are mapped again from the ledger.
  awaitsWholeRead: sql<[string, string], Row<"quarantine", "id">>`
    select id from quarantine where source = +? and stream = +? and state <> 'resolved'
      and (state = 'retry' and of_stored_form = 0 or code in ('parts-unclear', 'twin-unclear')) limit 1`,
  planned: sql`update record set outcome_run = ?, outcome = 'planned', pending = 0, deferred_code = null,
      deferred_reason = null, deferred_since = null
    where stream = +? and namespace = +? and id = +?`,
  waits: sql`update record set outcome_run = @run, outcome = @outcome, pending = @pending,
      ${waiting}
    where stream = +@stream and namespace = +@namespace and id = +@id`,
  noteDeferral: sql`update record set
      deferred_since = case when deferred_since is not null and deferred_code = @code then deferred_since
        else @at end,
      deferred_code = @code, deferred_reason = @reason
    where stream = +@stream and namespace = +@namespace and id = +@id and state <> 'quarantined'`,
  noteGoing: sql`update record set deferred_code = null, deferred_reason = null, deferred_since = null
    where stream = +? and namespace = +? and id = +? and pending = 1 and deferred_code is not null`,
  waitsAnything: sql`select 1 from record where customer_namespace = +? and customer_id = +? and pending = 1
    and deferred_code is not null limit 1`,
  deferChanged: sql`update record set outcome_run = @run, outcome = 'deferred', ${waiting}
    where changed_run = +@run and pending = 1 and state <> 'quarantined' and outcome_run is not @run`,
  deferOf: sql`update record set outcome_run = @run, outcome = 'deferred', ${waiting}
    where customer_namespace = +@namespace and customer_id = +@id and pending = 1 and state <> 'quarantined'`,
  endDeferral: sql`update record set outcome = 'planned', deferred_code = null, deferred_reason = null,
    deferred_since = null
    where stream = 'customers' and namespace = +? and id = +? and substr(deferred_code, 1, length(?)) = ?`,
  waitsOtherwise: sql`select 1 from record
    where stream = 'customers' and namespace = +? and id = +? and substr(deferred_code, 1, length(?)) <> ?`,
  lookAgain: sql`update record set pending = 1
    where stream = 'customers' and namespace = +@namespace and id = +@id and state <> 'quarantined'
      and (deferred_code is not null or exists (select 1 from operation where state in ('planned', 'held')
        and state = 'held' and customer_namespace = +@namespace and customer_id = +@id))`,
  ownerOf: sql<
    [string, string, string],
    Row<"record", "customer_namespace" | "customer_id"> & { state: RecordState; is_done: number }
  >`
    select customer_namespace, customer_id, state,
        pending = 0 and deferred_code is null and coalesce(outcome, '') <> 'rejected' as is_done from record
      where stream = +? and namespace = +? and id = +?`,
  customerOfOrder: sql<[string, string], Row<"record", "customer_namespace" | "customer_id">>`
    select customer_namespace, customer_id from record where stream = 'orders' and namespace = +?
      and id = +?`,
};
