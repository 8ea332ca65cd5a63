import { recordsIn, waitingStates } from "./operations.ts";
import { sql } from "kysely";
import type { RecordKey, Stream } from "../crm/model.ts";
import type { QuestionTable } from "../ledger/decisions/tables.ts";
import { whatIsAsked, peopleWithout, shownMark } from "../ledger/decisions/what-is-asked.ts";
import type { HoldFacts, TakenFacts } from "../report/facts.ts";
import { spelled, type ReadOnlyLedger } from "./read-only-ledger.ts";
import type { Json } from "../base/canonical-json.ts";
import { isApproved } from "../ledger/decisions/hold-rows.ts";
import { storedOrNull } from "../ledger/database/damage.ts";
import { noWeight, removedThings, type Weight, type RemovedThing } from "../engine/model/operation.ts";
import { typeIn, removedBy } from "../engine/model/registry.ts";
import type { OperationTable } from "../ledger/journal/tables.ts";
import { toInstant } from "../base/clock.ts";
import { allowedOfAll, type RemovalLimits } from "../engine/plan/limits.ts";
import { locksByType } from "../resources/order/state.ts";

export async function holds(
  ledger: ReadOnlyLedger,
  filter: {
    states?: readonly HoldFacts["state"][];
    customer?: RecordKey;
    id?: string;
    limit?: number;
    after?: string | undefined;
  } = {},
): Promise<HoldFacts[]> {
  let query = ledger.db
    .selectFrom("question")
    .selectAll()
    .select((from) =>
      from
        .selectFrom("operation")
        .select(sql<number>`count(*)`.as("count"))
        .whereRef("operation.question_id", "=", "question.id")
        .where("operation.state", "=", sql.lit("held"))
        .as("operations"),
    )
    .orderBy("number");
  const [state, ...others] = filter.states ?? [];
  // SQLite uses the index on one state only if the state is a literal.
  if (state !== undefined && others.length === 0) query = query.where("state", "=", sql.lit(state));
  else if (filter.states !== undefined) query = query.where("state", "in", spelled(filter.states));
  if (filter.id !== undefined) query = query.where("id", "=", filter.id);
  if (filter.limit !== undefined) query = query.limit(filter.limit);
  if (filter.after !== undefined)
    query = query.where("number", ">", (from) =>
      from
        .selectFrom("question as q")
        .select("q.number")
        .where("q.id", "=", filter.after ?? ""),
    );
  if (filter.customer !== undefined) {
    query = query
      .where("customer_namespace", "=", filter.customer.namespace)
      .where("customer_id", "=", filter.customer.id);
  }
  return (await query.execute()).map((row) => holdFacts(ledger, row));
}

export function holdFacts(ledger: ReadOnlyLedger, row: QuestionTable & { operations: number | null }): HoldFacts {
  return {
    id: row.id,
    scope: row.scope,
    customer: { namespace: row.customer_namespace, id: row.customer_id },
    state: row.state,
    ...whatIsAsked((statement, parameters) => ledger.all(statement, parameters), row.id),
    createdAt: row.created_at,
    decidedAt: row.decided_at,
    reason: row.reason,
    decidedBy: row.decided_by,
    operations: row.operations ?? 0,
    ofUndo: row.of_undo === 1,
  };
}

interface WaitingOperation {
  id: string;
  place: number;
  kind: string;
  customer: RecordKey;
  subject: string;
  state: "planned" | "held";
  run: string | null;
  hold: string | null;
  reason: string;
  /** Null if the operation is held only because of others, or is not held. */
  heldFor: string | null;
  approved: boolean;
  before: Json;
  after: Json;
  records: { stream: Stream; key: RecordKey }[];
}

interface HeldSums extends Weight {
  operations: number;
  more: boolean;
}

/** Operations of one run that a limit holds, so that a person can approve them together. */
export interface HeldByRun {
  run: string;
  operations: number;
  customers: number;
  mark: string | undefined;
}

export const standingQuestions = ["open", "approved"] as const;

const mostSummed = 10_000;

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

