import { sql } from "kysely";
import type { Json } from "../base/canonical-json.ts";
import type { RecordKey, Stream } from "../crm/model.ts";
import { isApproved } from "../ledger/approvals/approved-operations.ts";
import { waitsForWord } from "../ledger/approvals/holds.ts";
import { shownMark } from "../ledger/approvals/shown-mark.ts";
import { stored, storedOrNull } from "../ledger/database/stored.ts";
import { noWeight } from "../operation/taking.ts";
import type { Weight } from "../operation/taking.ts";
import { kindIn } from "../operation/registry.ts";
import type { HoldFacts } from "../report/facts.ts";
import { holds } from "./holds.ts";
import { spelled } from "./read-only-ledger.ts";
import type { ReadOnlyLedger } from "./read-only-ledger.ts";

/** What waits for its turn or for a person's word, with how it differs from what stands. */
export interface WaitingOperation {
  id: string;
  /** Where a page that begins after it goes on. */
  place: number;
  kind: string;
  customer: RecordKey;
  subject: string;
  state: "planned" | "held";
  run: string | null;
  hold: string | null;
  reason: string;
  /** Why it is held itself; null where it waits for what else is held, or is not held. */
  heldFor: string | null;
  /** A person approved it by itself. */
  approved: boolean;
  before: Json;
  after: Json;
  records: { stream: Stream; key: RecordKey }[];
}

/** What is taken away together, in units of the business. `more`: it is the sum of the first of them alone. */
export interface HeldSums extends Weight {
  operations: number;
  more: boolean;
}

/** What one run held because of a sum, so that all of it may be approved at once. */
export interface HeldByRun {
  run: string;
  operations: number;
  customers: number;
  /** Stands for exactly these operations; undefined where so much is held that not all of it was looked at. */
  mark: string | undefined;
}

const mostSummed = 10_000;
const standing = ["open", "approved"] as const;
const waiting = ["planned", "held"] as const;

const ownHold = sql<string | null>`operation.hold_id`;
const approvedAlone = (hold = ownHold) => sql<number>`exists (select 1 from approved_operation a
  where a.kind = operation.kind and a.hash = operation.hash and a.hold_id = ${hold} and a.used_at is null)`;
const heldFor = (hold = ownHold) => sql<string | null>`(select i.reason from hold_operation i
  where i.hold_id = ${hold} and i.hash = operation.hash and i.ended_at is null)`;

/**
 * What of a hold waits: what is held, and while a run is planning its customer anew, the same operations as that run
 * has them, until it judges them.
 */
const waitsOf = (hold: string) => sql<boolean>`operation.rowid in (
  select rowid from operation where hold_id = ${hold} and state = 'held'
  union all
  select o.rowid from hold h join operation o
    on o.customer_namespace = h.customer_namespace and o.customer_id = h.customer_id
      and o.state in ('planned', 'held') and +o.state = 'planned'
  where h.id = ${hold} and h.state in ('open', 'approved') and exists (select 1 from hold_operation i
    where i.hold_id = h.id and i.hash = o.hash and i.kind = o.kind and i.ended_at is null))`;

const columns = [
  "id",
  "kind",
  "customer_namespace as namespace",
  "customer_id as customer",
  "subject",
  "state",
  "run_id as run",
  "hold_id as hold",
  "reason",
  "before",
  "after",
  "records",
] as const;

/** Holds that stand, oldest first, from the one after `after` on, and how many there are in all. */
export async function standingHolds(
  ledger: ReadOnlyLedger,
  { limit, after }: { limit: number; after?: string | undefined },
): Promise<{ total: number; waits: number; holds: HoldFacts[] }> {
  const from = ledger.db.selectFrom("hold").where("state", "in", spelled(standing));
  const counted = await from.select(sql<number>`count(*)`.as("total")).executeTakeFirst();
  const open = await ledger.db
    .selectFrom("hold")
    .where("state", "in", spelled(standing))
    .where(sql<boolean>`${sql.raw(waitsForWord("hold"))}`)
    .select(sql<number>`count(*)`.as("total"))
    .executeTakeFirst();
  const last =
    after === undefined
      ? undefined
      : await ledger.db.selectFrom("hold").select(["created_at", "id"]).where("id", "=", after).executeTakeFirst();
  let page = from.select("id").orderBy("created_at").orderBy("id").limit(limit);
  if (last !== undefined) page = page.where(sql<boolean>`(created_at, id) > (${last.created_at}, ${last.id})`);
  const found: HoldFacts[] = [];
  for (const { id } of await page.execute()) found.push(...(await holds(ledger, { id })));
  return { total: counted?.total ?? 0, waits: open?.total ?? 0, holds: found };
}

/** What one hold holds, in its order. */
export async function heldOperations(
  ledger: ReadOnlyLedger,
  hold: string,
  { limit, after = 0 }: { limit: number; after?: number | undefined },
): Promise<WaitingOperation[]> {
  const rows = await ledger.db
    .selectFrom("operation")
    .select(columns)
    .select([
      sql<number>`operation.rowid`.as("place"),
      approvedAlone(sql`${hold}`).as("approved"),
      heldFor(sql`${hold}`).as("heldFor"),
    ])
    .where(waitsOf(hold))
    .where(sql<boolean>`operation.rowid > ${after}`)
    .orderBy(sql`operation.rowid`)
    .limit(limit)
    .execute();
  return rows.map(waitingFromRow);
}

