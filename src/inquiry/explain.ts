import { sql } from "kysely";
import { type JsonObject, type Json, isJsonObject } from "../base/canonical-json.ts";
import { formatKey, subjectOf } from "../crm/keys.ts";
import { isRequestOf, subjectOf as requestSubject } from "../engine/model/requests.ts";
import { streams, type RecordKey, type Stream } from "../crm/model.ts";
import { isSameKey } from "../engine/model/state.ts";
import { stored } from "../ledger/database/damage.ts";
import type { ExplainFacts, FieldFacts, RecordFacts, VersionFacts } from "../report/explain.ts";
import type { HoldFacts, OperationFacts, QuarantineFacts } from "../report/facts.ts";
import { find, recordFacts, recordOf } from "./find.ts";
import { known } from "./explain-known.ts";
import { holds } from "./holds.ts";
import { operations, operationsOfRecord } from "./operations.ts";
import { quarantine, quarantineFacts, type QuarantineFilter } from "./quarantine.ts";
import type { ReadOnlyLedger } from "./read-only-ledger.ts";
import { lastReads, readsOf, skippedInReading } from "./runs.ts";
import { isCommitment } from "../engine/model/references.ts";

const most = { versions: 20, operations: 20, audit: 30, quarantine: 20, waiting: 20, similar: 10 };

/** The whole history of one record. Of private fields only the names are read. */
export async function explain(ledger: ReadOnlyLedger, stream: Stream, key: RecordKey): Promise<ExplainFacts> {
  const record = await recordOf(ledger, stream, key);
  const rows = await quarantineOf(ledger, stream, key);
  const customerKey =
    record?.customer ?? (stream === "customers" ? key : (rows.find((row) => row.customer !== null)?.customer ?? null));
  const source = record?.source ?? rows[0]?.source;
  const own = await operationsOfRecord(ledger, { stream, key }, most.operations);
  return {
    stream,
    key,
    record,
    versions: await versionsOf(ledger, stream, key),
    read: source === undefined ? null : ((await readsOf(ledger, { source, stream, limit: 1 }))[0] ?? null),
    quarantine: rows,
    customer: customerKey === null ? null : await customerOf(ledger, customerKey, own.newest),
    ...(await known(ledger, stream, key, customerKey)),
    ...(record?.state === "absent" && { claims: [] }),
    operations: own,
    audit: await auditOf(ledger, stream, key, customerKey),
    dependents: stream === "customers" ? await dependentsOf(ledger, key) : [],
    waiting: stream === "customers" ? await waitingOf(ledger, key) : [],
    unusable: stream === "customers" ? await unusableOf(ledger, key) : [],
    similar: record === null ? await similarTo(ledger, stream, key) : [],
    leftOut: await leftOutOf(ledger, stream, record?.source),
  };
}

async function quarantineOf({ db }: ReadOnlyLedger, stream: Stream, key: RecordKey): Promise<QuarantineFacts[]> {
  const rows = await db
    .selectFrom("quarantine")
    .selectAll()
    .where("stream", "=", stream)
    .where("namespace", "=", key.namespace)
    .where("record_id", "=", key.id)
    .orderBy(sql`state = 'resolved'`)
    .orderBy("first_seen", "desc")
    .orderBy("id", "desc")
    .limit(most.quarantine)
    .execute();
  return rows.map(quarantineFacts);
}

async function versionsOf(ledger: ReadOnlyLedger, stream: Stream, key: RecordKey): Promise<VersionFacts[]> {
  const rows = await ledger.db
    .selectFrom("record_version")
    .selectAll()
    .where("stream", "=", stream)
    .where("namespace", "=", key.namespace)
    .where("id", "=", key.id)
    .orderBy("version", "desc")
    .limit(most.versions + 1)
    .execute();
  const erased = await erasedVersions(ledger, `${stream}/${formatKey(key)}`);
  const flat = rows.map((row) => {
    const fields = fieldsOf(stored<JsonObject>(row.body));
    return erased.has(row.version) ? fields.map(asErased) : fields;
  });
  return rows.slice(0, most.versions).map((row, index) => {
    const fields = flat[index] ?? [];
    const before = flat[index + 1];
    return {
      version: row.version,
      from: row.from_at,
      to: row.to_at,
      source: row.source,
      place: row.place,
      fields,
      changed: before === undefined ? [] : changedFields(before, fields),
    };
  });
}