/** Open and approved holds after `after`, oldest first, with totals. */
export async function standingHolds(
  ledger: ReadOnlyLedger,
  { limit, after }: { limit: number; after?: string | undefined },
): Promise<{ total: number; waits: number; holds: HoldFacts[] }> {
  const counts = await ledger.db
    .selectFrom("question")
    .select(["state", sql<number>`count(*)`.as("count")])
    .where("state", "in", spelled(standingQuestions))
    .groupBy("state")
    .execute();
  return {
    total: counts.reduce((sum, { count }) => sum + count, 0),
    waits: counts.find(({ state }) => state === "open")?.count ?? 0,
    holds: await holds(ledger, { states: standingQuestions, limit, after }),
  };
}

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

/** Planned and held operations by customer; `after`: the last operation of the previous page. */
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
    .where("state", "in", spelled(waitingStates))
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

/** Identifies exactly the open operations of the hold. */
export async function heldMark(ledger: ReadOnlyLedger, question: string): Promise<string> {
  const rows = ledger.db.selectFrom("hold").select(["kind", "hash"]).where("question_id", "=", question);
  return shownMark(await rows.where("state", "=", sql.lit<"asked">("asked")).execute());
}

/** Runs with operations that a limit holds, most operations first. */
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

function waitingFromRow({
  namespace,
  customer,
  approved: isApprovedAlone,
  ...row
}: Omit<WaitingOperation, "customer" | "state" | "approved" | "before" | "after" | "records"> &
  Record<"namespace" | "customer" | "state" | "before" | "after" | "records", string> & {
    approved: number;
  }): WaitingOperation {
  return {
    ...row,
    customer: { namespace, id: customer },
    state: row.state === "held" ? "held" : "planned",
    approved: isApprovedAlone === 1,
    before: storedOrNull(row.before),
    after: storedOrNull(row.after),
    records: recordsIn(row.records),
  };
}

const hourMs = 60 * 60 * 1_000;
const windows = [
  { scope: "day", ms: 24 * hourMs },
  { scope: "week", ms: 7 * 24 * hourMs },
] as const;

/** Use of the limits in 24 hours and 7 days: unapproved removals, also possible ones. `now`: epoch milliseconds. */
export async function taken(
  ledger: ReadOnlyLedger,
  limits: Pick<RemovalLimits, "day" | "week">,
  now: number,
): Promise<TakenFacts[]> {
  const facts: TakenFacts[] = [];
  for (const { scope, ms } of windows) {
    const sums = await sumsSince(ledger, toInstant(now - ms));
    for (const thing of removedThings) {
      const count = sums.get(thing) ?? 0;
      if (count === 0) continue;
      facts.push({
        thing,
        within: scope,
        count,
        allowed: allowedOfAll(limits[scope], (await live(ledger, thing)) + count),
      });
    }
  }
  return facts;
}

/** Must equal the condition of the index, word for word. */
const counts = sql<boolean>`(takes_away > 0 or weight is not null) and approved = 0
  and state in ('sending', 'unknown', 'parked', 'done')`;

async function sumsSince({ db }: ReadOnlyLedger, since: string): Promise<ReadonlyMap<RemovedThing, number>> {
  const rows = await db
    .selectFrom("operation")
    .select(["kind", sql<number>`sum(takes_away)`.as("count")])
    .select(sql<number>`sum(coalesce(weight ->> '$.seats', 0))`.as("seats"))
    .where(counts)
    .where("updated_at", ">=", since)
    .groupBy("kind")
    .execute();
  const sums = new Map<RemovedThing, number>();
  const add = (thing: RemovedThing, count: number): void => void sums.set(thing, (sums.get(thing) ?? 0) + count);
  for (const { kind, count, seats } of rows) {
    const thing = removedBy({ kind });
    if (thing !== undefined) add(thing, count);
    if (thing !== "seats") add("seats", seats);
  }
  return sums;
}

async function live({ db }: ReadOnlyLedger, thing: RemovedThing): Promise<number> {
  const tallies = await db.selectFrom("tally").select(["name", "count"]).execute();
  const of = (name: string): number => tallies.find((row) => row.name === name)?.count ?? 0;
  const known = new Map<RemovedThing, number>([
    ["seats", of("assignment")],
    ["products", of("product")],
    ["accounts", of("staff_link") - of("staff_link adopted")],
  ]);
  const count = known.get(thing);
  if (count !== undefined) return count;
  const { rows } = await sql<{ count: number }>`${sql.raw(locksByType)}`.execute(db);
  return rows[0]?.count ?? 0;
}
