import { knownTimes as timesIn, type KnownTimes } from "../ledger/time/time.ts";
import type { Problem } from "../base/errors.ts";
import { oldLedgerProblem } from "../ledger/database/newest.ts";
import { sql } from "kysely";
import { isJsonObject, type Json } from "../base/canonical-json.ts";
import { stored } from "../ledger/database/damage.ts";
import { bytesLeft } from "../ledger/private/private-tables.ts";
import { openRecords } from "../ledger/records/open-records.ts";
import type { OperationState } from "../ledger/journal/tables.ts";
import { lastRunIds } from "../ledger/runs/run-tables.ts";
import type { OperationFacts, DeliveryFacts } from "../report/facts.ts";
import { isOfJobs } from "../report/last-runs.ts";
import { type AbsenceFacts, type StatusFacts, type Paused, judgementOf } from "../report/status.ts";
import { auditHead, headPlaces, ledgerName } from "./audit.ts";
import { byHandCounts } from "./exceptions.ts";
import { holds, standingQuestions } from "./holds.ts";
import { openStates, operations, waitingStates } from "./operations.ts";
import { spelled, type ReadOnlyLedger } from "./read-only-ledger.ts";
import { isRequestOf, requestKindOf } from "../engine/model/requests.ts";
import { cutReads, lastReads, readFacts, runFacts } from "./runs.ts";
import { pauseKey, pauseOn } from "../ledger/pause.ts";
import { assumptions } from "../contract/assumptions.ts";
import { evidenceOf } from "../ledger/state/assumptions-met.ts";
import type { AssumptionStanding } from "../report/assumptions.ts";

const shownOperations = 20;
const count = sql<number>`count(*)`.as("count");

/** `jobs`: those of the configuration. Default: all that ran. */
export async function status(ledger: ReadOnlyLedger, jobs?: readonly string[]): Promise<StatusFacts> {
  const { db } = ledger;
  const open = openRecords((statement, parameters) => ledger.all(statement, parameters));
  const openOperations: OperationFacts[] = [];
  for await (const row of operations(ledger, { states: openStates, limit: shownOperations })) openOperations.push(row);
  const lastRuns = await db
    .selectFrom("run")
    .selectAll()
    .where(sql<boolean>`id in (${sql.raw(lastRunIds)})`)
    .orderBy("job")
    .execute();
  const running = await db
    .selectFrom("run")
    .selectAll()
    .where("state", "=", sql.lit("running"))
    .orderBy("started_at")
    .execute();
  const reads = await lastReads(ledger);
  const erased = await db.selectFrom("meta").select("value").where("key", "=", bytesLeft).executeTakeFirst();
  return {
    path: ledger.path,
    identity: await ledgerName(ledger),
    ...(erased === undefined ? {} : { erasedBytesOf: erased.value }),
    audit: (await auditHead(ledger)) ?? null,
    running: runFacts(ledger, running).filter(({ state }) => state === "running"),
    lastRuns: runFacts(ledger, lastRuns).filter(jobs === undefined ? () => true : isOfJobs(jobs)),
    slots: await lastFireTimes(ledger),
    reads,
    cutReads: await cutReads(ledger),
    absence: await absence(ledger, reads),
    holds: [
      ...(await holds(ledger, { states: standingQuestions })),
      ...(await holds(ledger, { states: ["rejected"] })),
    ],
    operations: await unfinished(ledger),
    openOperations,
    open,
    requests: await requestsDue(ledger),
    nextRun:
      open.filter((group) => group.nextRun).reduce((sum, group) => sum + group.count, 0) + (await untouched(ledger)),
    records: await db
      .selectFrom("record_tally")
      .selectAll()
      .where("count", ">", 0)
      .orderBy("stream")
      .orderBy("state")
      .execute(),
    differences: await differences(ledger),
    byHand: await byHandCounts(ledger),
    headPlaces: await headPlaces(ledger),
    ...(await totals(ledger)),
    openCircuits: await openCircuits(ledger),
    notices: await openAlerts(ledger),
    deliveries: await deliveries(ledger),
  };
}

/** Two queries, because open and waiting states have an index each. */
async function unfinished({ db }: ReadOnlyLedger): Promise<StatusFacts["operations"]> {
  const counted = async (states: readonly OperationState[]) =>
    await db
      .selectFrom("operation")
      .select(["state", count])
      .where("state", "in", spelled(states))
      .groupBy("state")
      .execute();
  const all = [...(await counted(openStates)), ...(await counted(waitingStates))];
  return all.sort((one, other) => (one.state < other.state ? -1 : 1));
}

