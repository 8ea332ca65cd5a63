import { sql } from "kysely";
import type { Json } from "../base/canonical-json.ts";
import type { RecordKey, Stream } from "../crm/model.ts";
import { isApproved } from "../ledger/decisions/hold-rows.ts";
import { peopleWithout } from "../ledger/decisions/what-is-asked.ts";
import { shownMark } from "../ledger/decisions/shown-mark.ts";
import { stored, storedOrNull } from "../ledger/database/damage.ts";
import { noWeight } from "../engine/model/taking.ts";
import type { Weight } from "../engine/model/taking.ts";
import { typeIn } from "../engine/model/registry.ts";
import type { QuestionTable } from "../ledger/decisions/tables.ts";
import type { OperationTable } from "../ledger/journal/tables.ts";
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

const approved = sql<number>`${sql.raw(isApproved("operation.id"))}`.as("approved");
const heldFor = sql<string | null>`(select h.reason from hold h where h.operation_id = operation.id
  and h.state in ('asked', 'approved'))`.as("heldFor");

const columns = [
  "id",
  "kind",
  "customer_namespace as namespace",
  "customer_id as customer",
  "subject",
  "state",
  "run_id as run",
  "question_id as hold",
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
  const from = ledger.db.selectFrom("question").where("state", "in", spelled(standing));
  const counted = await from.select(sql<number>`count(*)`.as("total")).executeTakeFirst();
  const open = await ledger.db
    .selectFrom("question")
    .where("state", "in", spelled(standing))
    .where("state", "=", sql.lit<QuestionTable["state"]>("open"))
    .select(sql<number>`count(*)`.as("total"))
    .executeTakeFirst();
  const last =
    after === undefined
      ? undefined
      : await ledger.db.selectFrom("question").select("number").where("id", "=", after).executeTakeFirst();
  let page = from.select("id").orderBy("number").limit(limit);
  if (last !== undefined) page = page.where("number", ">", last.number);
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
    .select([sql<number>`operation.rowid`.as("place"), approved, heldFor])
    .where("question_id", "=", hold)
    .where("state", "=", sql.lit<OperationTable["state"]>("held"))
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
    .select([sql<number>`operation.rowid`.as("place"), approved, heldFor])
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
    .where("state", "=", sql.lit<OperationTable["state"]>("held"))
    .where("question_id", "is not", null)
    .limit(mostSummed + 1);
  if (hold !== undefined) taken = taken.where("question_id", "=", hold);
  const sum = (name: string) => sql`coalesce(sum(weight ->> ${sql.lit(`$.${name}`)}), 0) as ${sql.ref(name)}`;
  const summed = Object.keys(noWeight).filter((name) => name !== "lastAsset");
  const asked = hold === undefined ? sql`select id from question where state in ('open', 'approved')` : sql`${hold}`;
  const { rows } = await sql<Weight & { operations: number }>`
    with seats(number) as materialized (select one.value from hold h, json_each(h.removes, '$.seats') one
      where h.state in ('asked', 'approved') and h.question_id in (${asked}))
    select count(*) as operations, ${sql.raw(peopleWithout("select number from seats"))} as "lastAsset",
    ${sql.join(summed.map(sum))} from ${taken.as("taken")}`.execute(ledger.db);
  const [row = { ...noWeight, operations: 0 }] = rows;
  return { ...row, more: row.operations > mostSummed };
}

/** Stands for exactly what a question still asks. */
export async function heldMark(ledger: ReadOnlyLedger, question: string): Promise<string> {
  const rows = ledger.db.selectFrom("hold").select(["kind", "hash"]).where("question_id", "=", question);
  return shownMark(await rows.where("state", "=", sql.lit<"asked">("asked")).execute());
}

/** Runs of which something waits that a sum held, the one that holds the most first. */
export async function heldByRuns(ledger: ReadOnlyLedger, limit: number): Promise<HeldByRun[]> {
  const { rows } = await sql<{ run: string; kind: string; hash: string; customer: string }>`
    select o.run_id as run, o.kind, o.hash, o.customer_namespace || '/' || o.customer_id as customer from operation o
    join hold h on h.operation_id = o.id and h.state = 'asked' and h.scope in ('run', 'day', 'week', 'rebuilt')
    where o.question_id is not null and o.state = 'held' and o.run_id is not null
      and ${sql.raw(typeIn("o.kind", ({ can }) => can.governed?.alone !== true))}
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
