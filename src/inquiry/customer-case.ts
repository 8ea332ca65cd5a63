import { sql, type NotNull, type RawBuilder } from "kysely";
import type { JsonObject } from "../base/canonical-json.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey, Staff, Stream } from "../crm/model.ts";
import { stored } from "../ledger/database/damage.ts";
import type { AssignmentCase, CustomerCase, OrderCase, ShownItem, StaffCase } from "../report/reconciliation/case.ts";
import { placedOrdersOf, renewedUnits, stepsOf } from "./placed-orders.ts";
import {
  orderCaseOf,
  sentNumbers,
  standing,
  type FixedNumber,
  type FixedNumbers,
  type RecordRow,
} from "./order-cases.ts";
import { keyOrNull, ofEachCustomer, type ReadOnlyLedger } from "./read-only-ledger.ts";

/** `otherUntil`: the end of the last link with another enterprise. */
const linkOf = ofEachCustomer(({ db }, key) =>
  db
    .selectFrom("link")
    .select(["enterprise_global_id as enterpriseGlobalId", "from_at as at", "origin"])
    .select(
      sql<string | null>`(select max(o.to_at) from link o where o.namespace = link.namespace
        and o.customer_id = link.customer_id and o.enterprise_global_id <> link.enterprise_global_id)`.as("otherUntil"),
    )
    .where("namespace", "=", key.namespace)
    .where("customer_id", "=", key.id)
    .where("to_at", "is", null),
);

const readOf = ofEachCustomer(({ db }, key) =>
  db
    .selectFrom("observation_read")
    .select(["seen_at", "complete", "shown_at"])
    .where("customer_namespace", "=", key.namespace)
    .where("customer_id", "=", key.id),
);

export function customerCase(ledger: ReadOnlyLedger, key: RecordKey): CustomerCase {
  const records = recordsOf(ledger, key);
  const of = (stream: Stream): RecordRow[] => records.filter((row) => row.stream === stream);
  const [own] = of("customers");
  const numbers: FixedNumbers =
    of("orders").length === 0
      ? new Map()
      : Map.groupBy(fixedRows(ledger, key), (row) => JSON.stringify([row.namespace, row.order_id, row.instance_id]));
  const [link] = linkOf(ledger, key);
  const [last] = readOf(ledger, key);
  // An observation of another enterprise says nothing about the linked one.
  const isOfAnother = last !== undefined && (link?.otherUntil ?? "") >= last.seen_at;
  const read = isOfAnother ? undefined : last;
  return {
    key,
    crm: own === undefined ? null : standing(own),
    link: link ?? null,
    read: read === undefined ? null : { seenAt: read.seen_at, complete: read.complete === 1 },
    orders: orderCases(ledger, key, of("orders"), numbers),
    staff: staffCases(ledger, key, of("staff"), numbers),
    assignments: assignmentCases(ledger, key),
    freed: new Map(freedRows(ledger, key).map(({ assetNumber, ...ended }) => [assetNumber, ended])),
    deleted: deletedRows(ledger, key).map(({ namespace, id, ...ended }) => ({ ...ended, staff: { namespace, id } })),
    shown: shownOf(isOfAnother ? [] : shownRows(ledger, key), read?.shown_at ?? ""),
    unusable: unusableOf(ledger, key),
  };
}

function belongsTo(table: string, { namespace, id }: RecordKey): RawBuilder<boolean> {
  const of = sql.table(table);
  return sql<boolean>`${of}.customer_namespace = ${namespace} and ${of}.customer_id = ${id}`;
}

/** A customer's records (orders, staff: newest form) and orders that left it. `union all`: each half uses an index. */
const recordsOf = ofEachCustomer<RecordRow>(({ db }, customer) => {
  const records = db
    .selectFrom("record as r")
    .leftJoin("record_version as v", (join) =>
      join
        .onRef("v.stream", "=", "r.stream")
        .on("r.stream", "<>", sql.lit("customers"))
        .onRef("v.namespace", "=", "r.namespace")
        .onRef("v.id", "=", "r.id")
        .onRef("v.version", "=", "r.version"),
    )
    .select(["r.stream as stream", "r.namespace as namespace", "r.id as id", "r.state"])
    .select(["r.deferred_code", "r.deferred_reason", "v.body", "v.date_zones"]);
  const away = records
    .where("r.stream", "=", sql.lit("orders"))
    .where(
      sql<boolean>`(r.namespace, r.id) in (
        select m.namespace, m.order_id from moved_order m where m.ended_at is null and ${belongsTo("m", customer)})`,
    )
    .where(sql<boolean>`not (${belongsTo("r", customer)})`);
  return records
    .where(belongsTo("r", customer))
    .select(sql.lit(0).as("away"))
    .unionAll(away.select(sql.lit(1).as("away")))
    .orderBy("stream")
    .orderBy("namespace")
    .orderBy("id");
});

