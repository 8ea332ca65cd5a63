import { keyOrNull, type ReadOnlyLedger } from "./read-only-ledger.ts";
import { sql } from "kysely";
import { isJsonObject, type Json, type JsonObject } from "../base/canonical-json.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey, Stream } from "../crm/model.ts";
import { handedIn } from "../engine/model/registry.ts";
import { stored } from "../ledger/database/damage.ts";
import { requestColumns, requestFromRow } from "../ledger/state/requests.ts";
import { notAsLeft } from "../ledger/state/differences.ts";
import { candidatesKind } from "../ledger/state/observations.ts";
import { nameOf, requestKindOf } from "../engine/model/requests.ts";
import { isSameKey } from "../engine/model/state.ts";
import {
  type CandidateFacts,
  type ExplainFacts,
  type ObservationFacts,
  type RequestFacts,
  mostObservations,
} from "../report/explain.ts";
import { notedByHand } from "./exceptions.ts";
import { placedOf, renewedNumbers, renewedUnits } from "./placed-orders.ts";
import { newestForms } from "./names.ts";

type Known = Pick<
  ExplainFacts,
  | "links"
  | "platformCustomers"
  | "acknowledged"
  | "placed"
  | "numbers"
  | "staffLinks"
  | "claims"
  | "assignments"
  | "requests"
  | "byHand"
  | "candidates"
  | "differences"
  | "observations"
  | "observationRead"
>;

export async function known(
  ledger: ReadOnlyLedger,
  stream: Stream,
  key: RecordKey,
  customer: RecordKey | null,
): Promise<Known> {
  const links = customer === null ? [] : await linksOf(ledger, customer);
  const enterprise = links.find((link) => link.to === null)?.enterpriseGlobalId;
  const isCustomer = stream === "customers";
  const placed = stream === "orders" ? await placedOf(ledger, key) : [];
  const numbers = stream === "orders" ? await numbersOf(ledger, key) : [];
  const about = { stream, key, numbers: numbers.map((item) => item.number) };
  const ofResources: Partial<ExplainFacts> = {};
  for (const { explain } of handedIn().resources) Object.assign(ofResources, await explain?.load(ledger.db, about));
  const requests = customer === null ? [] : await requestsOf(ledger, customer);
  const base = {
    links,
    platformCustomers: isCustomer && enterprise !== undefined ? await platformCustomersOf(ledger, enterprise) : [],
    acknowledged: isCustomer ? await acknowledgedOf(ledger, key) : [],
    placed,
    numbers,
    staffLinks: stream === "staff" ? await staffLinksOf(ledger, key) : [],
    claims: stream === "staff" && customer !== null ? await claimsOf(ledger, key, customer) : [],
    ...ofResources,
    requests: requests.filter(concernedBy(stream, key, numbers)),
    byHand: await byHandOf(ledger, stream, key),
    candidates: isCustomer && enterprise === undefined ? await candidatesOf(ledger, key) : [],
  };
  if (customer === null) return { ...base, differences: [], observations: [], observationRead: null };
  const read = await ledger.db
    .selectFrom("observation_read")
    .select(["seen_at as seenAt", "complete"])
    .where("customer_namespace", "=", customer.namespace)
    .where("customer_id", "=", customer.id)
    .executeTakeFirst();
  const observations: ObservationFacts[] = [];
  const differences: ExplainFacts["differences"] = [];
  for (const whose of whereShown(customer, placed)) {
    observations.push(...(await observationsOf(ledger, stream, whose, base)));
    differences.push(...differencesOf(ledger, whose, about));
  }
  return {
    ...base,
    differences,
    observations,
    observationRead: read ? { ...read, complete: read.complete === 1 } : null,
  };
}

async function linksOf({ db }: ReadOnlyLedger, customer: RecordKey): Promise<ExplainFacts["links"]> {
  return await db
    .selectFrom("link")
    .select(["enterprise_global_id as enterpriseGlobalId", "channel_code as channelCode"])
    .select(["channel_customer_id as channelCustomerId", "origin", "from_at as from", "to_at as to"])
    .where("namespace", "=", customer.namespace)
    .where("customer_id", "=", customer.id)
    .orderBy("from_at", "desc")
    .execute();
}

async function platformCustomersOf(
  { db }: ReadOnlyLedger,
  enterprise: string,
): Promise<ExplainFacts["platformCustomers"]> {
  const rows = await db
    .selectFrom("platform_customer")
    .select(["customer_id as customerId", "is_default", "channel_code as channelCode", "seen_at as seenAt"])
    .where("enterprise_global_id", "=", enterprise)
    .orderBy("customer_id")
    .execute();
  return rows.map(({ is_default: isDefault, ...row }) => ({ ...row, isDefault: isDefault === 1 }));
}

