import { sql } from "kysely";
import { isJsonObject, type Json } from "../base/canonical-json.ts";
import { endpoints } from "../contract/endpoints.ts";
import { formatKey, subjectOf } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import { stored } from "../ledger/database/damage.ts";
import {
  repeatedIn,
  textsIn,
  keptOfOthers,
  mentionsIn,
  shownSubject,
  tellingTexts,
  type KeptOfOthers,
} from "../ledger/private/erased-texts.ts";
import { leftToPeopleBeside } from "../ledger/private/places.ts";
import { isPrivateMarker, passwordRefsBegin } from "../engine/model/references.ts";
import { subjectOf as rowSubject } from "../report/reconciliation/case.ts";
import type { SubjectFacts } from "../report/subject.ts";
import { recordOf } from "./find.ts";
import type { ReadOnlyLedger } from "./read-only-ledger.ts";

type SubjectStream = "staff" | "customers";

/**
 * Everything kept about a person, with private values; a person must ask for it by name. Records of others that mention
 * the person are only named.
 */
export async function subject(ledger: ReadOnlyLedger, stream: SubjectStream, key: RecordKey): Promise<SubjectFacts> {
  const accounts = stream === "staff" ? await accountsOf(ledger, key) : await enterprisesOf(ledger, key);
  const record = await recordOf(ledger, stream, key);
  const { operations, subjects } = await operationsOf(ledger, stream, key);
  const versions = await versionsOf(ledger, stream, key);
  const quarantined = await quarantineOf(ledger, stream, key);
  const rows = quarantined.map(({ id }) => `quarantine/${id}`);
  const own = [`raw:${stream}/${formatKey(key)}`, `${stream}/${formatKey(key)}`, ...rows];
  const mentions = mentionsOf(ledger, versions).filter(({ ref }) => !own.includes(ref));
  return {
    subject: subjectOf(stream, key),
    record: record && {
      source: record.source,
      state: record.state,
      customer: record.customer,
      firstSeen: record.firstSeen,
      changedAt: record.changedAt,
    },
    versions,
    quarantine: quarantined,
    mentions,
    repeated: repeatedOf(ledger, versions, [record?.customer ?? key, ...accounts.map(({ customer }) => customer)]),
    beside: leftToPeopleBeside,
    operations,
    accounts,
    observed: await observedOf(ledger, stream, accounts),
    differences: stream === "staff" ? await differencesOf(ledger, key, accounts) : [],
    assignments: stream === "staff" ? await assignmentsOf(ledger, key) : [],
    passwords: stream === "staff" ? await passwordsOf(ledger, key) : [],
    audit: await auditOf(ledger, subjectOf(stream, key), {
      customer: record?.customer ?? key,
      subjects,
      shown: [...rows, ...mentions.map(({ ref }) => ref)].map(shownSubject),
      operations: new Set(operations.map(({ id }) => id)),
    }),
  };
}

function mentionsOf(ledger: ReadOnlyLedger, versions: SubjectFacts["versions"]): SubjectFacts["mentions"] {
  const texts = tellingTexts(versions.map(({ values }) => JSON.stringify(values)));
  const rows = ledger.rows(sql.raw<KeptOfOthers>(keptOfOthers));
  return mentionsIn(rows, texts).map(({ ref, version }) => ({ ref, version }));
}

function repeatedOf(
  ledger: ReadOnlyLedger,
  versions: SubjectFacts["versions"],
  customers: readonly RecordKey[],
): SubjectFacts["repeated"] {
  const texts = textsIn(versions.map(({ values }) => values));
  const each = [...new Map(customers.map((one) => [formatKey(one), one])).values()];
  return ledger.reading((database) => repeatedIn(database, each, texts));
}

async function versionsOf(
  { db }: ReadOnlyLedger,
  stream: SubjectStream,
  key: RecordKey,
): Promise<SubjectFacts["versions"]> {
  const ref = `${stream}/${formatKey(key)}`;
  const rows = await db
    .selectFrom("record_version as v")
    .leftJoin("private_value as p", (join) => join.on("p.ref", "=", ref).onRef("p.version", "=", "v.version"))
    .leftJoin("private_value as r", (join) => join.on("r.ref", "=", `raw:${ref}`).onRef("r.version", "=", "v.version"))
    .select(["v.version", "v.from_at", "v.to_at", "v.source", "v.place", "p.body", "p.wiped_at", "r.body as raw"])
    .where("v.stream", "=", stream)
    .where("v.namespace", "=", key.namespace)
    .where("v.id", "=", key.id)
    .orderBy("v.version")
    .execute();
  return rows.map(({ version, from_at: from, to_at: to, source, place, body, wiped_at: wipedAt, raw }) => ({
    version,
    from,
    to,
    source,
    place,
    values: body === null ? {} : stored<Record<string, Json>>(body, "private_value"),
    erasedAt: body === null ? wipedAt : null,
    raw,
  }));
}