const bought = ofEachCustomer<FixedNumber>(({ db }, customer) =>
  db
    .selectFrom("asset_number as n")
    .select(["n.wire_number", "n.unit", "n.namespace", "n.order_id", "n.instance_id"])
    .where("n.fixed_at", "is not", null)
    .where("n.ended_at", "is", null)
    .where("n.customer_namespace", "=", customer.namespace)
    .where("n.customer_id", "=", customer.id)
    .orderBy("n.unit"),
);

/** The asset numbers of a customer's units that have not ended. */
export function fixedRows(ledger: ReadOnlyLedger, customer: RecordKey): FixedNumber[] {
  return [...bought(ledger, customer), ...renewedUnits(ledger, customer)];
}

function orderCases(
  ledger: ReadOnlyLedger,
  customer: RecordKey,
  records: readonly RecordRow[],
  numbers: FixedNumbers,
): OrderCase[] {
  if (records.length === 0) return [];
  const placedOrders = placedOrdersOf(ledger, customer);
  const steps: ReturnType<typeof stepsOf> = placedOrders.size === 0 ? new Map() : stepsOf(ledger, customer);
  return records.map((row) =>
    orderCaseOf(row, customer, { known: placedOrders.get(formatKey(row)), steps: steps.get(formatKey(row)), numbers }),
  );
}

const staffLinks = ofEachCustomer(({ db }, customer) =>
  db
    .selectFrom("staff_link")
    .select(["namespace", "staff_id as id", "member_global_id as memberGlobalId", "from_at as at"])
    .where("customer_namespace", "=", customer.namespace)
    .where("customer_id", "=", customer.id)
    .where("to_at", "is", null),
);

const endedSeats = ofEachCustomer(({ db }, customer) =>
  db
    .selectFrom("record as r")
    .innerJoin("assignment as a", (join) =>
      join.onRef("a.namespace", "=", "r.namespace").onRef("a.staff_id", "=", "r.id").on("a.to_at", "is not", null),
    )
    .leftJoin("asset_number as n", (join) =>
      join.onRef("n.wire_number", "=", "a.asset_number").on("n.fixed_at", "is not", null),
    )
    .select(["a.namespace", "a.staff_id as id", "a.asset_number as number", "n.instance_id as instance"])
    .select(sql<string>`a.to_at`.as("at"))
    .where("r.stream", "=", sql.lit("staff"))
    .where("r.customer_namespace", "=", customer.namespace)
    .where("r.customer_id", "=", customer.id)
    .orderBy("a.to_at"),
);

function endedBySeat(ledger: ReadOnlyLedger, customer: RecordKey): ReadonlyMap<string, string> {
  return new Map(
    endedSeats(ledger, customer).flatMap(({ at, number, instance, ...staff }) =>
      [number, instance].map((what) => [JSON.stringify([formatKey(staff), what]), at] as const),
    ),
  );
}

function staffCases(
  ledger: ReadOnlyLedger,
  customer: RecordKey,
  records: readonly RecordRow[],
  numbers: FixedNumbers,
): StaffCase[] {
  if (records.length === 0) return [];
  const linked = new Map(staffLinks(ledger, customer).map((row) => [formatKey(row), row]));
  const byInstance = Map.groupBy([...numbers.values()].flat(), (row) =>
    JSON.stringify([row.namespace, row.instance_id]),
  );
  let ended: ReadonlyMap<string, string> | undefined;
  return records.map((row) => {
    const member = linked.get(formatKey(row));
    const endedAt = (what: string) => (): string | undefined =>
      (ended ??= endedBySeat(ledger, customer)).get(JSON.stringify([formatKey(row), what]));
    return {
      key: { namespace: row.namespace, id: row.id },
      crm: standing(row),
      member: member === undefined ? null : { memberGlobalId: member.memberGlobalId, at: member.at },
      claims: stored<Pick<Staff, "assets">>(row.body ?? "").assets.map((claim) =>
        "assetNumber" in claim
          ? {
              claim: `asset number ${claim.assetNumber}`,
              numbers: [claim.assetNumber],
              endedAt: endedAt(claim.assetNumber),
            }
          : {
              claim: `asset instance ${claim.instanceId}`,
              numbers: sentNumbers(byInstance.get(JSON.stringify([row.namespace, claim.instanceId]))),
              endedAt: endedAt(claim.instanceId),
            },
      ),
    };
  });
}