async function acknowledgedOf({ db }: ReadOnlyLedger, customer: RecordKey): Promise<ExplainFacts["acknowledged"]> {
  const rows = await db
    .selectFrom("acknowledged")
    .select(["from_at as from", "to_at as to", "fields"])
    .where("namespace", "=", customer.namespace)
    .where("customer_id", "=", customer.id)
    .orderBy("from_at", "desc")
    .execute();
  return rows.map((row) => ({ ...row, fields: Object.keys(stored<JsonObject>(row.fields)).sort() }));
}

async function numbersOf(ledger: ReadOnlyLedger, order: RecordKey): Promise<ExplainFacts["numbers"]> {
  const fixed = await ledger.db
    .selectFrom("asset_number")
    .select((of) => [
      of.fn.coalesce("wire_number", "number").as("number"),
      of.fn.coalesce("instance_id", sql.lit("")).as("instanceId"),
      of.fn.coalesce("unit", sql.lit(0)).as("slot"),
      of.fn.coalesce("fixed_at", sql.lit("")).as("fixedAt"),
    ])
    .select(["origin", "ended_at as endedAt", "customer_namespace", "customer_id"])
    .where("namespace", "=", order.namespace)
    .where("order_id", "=", order.id)
    .where("fixed_at", "is not", null)
    .orderBy("instance_id")
    .orderBy("unit")
    .execute();
  return [...fixed, ...(await renewedNumbers(ledger, order))].map(({ customer_namespace, customer_id, ...unit }) => ({
    ...unit,
    customer: keyOrNull(customer_namespace, customer_id),
  }));
}

async function staffLinksOf({ db }: ReadOnlyLedger, staff: RecordKey): Promise<ExplainFacts["staffLinks"]> {
  return await db
    .selectFrom("staff_link")
    .select(["member_global_id as memberGlobalId", "enterprise_global_id as enterpriseGlobalId", "origin"])
    .select(["from_at as from", "to_at as to"])
    .where("namespace", "=", staff.namespace)
    .where("staff_id", "=", staff.id)
    .orderBy("from_at", "desc")
    .execute();
}

/** The asset numbers count at the person's own customer only. */
async function claimsOf(
  ledger: ReadOnlyLedger,
  staff: RecordKey,
  customer: RecordKey,
): Promise<ExplainFacts["claims"]> {
  const [form] = await newestForms(ledger, { stream: "staff", ...staff }, 1);
  const assets = form?.["assets"];
  if (!Array.isArray(assets)) return [];
  const claims: ExplainFacts["claims"] = [];
  for (const claim of assets) {
    if (!isJsonObject(claim)) continue;
    const { assetNumber, instanceId } = claim;
    if (typeof assetNumber === "string")
      claims.push({ claim: `asset number ${assetNumber}`, numbers: [assetNumber], isEnded: false });
    if (typeof instanceId !== "string") continue;
    const fixed = await ledger.db
      .selectFrom("asset_number")
      .select(["number", "wire_number", "ended_at"])
      .where("namespace", "=", staff.namespace)
      .where("instance_id", "=", instanceId)
      .where("customer_namespace", "=", customer.namespace)
      .where("customer_id", "=", customer.id)
      .where("fixed_at", "is not", null)
      .orderBy("unit")
      .limit(50)
      .execute();
    const renewed = renewedUnits(ledger, customer).filter(
      (unit) => unit.namespace === staff.namespace && unit.instance_id === instanceId,
    );
    const numbers = [
      ...fixed.filter(({ ended_at }) => ended_at === null).map((item) => item.wire_number ?? item.number),
      ...renewed.map((unit) => unit.wire_number),
    ].filter((number) => number !== null);
    const isEnded = numbers.length === 0 && fixed.length > 0;
    claims.push({ claim: `asset instance ${instanceId}`, numbers: [...new Set(numbers)], isEnded });
  }
  return claims;
}

function concernedBy(
  stream: Stream,
  key: RecordKey,
  numbers: ExplainFacts["numbers"],
): (about: RequestFacts) => boolean {
  if (stream === "customers") return () => true;
  if (stream === "staff") return ({ staff }) => staff !== null && isSameKey(staff, key);
  return ({ about }) => numbers.some(({ number }) => number === about);
}

async function requestsOf(ledger: ReadOnlyLedger, customer: RecordKey): Promise<RequestFacts[]> {
  const rows = await ledger.db
    .selectFrom("manual_request")
    .select(requestColumns)
    .where("customer_namespace", "=", customer.namespace)
    .where("customer_id", "=", customer.id)
    .where("to_at", "is", null)
    .orderBy("of")
    .orderBy("about")
    .execute();
  return rows.map((row) => {
    const request = requestFromRow(row);
    const { of, about, wanted, details, by, reason, askedAt, answer, operationId } = request;
    const staff = "staff" in details ? details.staff : null;
    const text = `${nameOf(request)} ${requestKindOf(request).stands(request)}`;
    return { of, about, wanted, text, staff, by, reason, askedAt, answer, answeredAt: row.answered_at, operationId };
  });
}