async function lastFireTimes({ db }: ReadOnlyLedger): Promise<StatusFacts["slots"]> {
  return await db
    .selectFrom("last_fire_time")
    .select(["job", "fire_time as lastSlot", "fired_at as firedAt"])
    .orderBy("job")
    .execute();
}

async function openCircuits({ db }: ReadOnlyLedger): Promise<StatusFacts["openCircuits"]> {
  return await db
    .selectFrom("open_circuit")
    .select(["service", "since", "reason", "probe_at as probeAt"])
    .orderBy("service")
    .execute();
}

async function openAlerts({ db }: ReadOnlyLedger): Promise<StatusFacts["notices"]> {
  const rows = await db.selectFrom("alert").selectAll().orderBy("key").execute();
  return rows.map((row) => {
    const body = stored<Json>(row.body);
    const summary = isJsonObject(body) ? body["summary"] : undefined;
    return { key: row.key, since: row.since, summary: typeof summary === "string" ? summary : "" };
  });
}

/** Pending records that no run has handled and no hold blocks. */
async function untouched(ledger: ReadOnlyLedger): Promise<number> {
  const row = await ledger.db
    .selectFrom("record")
    .select(count)
    .where("pending", "=", sql.lit(1))
    .where("deferred_code", "is", null)
    .where("state", "<>", "quarantined")
    .where(
      sql<boolean>`not exists (select 1 from operation_record l join operation o on o.id = l.operation_id
        where l.stream = record.stream and l.namespace = record.namespace and l.record_id = record.id
          and o.state = 'held')`,
    )
    .executeTakeFirst();
  return row?.count ?? 0;
}

/** Without the name of the index, SQLite reads all requests ever made. */
async function requestsDue({ db }: ReadOnlyLedger): Promise<StatusFacts["requests"]> {
  const { rows } = await sql<{ of: string; due: number; oldest: string }>`
    select of, count(*) as due, min(from_at) as oldest from manual_request indexed by manual_request_due
    where to_at is null and due = 1 group by of order by of
  `.execute(db);
  return rows.map(({ of, ...counts }) => ({ noun: isRequestOf(of) ? requestKindOf({ of }).noun : of, ...counts }));
}

async function differences({ db }: ReadOnlyLedger): Promise<StatusFacts["differences"]> {
  return await db
    .selectFrom("difference")
    .select(["class", count, ({ fn }) => fn.min("first_seen").as("since")])
    .where("ended_at", "is", null)
    .groupBy("class")
    .orderBy("class")
    .execute();
}

async function removedOrders(db: ReadOnlyLedger["db"]): Promise<number> {
  const row = await db
    .selectFrom("placed_order as p")
    .select(count)
    .where("p.to_at", "is", null)
    .where("p.products", "=", sql.lit(0))
    .where(
      sql<boolean>`exists (select 1 from order_step s where s.namespace = p.namespace and s.order_id = p.order_id
        and s.kind = 'removed' and s.forgotten_at is null)`,
    )
    .executeTakeFirst();
  return row?.count ?? 0;
}

async function totals({ db }: ReadOnlyLedger): Promise<Pick<StatusFacts, "pool" | "known" | "verified">> {
  const tallies = new Map(
    (await db.selectFrom("tally").select(["name", "count"]).execute()).map((row) => [row.name, row.count]),
  );
  const tally = (name: string): number => tallies.get(name) ?? 0;
  const removed = await removedOrders(db);
  const free = await db.selectFrom("asset_number").select(count).where("fixed_at", "is", null).executeTakeFirst();
  const oldest = await db
    .selectFrom("observation_read")
    .select(({ fn }) => fn.min("seen_at").as("at"))
    .executeTakeFirst();
  const newest = await db
    .selectFrom("observation_read")
    .select(({ fn }) => fn.max("seen_at").as("at"))
    .executeTakeFirst();
  return {
    pool: { free: free?.count ?? 0, inUse: tally("asset_number in use") },
    known: {
      enterprises: tally("link"),
      orders: tally("placed_order") - removed,
      removed,
      staff: tally("staff_link"),
      assignments: tally("assignment"),
    },
    verified: {
      customers: tally("observation_read"),
      incomplete: tally("observation_read incomplete"),
      oldest: oldest?.at ?? null,
      newest: newest?.at ?? null,
    },
  };
}