const assignmentRows = ofEachCustomer(({ db }, customer) => {
  const licenseType = sql<string | null>`(select json_extract(i.value, '$.licenseType')
    from record r join record_version v using (stream, namespace, id, version), json_each(v.body, '$.instances') i
    where r.stream = 'orders' and r.namespace = n.namespace and r.id = n.order_id
      and json_extract(i.value, '$.id') = n.instance_id)`;
  return db
    .selectFrom("assignment as a")
    .leftJoin("asset_number as n", (join) =>
      join.onRef("n.wire_number", "=", "a.asset_number").on("n.fixed_at", "is not", null),
    )
    .select(["a.asset_number", "a.namespace", "a.staff_id", "a.member_global_id", "a.from_at", "a.operation_id"])
    .select(["n.namespace as order_namespace", "n.order_id", licenseType.as("license_type")])
    .where("a.customer_namespace", "=", customer.namespace)
    .where("a.customer_id", "=", customer.id)
    .where("a.to_at", "is", null)
    .orderBy("a.asset_number");
});

const freedRows = ofEachCustomer(({ db }, customer) =>
  db
    .selectFrom("asset_number as n")
    .innerJoin("assignment as a", "a.asset_number", "n.wire_number")
    .select(["a.asset_number as assetNumber", "a.member_global_id as memberGlobalId"])
    .select(sql<string>`coalesce(a.to_at, '')`.as("at"))
    .where("n.customer_namespace", "=", customer.namespace)
    .where("n.customer_id", "=", customer.id)
    .where("n.fixed_at", "is not", null)
    .where("n.ended_at", "is", null)
    .where("a.ended_by", "is not", null)
    .where(
      sql<boolean>`not exists (select 1 from assignment l where l.asset_number = a.asset_number and l.to_at is null)`,
    )
    .orderBy("a.to_at"),
);

const deletedRows = ofEachCustomer(({ db }, { namespace, id }) =>
  db
    .selectFrom("staff_link as s")
    .select(["s.namespace", "s.staff_id as id", "s.member_global_id as memberGlobalId"])
    .select(sql<string>`coalesce(s.to_at, '')`.as("at"))
    .where("s.customer_namespace", "=", namespace)
    .where("s.customer_id", "=", id)
    .where("s.to_at", "is not", null)
    .where("s.ended_by", "is not", null)
    .where(
      sql<boolean>`not exists (select 1 from staff_link l where l.member_global_id = s.member_global_id
        and l.to_at is null)`,
    ),
);

function assignmentCases(ledger: ReadOnlyLedger, customer: RecordKey): AssignmentCase[] {
  return assignmentRows(ledger, customer).map(({ order_namespace: namespace, order_id: id, ...row }) => ({
    assetNumber: row.asset_number,
    staff: { namespace: row.namespace, id: row.staff_id },
    memberGlobalId: row.member_global_id,
    at: row.from_at,
    operationId: row.operation_id,
    order: keyOrNull(namespace, id),
    licenseType: row.license_type,
  }));
}

const shownRows = ofEachCustomer(({ db }, customer) =>
  db
    .selectFrom("observation")
    .select(["kind", "subject", "seen_at", "body"])
    .where("customer_namespace", "=", customer.namespace)
    .where("customer_id", "=", customer.id)
    .where("to_at", "is", null)
    .orderBy("kind")
    .orderBy("subject"),
);

/** Current observations. `shownAt`: the last complete reading, which confirms all rows without writing them. */
function shownOf(
  rows: readonly Record<"kind" | "subject" | "seen_at" | "body", string>[],
  shownAt: string,
): CustomerCase["shown"] {
  const byKind = Map.groupBy(rows, (row) => row.kind);
  const of = (kind: string): Map<string, ShownItem> =>
    new Map(
      byKind
        .get(kind)
        ?.map(({ subject, seen_at: seenAt, body }) => [
          subject,
          { seenAt: seenAt > shownAt ? seenAt : shownAt, body: stored<JsonObject>(body) },
        ]),
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

const levelOf = { customers: "enterprise", orders: "order", staff: "staff" } as const;

/** Records in quarantine that were never usable. Without a readable id or customer they are only in the exceptions. */
const unusableRows = ofEachCustomer(({ db }, customer) =>
  db
    .selectFrom("quarantine as q")
    .select(["q.stream", "q.namespace", "q.record_id as id", "q.code", "q.message"])
    .where("q.customer_namespace", "=", customer.namespace)
    .where("q.customer_id", "=", customer.id)
    .where("q.state", "<>", sql.lit("resolved"))
    .where("q.record_id", "is not", null)
    .where(
      sql<boolean>`not exists (select 1 from record r
        where r.stream = q.stream and r.namespace = q.namespace and r.id = q.record_id)`,
    )
    .orderBy("q.stream")
    .orderBy("q.namespace")
    .orderBy("q.record_id")
    .orderBy("q.id")
    .$narrowType<{ namespace: NotNull; id: NotNull }>(),
);

function unusableOf(ledger: ReadOnlyLedger, customer: RecordKey): CustomerCase["unusable"] {
  return unusableRows(ledger, customer).map(({ stream, namespace, id, code, message }) => ({
    level: levelOf[stream],
    key: { namespace, id },
    code,
    message,
  }));
}
