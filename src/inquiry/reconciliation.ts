import { sql } from "kysely";
import type { JsonObject } from "../base/canonical-json.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey, Stream } from "../crm/model.ts";
import type { DesiredStaff } from "../operation/desired.ts";
import type {
  AssignmentCase,
  CustomerCase,
  ReconciliationView,
  ShownItem,
  StaffCase,
} from "../report/reconciliation-facts.ts";
import { numbersOf, orderCases, standing } from "./order-cases.ts";
import type { FixedNumbers, RecordRow } from "./order-cases.ts";
import type { ReadOnlyLedger } from "./read-only-ledger.ts";
import { stored } from "../ledger/database/stored.ts";

/** Every customer that the CRM, the ledger or the quarantine names, in key order, one after the other. */
export async function* customerCases(ledger: ReadOnlyLedger): AsyncGenerator<CustomerCase, void, void> {
  const query = sql<{ namespace: string; id: string }>`
    select customer_namespace as namespace, customer_id as id from record
    union select namespace, customer_id from link where to_at is null
    union select customer_namespace, customer_id from quarantine where state <> 'resolved' and customer_id is not null
    order by 1, 2`;
  for (const key of ledger.rows({ compile: () => query.compile(ledger.db) })) yield await customerCase(ledger, key);
}

/** What is the same for all customers of one state of the ledger. */
export async function reconciliationView(ledger: ReadOnlyLedger): Promise<ReconciliationView> {
  const types = await sql<{ type: string }>`
    select distinct json_extract(body, '$.licenseType') as type from observation where kind = 'product'
      and json_extract(body, '$.licenseType') is not null
    union select license_type from shown_licence_type where shown_by = 'product'`.execute(ledger.db);
  return { visibleTypes: new Set(types.rows.map((row) => row.type)), asOf: await asOf(ledger) };
}

/** The newest instant at which the ledger learned something. */
export async function asOf(ledger: ReadOnlyLedger): Promise<string | null> {
  const { rows } = await sql<{ at: string | null }>`
    select max(at) as at from (select at from (select at from audit order by sequence desc limit 1) union all select max(seen_at) from observation_read)`.execute(
    ledger.db,
  );
  return rows[0]?.at ?? null;
}

async function customerCase(ledger: ReadOnlyLedger, key: RecordKey): Promise<CustomerCase> {
  const numbers = await numbersOf(ledger, key);
  const records = await recordsOf(ledger, key);
  const own = records.find((row) => row.stream === "customers");
  const link = await ledger.db
    .selectFrom("link")
    .selectAll()
    .where("namespace", "=", key.namespace)
    .where("customer_id", "=", key.id)
    .where("to_at", "is", null)
    .executeTakeFirst();
  const read = await ledger.db
    .selectFrom("observation_read")
    .select(["seen_at", "complete"])
    .where("customer_namespace", "=", key.namespace)
    .where("customer_id", "=", key.id)
    .executeTakeFirst();
  return {
    key,
    crm: own === undefined ? null : standing(own),
    link:
      link === undefined
        ? null
        : { enterpriseGlobalId: link.enterprise_global_id, at: link.from_at, origin: link.origin },
    read: read === undefined ? null : { seenAt: read.seen_at, complete: read.complete === 1 },
    orders: await orderCases(
      ledger,
      key,
      records.filter((row) => row.stream === "orders"),
      numbers,
    ),
    staff: await staffCases(
      ledger,
      key,
      records.filter((row) => row.stream === "staff"),
      numbers,
    ),
    assignments: await assignmentCases(ledger, key),
    shown: await shownOf(ledger, key),
    unusable: await unusableOf(ledger, key),
  };
}

/** The newest form of every record of a customer. */
async function recordsOf(ledger: ReadOnlyLedger, customer: RecordKey): Promise<RecordRow[]> {
  return await ledger.db
    .selectFrom("record as r")
    .innerJoin("record_version as v", (join) =>
      join
        .onRef("v.stream", "=", "r.stream")
        .onRef("v.namespace", "=", "r.namespace")
        .onRef("v.id", "=", "r.id")
        .onRef("v.version", "=", "r.version"),
    )
    .select(["r.stream", "r.namespace", "r.id", "r.state", "r.deferred_reason", "v.body"])
    .where("r.customer_namespace", "=", customer.namespace)
    .where("r.customer_id", "=", customer.id)
    .orderBy("r.stream")
    .orderBy("r.namespace")
    .orderBy("r.id")
    .execute();
}