async function absence({ db }: ReadOnlyLedger, reads: StatusFacts["reads"]): Promise<AbsenceFacts[]> {
  const streams = await db.selectFrom("source_stream").select(["source", "stream"]).execute();
  const missing = await db
    .selectFrom("record")
    .select(["source", "stream", sql<number>`count(*)`.as("count"), sql<string | null>`min(missed_since)`.as("since")])
    .where(sql<boolean>`missed > 0 and state <> 'absent'`)
    .groupBy(["source", "stream"])
    .execute();
  const facts: AbsenceFacts[] = [];
  for (const of of streams) {
    const isSame = (row: typeof of): boolean => row.source === of.source && row.stream === of.stream;
    const whole = await db
      .selectFrom("source_read")
      .selectAll()
      .where("source", "=", of.source)
      .where("stream", "=", of.stream)
      .where(sql<boolean>`complete = 1 and whole = 1`)
      .where(sql<boolean>`${ofRun}`)
      .orderBy("number", "desc")
      .limit(1)
      .executeTakeFirst();
    const { count = 0, since = null } = missing.find(isSame) ?? {};
    facts.push({
      ...of,
      ...judgementOf(reads.find(isSame), whole && readFacts(whole)),
      lastWhole: whole?.finished_at ?? null,
      missing: count,
      since,
    });
  }
  return facts;
}

/** The reads of a plan do not count for absence. */
const ofRun = sql`not exists (select 1 from run where run.id = source_read.run_id and run.kind = 'plan')`;

export async function knownTimes(ledger: ReadOnlyLedger): Promise<KnownTimes> {
  return ledger.reading((database) => {
    const value = database.prepare<[string], string>("select value from meta where key = ?").pluck();
    return timesIn((key) => value.get(key));
  });
}

/** Why no run may use this readable ledger: it is an older copy, or its rebuild is not finished. */
export function refusal(ledger: ReadOnlyLedger): Problem | undefined {
  return ledger.reading((database) => oldLedgerProblem(database, ledger.path));
}

interface AlertRows {
  standing: { key: string; since: string; body: Json }[];
  told: { channel: string; key: string; body: Json; toldAt: string }[];
  deliveries: DeliveryFacts[];
}

/** The alerts in the ledger. Only the configuration knows which channels exist. */
export async function alerts({ db }: ReadOnlyLedger): Promise<AlertRows> {
  const standing = await db
    .selectFrom("alert")
    .select(["key", "since", "body"])
    .orderBy("since")
    .orderBy("key")
    .execute();
  const told = await db
    .selectFrom("alert_told")
    .select(["channel", "key", "body", "told_at as toldAt"])
    .orderBy("channel")
    .orderBy("key")
    .execute();
  return {
    standing: standing.map((row) => ({ ...row, body: stored<Json>(row.body) })),
    told: told.map((row) => ({ ...row, body: stored<Json>(row.body) })),
    deliveries: await deliveries({ db }),
  };
}

async function deliveries({ db }: Pick<ReadOnlyLedger, "db">): Promise<DeliveryFacts[]> {
  return await db
    .selectFrom("delivery")
    .select(["kind", "name", "done_at as doneAt", "problem", "failing_since as failingSince"])
    .orderBy("kind")
    .orderBy("name")
    .execute();
}

/** Undefined without a current pause. */
export function paused(ledger: ReadOnlyLedger): Paused | undefined {
  const kept = ledger.reading((database) =>
    database.prepare<[string], { value: string }>("select value from meta where key = ?").get(pauseKey),
  );
  return pauseOn(kept?.value);
}

interface Met {
  row: string;
  count: number;
  first_at: string;
  last_at: string;
  evidence: string;
  accepted_at: string | null;
  by: string | null;
  reason: string | null;
}

export async function assumptionStandings(ledger: ReadOnlyLedger): Promise<AssumptionStanding[]> {
  const rows: Met[] = await ledger.db.selectFrom("assumption_met").selectAll().execute();
  return assumptions.map(({ requiredBefore: _requiredBefore, ...assumption }) => {
    const against = rows.find((row) => row.row === assumption.id);
    const isStanding = against !== undefined && against.accepted_at === null;
    return {
      ...assumption,
      standing: isStanding ? "contradicted" : "assumed",
      contradicted: isStanding ? contradiction(against) : null,
      accepted: acceptance(against),
    };
  });
}

function contradiction({ count, first_at, last_at, evidence }: Met): AssumptionStanding["contradicted"] {
  const { text, about } = evidenceOf(evidence);
  return { count, since: first_at, last: last_at, evidence: text, about };
}

function acceptance(row: Met | undefined): AssumptionStanding["accepted"] {
  if (row?.accepted_at === null || row === undefined) return null;
  return { at: row.accepted_at, by: row.by ?? "", reason: row.reason ?? "", evidence: evidenceOf(row.evidence).text };
}