async function erasedVersions({ db }: ReadOnlyLedger, ref: string): Promise<ReadonlySet<number>> {
  const rows = await db
    .selectFrom("private_value")
    .select("version")
    .where("ref", "=", ref)
    .where("salt", "is", null)
    .where("wiped_at", "is not", null)
    .execute();
  return new Set(rows.map(({ version }) => version));
}

function asErased(field: FieldFacts): FieldFacts {
  return "private" in field ? { ...field, erased: true } : field;
}

async function leftOutOf(
  ledger: ReadOnlyLedger,
  stream: Stream,
  source: string | undefined,
): Promise<ExplainFacts["leftOut"]> {
  const reads = await ledger.db
    .selectFrom("source_read")
    .select(["source", skippedInReading.as("count")])
    .where(
      "number",
      "in",
      (await lastReads(ledger)).flatMap((read) =>
        read.stream === stream && (source ?? read.source) === read.source ? [read.number] : [],
      ),
    )
    .orderBy("source")
    .execute();
  return reads.flatMap(({ source: from, count }) => (count === null || count === 0 ? [] : [{ source: from, count }]));
}

const kept = ["open", "approved", "rejected"] as const;

/** `own`: operations of the record, also at other customers. */
async function customerOf(
  ledger: ReadOnlyLedger,
  key: RecordKey,
  own: readonly OperationFacts[],
): Promise<ExplainFacts["customer"]> {
  const waiting = await ledger.db
    .selectFrom("quarantine")
    .select(sql<number>`count(*)`.as("count"))
    .where("customer_namespace", "=", key.namespace)
    .where("customer_id", "=", key.id)
    .where("state", "<>", sql.lit("resolved"))
    .executeTakeFirst();
  const openOperations: OperationFacts[] = [];
  for await (const row of operations(ledger, { openOf: key })) openOperations.push(row);
  return {
    key,
    record: await recordOf(ledger, "customers", key),
    quarantined: waiting?.count ?? 0,
    ownQuarantine: [...quarantine(ledger, { record: { stream: "customers", key }, limit: 1 })][0] ?? null,
    openOperations,
    holds: [...(await holds(ledger, { customer: key, states: kept })), ...(await heldElsewhere(ledger, key, own))],
  };
}

async function heldElsewhere(
  ledger: ReadOnlyLedger,
  key: RecordKey,
  own: readonly OperationFacts[],
): Promise<HoldFacts[]> {
  const ids = own.flatMap(({ customer, questionId }) =>
    questionId !== null && !isSameKey(customer, key) ? [questionId] : [],
  );
  const found = await Promise.all([...new Set(ids)].map((id) => holds(ledger, { id, states: kept })));
  return found.flat();
}

/** Audit entries about the record and its requests, and entries about its customer that name it. */
async function auditOf(
  ledger: ReadOnlyLedger,
  stream: Stream,
  key: RecordKey,
  customer: RecordKey | null,
): Promise<ExplainFacts["audit"]> {
  const about = { customers: {}, staff: { about: formatKey(key) }, orders: undefined }[stream];
  const asked = customer === null || about === undefined ? [] : await requestSubjects(ledger, customer, about);
  const own = [subjectOf(stream, key), ...asked];
  const shared =
    customer === null || stream === "customers"
      ? []
      : [`customer:${formatKey(customer)}`, `staff-of:${formatKey(customer)}`];
  const quoted = JSON.stringify(formatKey(key));
  const member = stream === "staff" ? "staff" : "order";
  const named = `"${member}":${JSON.stringify({ id: key.id, namespace: key.namespace })}`;
  const query = ledger.db
    .selectFrom("audit")
    .where((where) =>
      where.or([
        where("subject", "in", own),
        ...shared.map((subject) =>
          where.and([
            where("subject", "=", subject),
            where.or([sql<boolean>`instr(body, ${quoted}) > 0`, sql<boolean>`instr(body, ${named}) > 0`]),
          ]),
        ),
      ]),
    );
  const counted = await query.select(sql<number>`count(*)`.as("total")).executeTakeFirst();
  const rows = await query
    .select(["sequence", "at", "kind", "subject", "body", "hash"])
    .orderBy("sequence", "desc")
    .limit(most.audit)
    .execute();
  return {
    total: counted?.total ?? 0,
    newest: rows.map(({ body, ...row }) => ({ ...row, body: stored<JsonObject>(body) })),
  };
}