async function staffCases(
  ledger: ReadOnlyLedger,
  customer: RecordKey,
  records: readonly RecordRow[],
  numbers: FixedNumbers,
): Promise<StaffCase[]> {
  const links = await ledger.db
    .selectFrom("staff_link")
    .select(["namespace", "staff_id", "member_global_id", "from_at"])
    .where("customer_namespace", "=", customer.namespace)
    .where("customer_id", "=", customer.id)
    .where("to_at", "is", null)
    .execute();
  const linked = new Map(links.map((row) => [formatKey({ namespace: row.namespace, id: row.staff_id }), row]));
  const byInstance = new Map<string, string[]>();
  for (const [key, fixed] of numbers) {
    const [namespace, , instance] = stored<string[]>(key);
    const name = JSON.stringify([namespace, instance]);
    byInstance.set(name, [
      ...(byInstance.get(name) ?? []),
      ...fixed.flatMap((item) => (item.wire_number === null ? [] : [item.wire_number])),
    ]);
  }
  return records.map((row) => {
    const key = { namespace: row.namespace, id: row.id };
    const member = linked.get(formatKey(key));
    return {
      key,
      crm: standing(row),
      member: member === undefined ? null : { memberGlobalId: member.member_global_id, at: member.from_at },
      claims: stored<DesiredStaff>(row.body).assets.map((claim) =>
        "assetNumber" in claim
          ? { claim: `asset number ${claim.assetNumber}`, numbers: [claim.assetNumber] }
          : {
              claim: `asset instance ${claim.instanceId}`,
              numbers: byInstance.get(JSON.stringify([key.namespace, claim.instanceId])) ?? [],
            },
      ),
    };
  });
}

async function assignmentCases(ledger: ReadOnlyLedger, customer: RecordKey): Promise<AssignmentCase[]> {
  const { rows } = await sql<{
    asset_number: string;
    namespace: string;
    staff_id: string;
    member_global_id: string;
    from_at: string;
    operation_id: string | null;
    order_namespace: string | null;
    order_id: string | null;
    license_type: string | null;
  }>`
    select a.asset_number, a.namespace, a.staff_id, a.member_global_id, a.from_at, a.operation_id, n.namespace as order_namespace, n.order_id,
      (select json_extract(i.value, '$.licenseType') from record r
        join record_version v on v.stream = r.stream and v.namespace = r.namespace and v.id = r.id and v.version = r.version,
        json_each(v.body, '$.instances') i
        where r.stream = 'orders' and r.namespace = n.namespace and r.id = n.order_id and json_extract(i.value, '$.id') = n.instance_id) as license_type
    from assignment a left join asset_number n on n.wire_number = a.asset_number and n.fixed_at is not null
    where a.customer_namespace = ${customer.namespace} and a.customer_id = ${customer.id} and a.to_at is null
    order by a.asset_number`.execute(ledger.db);
  return rows.map((row) => ({
    assetNumber: row.asset_number,
    staff: { namespace: row.namespace, id: row.staff_id },
    memberGlobalId: row.member_global_id,
    at: row.from_at,
    operationId: row.operation_id,
    order:
      row.order_namespace === null || row.order_id === null
        ? null
        : { namespace: row.order_namespace, id: row.order_id },
    licenseType: row.license_type,
  }));
}

async function shownOf(ledger: ReadOnlyLedger, customer: RecordKey): Promise<CustomerCase["shown"]> {
  const rows = await ledger.db
    .selectFrom("observation")
    .select(["kind", "subject", "seen_at", "body"])
    .where("customer_namespace", "=", customer.namespace)
    .where("customer_id", "=", customer.id)
    .where("to_at", "is", null)
    .orderBy("kind")
    .orderBy("subject")
    .execute();
  const of = (kind: string): Map<string, ShownItem> =>
    new Map(
      rows
        .filter((row) => row.kind === kind)
        .map((row) => [row.subject, { seenAt: row.seen_at, body: stored<JsonObject>(row.body) }]),
    );
  return {
    enterprises: of("enterprise"),
    assets: of("asset"),
    products: of("product"),
    packages: of("package"),
    members: of("member"),
    twice: of("twice"),
  };
}

const levelOf: Record<Stream, CustomerCase["unusable"][number]["level"]> = {
  customers: "enterprise",
  orders: "order",
  staff: "staff",
};

/**
 * Records in quarantine that never had a usable form. Those whose id or customer could not be read stand in the
 * exceptions only.
 */
async function unusableOf(ledger: ReadOnlyLedger, customer: RecordKey): Promise<CustomerCase["unusable"]> {
  const { rows } = await sql<{ stream: Stream; namespace: string; record_id: string; message: string }>`
    select q.stream, q.namespace, q.record_id, q.message from quarantine q
    where q.customer_namespace = ${customer.namespace} and q.customer_id = ${customer.id} and q.state <> 'resolved' and q.record_id is not null
      and not exists (select 1 from record r where r.stream = q.stream and r.namespace = q.namespace and r.id = q.record_id)
    order by q.stream, q.namespace, q.record_id, q.id`.execute(ledger.db);
  return rows.map((row) => ({
    level: levelOf[row.stream],
    key: { namespace: row.namespace, id: row.record_id },
    message: row.message,
  }));
}