/** The manual change for the present form of the record. */
async function byHandOf(ledger: ReadOnlyLedger, stream: Stream, key: RecordKey): Promise<ExplainFacts["byHand"]> {
  const row = await notedByHand(ledger)
    .select(["by_hand.at", "by_hand.by", "by_hand.reason", "by_hand.unseen"])
    .where("by_hand.stream", "=", stream)
    .where("by_hand.namespace", "=", key.namespace)
    .where("by_hand.id", "=", key.id)
    .executeTakeFirst();
  return row === undefined ? null : { ...row, unseen: stored<string[]>(row.unseen) };
}

async function candidatesOf({ db }: ReadOnlyLedger, customer: RecordKey): Promise<CandidateFacts[]> {
  const rows = await db
    .selectFrom("observation")
    .select(["subject", "seen_at", "body"])
    .where("customer_namespace", "=", customer.namespace)
    .where("customer_id", "=", customer.id)
    .where("kind", "=", candidatesKind)
    .where("to_at", "is", null)
    .orderBy("seen_at", "desc")
    .limit(1)
    .execute();
  return rows.flatMap((row) =>
    stored<Omit<CandidateFacts, "channelCustomerId" | "seenAt">[]>(row.body).map((candidate) => ({
      ...candidate,
      channelCustomerId: row.subject,
      seenAt: row.seen_at,
    })),
  );
}

function whereShown(customer: RecordKey, placed: ExplainFacts["placed"]): RecordKey[] {
  const earlier = placed.flatMap((one) => [one.customer, ...one.movedFrom.map((move) => move.customer)]);
  return [...new Map([customer, ...earlier].map((key) => [formatKey(key), key])).values()];
}

function differencesOf(
  ledger: ReadOnlyLedger,
  customer: RecordKey,
  { stream, key, numbers }: { stream: Stream; key: RecordKey; numbers: readonly string[] },
): ExplainFacts["differences"] {
  const subject = sql`' ' || subject || ' '`;
  const isOwn = {
    customers: sql`true`,
    orders: sql`level in ('order', 'product', 'package') and (instr(${subject}, ${` of order ${formatKey(key)} `}) > 0
      or exists (select 1 from json_each(${JSON.stringify(numbers)})
        where instr(${subject}, ' under asset number ' || value || ' ') > 0))`,
    staff: sql`level in ('staff', 'assignment') and instr(${subject}, ${` of ${formatKey(key)} `}) > 0`,
  }[stream];
  return [
    ...ledger.rows(sql<ExplainFacts["differences"][number]>`
      select level, subject, detail, first_seen as since from difference
      where namespace = ${customer.namespace} and customer_id = ${customer.id} and ended_at is null
        and ${sql.raw(notAsLeft)} and ${isOwn}
      order by first_seen, level, subject`),
  ];
}

async function observationsOf(
  ledger: ReadOnlyLedger,
  stream: Stream,
  customer: RecordKey,
  about: Pick<Known, "placed" | "numbers" | "staffLinks" | "assignments" | "claims">,
): Promise<ObservationFacts[]> {
  // An unchanged complete reading writes no rows; `shown_at` has its time.
  let query = ledger.db
    .selectFrom("observation")
    .leftJoin("observation_read as whole", (join) =>
      join
        .onRef("whole.customer_namespace", "=", "observation.customer_namespace")
        .onRef("whole.customer_id", "=", "observation.customer_id"),
    )
    .select(["kind", "subject", "from_at as from", "to_at as to", "body"])
    .select(sql<string>`max(observation.seen_at, iif(to_at is null, coalesce(whole.shown_at, ''), ''))`.as("seenAt"))
    .where("observation.customer_namespace", "=", customer.namespace)
    .where("observation.customer_id", "=", customer.id)
    .orderBy(sql`to_at is not null`)
    .orderBy("kind")
    .orderBy("subject")
    .orderBy("from_at", "desc")
    .limit(mostObservations);
  if (stream === "customers") query = query.where("kind", "in", ["enterprise", "loan"]);
  else {
    const bought = about.placed.flatMap(({ steps }) => steps.flatMap(({ channelOrderId }) => channelOrderId ?? []));
    const channelOrders = JSON.stringify([...about.placed.map((item) => item.channelOrderId), ...bought]);
    const assets = JSON.stringify([
      ...about.numbers.map((item) => item.number),
      ...(about.assignments ?? []).map((item) => item.assetNumber),
      ...about.claims.flatMap((item) => item.numbers),
    ]);
    const members = JSON.stringify(about.staffLinks.map((item) => item.memberGlobalId));
    const among = (values: string) => sql`in (select value from json_each(${values}))`;
    query = query.where(
      sql<boolean>`(
        (kind in ('product', 'package') and json_extract(body, '$.channelOrderId') ${among(channelOrders)})
        or (kind = 'asset' and subject ${among(assets)})
        or (kind = 'member' and subject ${among(members)}))`,
    );
  }
  return (await query.execute()).map((row) => ({ ...row, body: stored<Json>(row.body) }));
}