async function quarantineOf(
  { db }: ReadOnlyLedger,
  stream: SubjectStream,
  key: RecordKey,
): Promise<SubjectFacts["quarantine"]> {
  return await db
    .selectFrom("quarantine as q")
    .leftJoin("private_value as p", (join) => join.onRef("p.ref", "=", "q.raw_ref").on("p.version", "=", 1))
    .select(["q.id", "q.source", "q.place", "q.field", "q.code", "q.first_seen as firstSeen"])
    .select(["q.resolved_at as resolvedAt", "p.body as raw"])
    .where("q.stream", "=", stream)
    .where("q.namespace", "=", key.namespace)
    .where("q.record_id", "=", key.id)
    .orderBy("q.first_seen")
    .orderBy("q.id")
    .execute();
}

async function operationsOf(
  { db }: ReadOnlyLedger,
  stream: SubjectStream,
  key: RecordKey,
): Promise<{ operations: SubjectFacts["operations"]; subjects: string[] }> {
  const ref = `${stream}/${formatKey(key)}`;
  const rows = await db
    .selectFrom("operation_record as r")
    .innerJoin("operation as o", "o.id", "r.operation_id")
    .select(["o.id", "o.kind", "o.endpoint", "o.subject", "o.state", "o.payload"])
    .select(["o.customer_namespace as namespace", "o.customer_id"])
    .where("r.stream", "=", stream)
    .where("r.namespace", "=", key.namespace)
    .where("r.record_id", "=", key.id)
    .orderBy("o.created_at")
    .orderBy("o.id")
    .execute();
  const operations: SubjectFacts["operations"] = [];
  for (const { id, kind, endpoint, state, payload, namespace, customer_id: customer } of rows) {
    const attempts = await db
      .selectFrom("attempt")
      .select(["started_at as at", "outcome"])
      .where("operation_id", "=", id)
      .orderBy("number")
      .execute();
    operations.push({
      id,
      kind,
      endpoint,
      service: endpoints[endpoint].service,
      customer: { namespace, id: customer },
      state,
      fields: fieldsIn(stored<Json>(payload), ref),
      attempts,
    });
  }
  return { operations, subjects: rows.map((row) => row.subject) };
}

function fieldsIn(payload: Json, ref: string): { field: string; version: number }[] {
  const found = new Map<string, { field: string; version: number }>();
  const visit = (value: Json): void => {
    if (isPrivateMarker(value)) {
      const { field, version } = value;
      if (value.$private === ref) found.set(`${field}@${version}`, { field, version });
    } else if (Array.isArray(value)) value.forEach(visit);
    else if (isJsonObject(value)) for (const item of Object.values(value)) visit(item ?? null);
  };
  visit(payload);
  return [...found.values()];
}

async function accountsOf({ db }: ReadOnlyLedger, key: RecordKey): Promise<SubjectFacts["accounts"]> {
  const rows = await db
    .selectFrom("staff_link")
    .select(["member_global_id", "enterprise_global_id", "customer_namespace", "customer_id", "origin"])
    .select(["from_at as from", "to_at as to"])
    .where("namespace", "=", key.namespace)
    .where("staff_id", "=", key.id)
    .orderBy("from_at")
    .execute();
  return rows.map(({ member_global_id: id, enterprise_global_id: enterprise, origin, from, to, ...of }) => ({
    id,
    enterprise,
    customer: { namespace: of.customer_namespace, id: of.customer_id },
    origin,
    from,
    to,
  }));
}

async function enterprisesOf({ db }: ReadOnlyLedger, key: RecordKey): Promise<SubjectFacts["accounts"]> {
  const rows = await db
    .selectFrom("link")
    .select(["enterprise_global_id as enterprise", "channel_customer_id as id", "origin"])
    .select(["from_at as from", "to_at as to"])
    .where("namespace", "=", key.namespace)
    .where("customer_id", "=", key.id)
    .orderBy("from_at")
    .execute();
  return rows.map((row) => ({ ...row, customer: key }));
}