/** What is planned or held, customer by customer; `after`: the operation that the page before ended with. */
export async function waitingOperations(
  ledger: ReadOnlyLedger,
  { limit, after }: { limit: number; after?: string | undefined },
): Promise<WaitingOperation[]> {
  const last =
    after === undefined
      ? undefined
      : await ledger.db
          .selectFrom("operation")
          .select(["customer_namespace as namespace", "customer_id as customer", "position", "id"])
          .where("id", "=", after)
          .executeTakeFirst();
  let page = ledger.db
    .selectFrom("operation")
    .select(columns)
    .select([sql<number>`rowid`.as("place"), approvedAlone().as("approved"), heldFor().as("heldFor")])
    .where("state", "in", spelled(waiting))
    .orderBy("customer_namespace")
    .orderBy("customer_id")
    .orderBy("position")
    .orderBy("id")
    .limit(limit);
  if (last !== undefined)
    page = page.where(
      sql<boolean>`(customer_namespace, customer_id, position, id)
        > (${last.namespace}, ${last.customer}, ${last.position}, ${last.id})`,
    );
  return (await page.execute()).map(waitingFromRow);
}

/** What is held takes away, of one hold or of all. */
export async function heldSums(ledger: ReadOnlyLedger, hold?: string): Promise<HeldSums> {
  let taken = ledger.db
    .selectFrom("operation")
    .select("weight")
    .limit(mostSummed + 1);
  taken =
    hold === undefined
      ? taken.where("state", "=", sql.lit("held")).where("hold_id", "is not", null)
      : taken.where(waitsOf(hold));
  const sum = (name: string) => sql`coalesce(sum(weight ->> ${sql.lit(`$.${name}`)}), 0) as ${sql.ref(name)}`;
  const { rows } = await sql<Weight & { operations: number }>`select count(*) as operations,
    ${sql.join(Object.keys(noWeight).map(sum))} from ${taken.as("taken")}`.execute(ledger.db);
  const [row = { ...noWeight, operations: 0 }] = rows;
  return { ...row, more: row.operations > mostSummed };
}

/** Stands for exactly what of a hold waits for a person's word now. */
export async function heldMark(ledger: ReadOnlyLedger, hold: string): Promise<string> {
  const { rows } = await sql<{ kind: string; hash: string }>`
    select operation.kind, operation.hash from operation
    join hold_operation i on i.hold_id = ${hold} and i.kind = operation.kind and i.hash = operation.hash
      and i.ended_at is null
    where ${waitsOf(hold)} and not ${approvedAlone(sql`${hold}`)}
  `.execute(ledger.db);
  return shownMark(rows);
}

/** Runs of which something waits that a sum held, the one that holds the most first. */
export async function heldByRuns(ledger: ReadOnlyLedger, limit: number): Promise<HeldByRun[]> {
  const { rows } = await sql<{ run: string; kind: string; hash: string; customer: string }>`
    select o.run_id as run, o.kind, o.hash, o.customer_namespace || '/' || o.customer_id as customer from operation o
    join hold h on h.id = o.hold_id and h.state = 'open'
    join hold_operation i on i.hold_id = o.hold_id and i.kind = o.kind and i.hash = o.hash and i.ended_at is null
      and i.scope in ('run', 'day', 'week', 'rebuilt')
    where o.hold_id is not null and o.state = 'held' and o.run_id is not null
      and ${sql.raw(kindIn("o.kind", ({ approvedAlone: isAlone }) => !isAlone))}
      and not ${sql.raw(isApproved("o.kind", "o.hash"))}
    limit ${sql.lit(mostSummed + 1)}
  `.execute(ledger.db);
  const isAll = rows.length <= mostSummed;
  return [...Map.groupBy(rows, ({ run }) => run)]
    .map(([run, held]) => ({
      run,
      operations: held.length,
      customers: new Set(held.map(({ customer }) => customer)).size,
      mark: isAll ? shownMark(held) : undefined,
    }))
    .toSorted((one, other) => other.operations - one.operations || (one.run < other.run ? -1 : 1))
    .slice(0, limit);
}

function waitingFromRow(row: {
  id: string;
  place: number;
  kind: string;
  namespace: string;
  customer: string;
  subject: string;
  state: string;
  run: string | null;
  hold: string | null;
  reason: string;
  heldFor: string | null;
  approved: number;
  before: string;
  after: string;
  records: string;
}): WaitingOperation {
  const records = stored<{ stream: Stream; namespace: string; id: string }[]>(row.records);
  return {
    id: row.id,
    place: row.place,
    kind: row.kind,
    customer: { namespace: row.namespace, id: row.customer },
    subject: row.subject,
    state: row.state === "held" ? "held" : "planned",
    run: row.run,
    hold: row.hold,
    reason: row.reason,
    heldFor: row.heldFor,
    approved: row.approved === 1,
    before: storedOrNull(row.before),
    after: storedOrNull(row.after),
    records: records.map(({ stream, namespace, id }) => ({ stream, key: { namespace, id } })),
  };
}