async function requestSubjects(
  { db }: ReadOnlyLedger,
  customer: RecordKey,
  { about }: { about?: string },
): Promise<string[]> {
  const rows = await db
    .selectFrom("manual_request")
    .select(["of", "about"])
    .where("customer_namespace", "=", customer.namespace)
    .where("customer_id", "=", customer.id)
    .$if(about !== undefined, (query) => query.where("about", "=", about ?? ""))
    .execute();
  return [
    ...new Set(rows.flatMap(({ of, about }) => (isRequestOf(of) ? [requestSubject(customer, { of, about })] : []))),
  ];
}

async function dependentsOf(ledger: ReadOnlyLedger, customer: RecordKey): Promise<ExplainFacts["dependents"]> {
  return await ledger.db
    .selectFrom("record")
    .select(["stream", "state", "deferred_code as code", sql<number>`count(*)`.as("count")])
    .where("customer_namespace", "=", customer.namespace)
    .where("customer_id", "=", customer.id)
    .where("stream", "<>", "customers")
    .groupBy(["stream", "state", "deferred_code"])
    .orderBy("stream")
    .orderBy("state")
    .orderBy("deferred_code")
    .execute();
}

async function waitingOf(ledger: ReadOnlyLedger, customer: RecordKey): Promise<RecordFacts[]> {
  const rows = await ledger.db
    .selectFrom("record")
    .selectAll()
    .where("customer_namespace", "=", customer.namespace)
    .where("customer_id", "=", customer.id)
    .where("stream", "<>", "customers")
    .where((where) => where.or([where("deferred_code", "is not", null), where("state", "=", "quarantined")]))
    .orderBy("stream")
    .orderBy("namespace")
    .orderBy("id")
    .limit(most.waiting)
    .execute();
  return rows.map(recordFacts);
}

async function unusableOf(ledger: ReadOnlyLedger, customer: RecordKey): Promise<QuarantineFacts[]> {
  const rows = new Map<string, QuarantineFacts>();
  const keep = (filter: QuarantineFilter): void => {
    for (const row of quarantine(ledger, { ...filter, limit: most.waiting }))
      if (row.stream !== "customers") rows.set(row.id, row);
  };
  keep({ customer });
  for (const { stream, key, state } of await waitingOf(ledger, customer))
    if (state === "quarantined") keep({ record: { stream, key } });
  return [...rows.values()].slice(0, most.waiting);
}

/** Records that the person may have meant: whatever else is found by the id. */
async function similarTo(ledger: ReadOnlyLedger, stream: Stream, key: RecordKey): Promise<ExplainFacts["similar"]> {
  const found = new Map<string, ExplainFacts["similar"][number]>();
  for (const one of streams)
    for (const { key: other } of await find(ledger, one, key.id))
      if (one !== stream || !isSameKey(other, key))
        found.set(`${one} ${formatKey(other)}`, { stream: one, key: other });
  const sorted = [...found].sort(([one], [other]) => (one < other ? -1 : 1));
  return sorted.map(([, item]) => item).slice(0, most.similar);
}

/**
 * A record's body as a flat list, such as `instances[P1].nodes`. Elements are named by id, by parent id and code, or by
 * position. Private values are markers in the ledger and are only named.
 */
function fieldsOf(body: JsonObject): FieldFacts[] {
  const fields: FieldFacts[] = [];
  const visit = (name: string, value: Json): void => {
    if (isCommitment(value)) {
      fields.push({ name, private: true, mark: value.commitment });
    } else if (Array.isArray(value)) {
      value.forEach((item, index) => visit(`${name}[${elementName(item, index)}]`, item));
    } else if (isJsonObject(value)) {
      for (const key of Object.keys(value).sort()) visit(name === "" ? key : `${name}.${key}`, value[key] ?? null);
    } else {
      fields.push({ name, value });
    }
  };
  visit("", body);
  return fields;
}

function elementName(item: Json, index: number): string {
  if (!isJsonObject(item)) return String(index);
  const { id, code, parentId } = item;
  if (typeof id === "string") return id;
  if (typeof code !== "string") return String(index);
  return typeof parentId === "string" ? `${parentId}/${code}` : code;
}

function changedFields(before: readonly FieldFacts[], after: readonly FieldFacts[]): string[] {
  const left = new Map(before.map((field) => [field.name, textOf(field)]));
  const right = new Map(after.map((field) => [field.name, textOf(field)]));
  return [...new Set([...left.keys(), ...right.keys()])].filter((name) => left.get(name) !== right.get(name)).sort();
}

function textOf(field: FieldFacts): string {
  return "private" in field ? `private ${field.mark}` : JSON.stringify(field.value);
}