async function observedOf(
  { db }: ReadOnlyLedger,
  stream: SubjectStream,
  accounts: SubjectFacts["accounts"],
): Promise<SubjectFacts["observed"]> {
  const kind = stream === "staff" ? "member" : "enterprise";
  const observed: SubjectFacts["observed"] = [];
  const asked = new Map(
    accounts.map(({ id, enterprise, customer }) => {
      const name = stream === "staff" ? id : enterprise;
      return [`${formatKey(customer)} ${name}`, { customer, name }];
    }),
  );
  for (const { customer, name } of asked.values()) {
    const rows = await db
      .selectFrom("observation")
      .select(["kind", "subject as id", "from_at as from", "to_at as to", "seen_at as seenAt", "body"])
      .where("customer_namespace", "=", customer.namespace)
      .where("customer_id", "=", customer.id)
      .where("kind", "=", kind)
      .where("subject", "=", name)
      .orderBy("from_at")
      .execute();
    observed.push(...rows.map((row) => ({ ...row, body: stored<Json>(row.body) })));
  }
  return observed;
}

async function differencesOf(
  { db }: ReadOnlyLedger,
  staff: RecordKey,
  accounts: SubjectFacts["accounts"],
): Promise<SubjectFacts["differences"]> {
  const differences: SubjectFacts["differences"] = [];
  const customers = new Map(accounts.map(({ customer }) => [formatKey(customer), customer]));
  for (const { namespace, id } of customers.values()) {
    const rows = await db
      .selectFrom("difference")
      .select(["class", "detail", "first_seen as from", "ended_at as to"])
      .where("namespace", "=", namespace)
      .where("customer_id", "=", id)
      .where("level", "=", "staff")
      .where("subject", "=", rowSubject({ staff }))
      .orderBy("first_seen")
      .execute();
    differences.push(...rows);
  }
  return differences;
}

async function assignmentsOf({ db }: ReadOnlyLedger, key: RecordKey): Promise<SubjectFacts["assignments"]> {
  const rows = await db
    .selectFrom("assignment")
    .select(["asset_number", "customer_namespace", "customer_id", "origin", "from_at as from", "to_at as to"])
    .where("namespace", "=", key.namespace)
    .where("staff_id", "=", key.id)
    .orderBy("from_at")
    .orderBy("asset_number")
    .execute();
  return rows.map(({ asset_number: assetNumber, customer_namespace: namespace, customer_id: id, ...row }) => ({
    assetNumber,
    customer: { namespace, id },
    ...row,
  }));
}

async function passwordsOf({ db }: ReadOnlyLedger, key: RecordKey): Promise<SubjectFacts["passwords"]> {
  const found: SubjectFacts["passwords"] = [];
  for (const beginning of passwordRefsBegin(key)) {
    const rows = await db
      .selectFrom("private_value")
      .select(["ref as name", "created_at as at", "wiped_at as wipedAt"])
      .where("ref", ">=", beginning)
      .where("ref", "<", `${beginning}\u{10ffff}`)
      .orderBy("ref")
      .orderBy("version")
      .execute();
    found.push(...rows);
  }
  return found;
}

async function auditOf(
  { db }: ReadOnlyLedger,
  own: string,
  of: {
    customer: RecordKey;
    subjects: readonly string[];
    /** Audit subjects of forms and answers that contain its data. */
    shown: readonly string[];
    operations: ReadonlySet<string>;
  },
): Promise<SubjectFacts["audit"]> {
  const customer = subjectOf("customers", of.customer);
  const answers = [...of.operations].map((id) => `operation:${id}`);
  const subjects = [own, customer, ...of.subjects, ...answers, ...of.shown];
  const rows = await db
    .selectFrom("audit")
    .select(["sequence", "at", "kind", "subject"])
    .select(sql<string | null>`body ->> '$.operation'`.as("operation"))
    .where(sql<boolean>`subject in (select value from json_each(${JSON.stringify(subjects)}))`)
    .orderBy("sequence")
    .execute();
  const isAbout = ({ subject: about, kind, operation }: (typeof rows)[number]): boolean => {
    if (about === own || (operation !== null && of.operations.has(operation))) return true;
    if (about === customer) return kind === "erased";
    return kind === "private-shown" && of.shown.includes(about);
  };
  return rows.filter(isAbout).map(({ sequence, at, kind, operation }) => ({ sequence, at, kind, operation }));
}
