import { sql } from "kysely";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import { isSameKey } from "../engine/model/state.ts";
import { ofEachCustomer, type ReadOnlyLedger } from "./read-only-ledger.ts";
import type { LicenceOrderTable } from "../resources/order/state/placed-order-rows.ts";
import type { PlacedCase } from "../report/reconciliation/case.ts";
import { stepOf } from "../resources/order/state/order-step-rows.ts";
import type { OrderStep } from "../resources/order/state/changes.ts";
import type { ExplainFacts } from "../report/explain.ts";

type Db = ReadOnlyLedger["db"];

/** Steps of placed orders, oldest first, without those that a restored ledger forgot. */
function steps(db: Db) {
  return db.selectFrom("order_step as s").selectAll("s").where("s.forgotten_at", "is", null).orderBy("s.number");
}

/** With the form that each step was made from; a removal has the CRM's form of its time. */
function stepsWithForms(db: Db) {
  return steps(db)
    .leftJoin("record_version as v", (join) =>
      join
        .on("v.stream", "=", "orders")
        .onRef("v.namespace", "=", "s.namespace")
        .onRef("v.id", "=", "s.order_id")
        .on(
          "v.version",
          "=",
          sql<number>`coalesce(s.version, (select max(w.version) from record_version w
            where w.stream = 'orders' and w.namespace = s.namespace and w.id = s.order_id and w.from_at <= s.at))`,
        ),
    )
    .select(["v.version as form_version", "v.body", "v.date_zones"]);
}

export const orderSteps = ofEachCustomer(({ db }, order) =>
  steps(db).where("s.namespace", "=", order.namespace).where("s.order_id", "=", order.id),
);

export const orderStepsWithForms = ofEachCustomer(({ db }, order) =>
  stepsWithForms(db).where("s.namespace", "=", order.namespace).where("s.order_id", "=", order.id),
);

const ofCustomer = ofEachCustomer(({ db }, customer) =>
  stepsWithForms(db)
    .leftJoin("operation as o", "o.id", "s.operation_id")
    .select("o.payload")
    .where("s.customer_namespace", "=", customer.namespace)
    .where("s.customer_id", "=", customer.id),
);

export type StepRow = ReturnType<typeof ofCustomer>[number];

export function stepsOf(ledger: ReadOnlyLedger, customer: RecordKey): ReadonlyMap<string, readonly StepRow[]> {
  return Map.groupBy(ofCustomer(ledger, customer), (row) => formatKey({ namespace: row.namespace, id: row.order_id }));
}

interface ShownProduct {
  id: string;
  number: string;
  licenseOrderId: string | null;
}

const productsOf = ofEachCustomer(({ db }, customer) => {
  const id = sql<string>`json_extract(body, '$.crmProductId')`;
  return db
    .selectFrom("observation")
    .select([
      id.as("id"),
      sql<string>`substr(subject, 1, length(subject) - length(${id}) - 1)`.as("number"),
      sql<string | null>`json_extract(body, '$.licenseOrderId')`.as("licenseOrderId"),
      sql<string | null>`json_extract(body, '$.channelOrderId')`.as("channelOrderId"),
    ])
    .where("customer_namespace", "=", customer.namespace)
    .where("customer_id", "=", customer.id)
    .where("kind", "=", "product")
    .where("to_at", "is", null)
    .where(id, "is not", null)
    .orderBy("subject");
});

export function shownProducts(ledger: ReadOnlyLedger, customer: RecordKey, channelOrderId: string): ShownProduct[] {
  return productsOf(ledger, customer).filter((product) => product.channelOrderId === channelOrderId);
}

/** Units of a customer's orders that continue the numbers of earlier units. */
export const renewedUnits = ofEachCustomer(({ db }, customer) =>
  db
    .selectFrom("order_step as s")
    .innerJoin(sql<{ value: string }>`json_each(s.items)`.as("i"), (join) => join.onTrue())
    .innerJoin("asset_number as n", (join) => join.on(sql<boolean>`n.wire_number = i.value ->> 'number'`))
    .select(["n.wire_number", "s.namespace", "s.order_id"])
    .select(sql<number>`i.value ->> 'unit'`.as("unit"))
    .select(sql<string>`i.value ->> 'instanceId'`.as("instance_id"))
    .distinct()
    .where("s.customer_namespace", "=", customer.namespace)
    .where("s.customer_id", "=", customer.id)
    .where("s.forgotten_at", "is", null)
    .where("s.kind", "=", sql.lit("bought"))
    .where(sql<boolean>`i.value ->> 'continues' is not null`)
    .where("n.fixed_at", "is not", null)
    .where("n.ended_at", "is", null)
    .orderBy("unit"),
);

export async function renewedNumbers({ db }: ReadOnlyLedger, order: RecordKey) {
  return await db
    .selectFrom("order_step as s")
    .innerJoin(sql<{ value: string }>`json_each(s.items)`.as("i"), (join) => join.onTrue())
    .innerJoin("asset_number as n", (join) => join.on(sql<boolean>`n.wire_number = i.value ->> 'number'`))
    .select(["n.origin", "s.at as fixedAt", "n.ended_at as endedAt"])
    .select(["n.customer_namespace", "n.customer_id"])
    .select(sql<string>`i.value ->> 'number'`.as("number"))
    .select(sql<string>`i.value ->> 'instanceId'`.as("instanceId"))
    .select(sql<number>`i.value ->> 'unit'`.as("slot"))
    .where("s.namespace", "=", order.namespace)
    .where("s.order_id", "=", order.id)
    .where("s.forgotten_at", "is", null)
    .where("s.kind", "=", "bought")
    .where(sql<boolean>`i.value ->> 'continues' is not null`)
    .where("n.fixed_at", "is not", null)
    .orderBy("s.number")
    .execute();
}

export interface PlacedForm {
  placed: PlacedCase;
  /** The customer it was placed for, if that is another one. */
  placedFor: RecordKey | undefined;
  body: string | null;
  zones: string | null;
  payload: string | null;
  shownNumbers: ReadonlyMap<string, readonly string[]>;
}

/** Orders of a customer, and orders that left it and may be there in part. `union all`: each half uses an index. */
const placedRows = ofEachCustomer(({ db }, { namespace, id }) => {
  const placed = db
    .selectFrom("placed_order as p")
    .leftJoin("operation as o", "o.id", "p.operation_id")
    .leftJoin("record_version as v", (join) =>
      join
        .on("v.stream", "=", "orders")
        .onRef("v.namespace", "=", "p.namespace")
        .onRef("v.id", "=", "p.order_id")
        .onRef("v.version", "=", "p.version"),
    )
    .select(["p.namespace", "p.order_id as id", "p.from_at", "p.origin", "p.channel_order_id", "p.operation_id"])
    .select(["o.payload", "v.body", "v.date_zones"])
    .select((of) => of.fn.coalesce("p.placed_for_namespace", "p.customer_namespace").as("placedForNamespace"))
    .select((of) => of.fn.coalesce("p.placed_for_id", "p.customer_id").as("placedForId"))
    .where("p.to_at", "is", null);
  const standsFor = sql<boolean>`p.customer_namespace = ${namespace} and p.customer_id = ${id}`;
  const moved = sql<boolean>`(p.namespace, p.order_id) in (
    select m.namespace, m.order_id from moved_order m
    where m.ended_at is null and m.customer_namespace = ${namespace} and m.customer_id = ${id})`;
  return placed.where(standsFor).unionAll(placed.where(moved).where(sql<boolean>`not (${standsFor})`));
});

type LicenceRow = RecordKey & Pick<LicenceOrderTable, "license_type" | "license_order_id">;

const licenceRows = ofEachCustomer<LicenceRow>(
  (_ledger, customer) => sql<LicenceRow>`select l.namespace, l.order_id as id, l.license_type, l.license_order_id from (
        select p.namespace, p.order_id from placed_order p
        where p.to_at is null and p.customer_namespace = ${customer.namespace} and p.customer_id = ${customer.id}
        union select m.namespace, m.order_id from moved_order m
        where m.ended_at is null and m.customer_namespace = ${customer.namespace} and m.customer_id = ${customer.id}
      ) o cross join licence_order l on l.namespace = o.namespace and l.order_id = o.order_id
      order by l.sequence`,
);

export function placedOrdersOf(ledger: ReadOnlyLedger, customer: RecordKey): ReadonlyMap<string, PlacedForm> {
  const rows = placedRows(ledger, customer);
  const placed = new Map<string, PlacedForm>();
  if (rows.length === 0) return placed;
  const licencesOf = Map.groupBy(licenceRows(ledger, customer), formatKey);
  for (const row of rows)
    placed.set(formatKey(row), placedOrder(ledger, customer, row, licencesOf.get(formatKey(row)) ?? []));
  return placed;
}

type PlacedRow = ReturnType<typeof placedRows>[number];

function placedOrder(
  ledger: ReadOnlyLedger,
  customer: RecordKey,
  row: PlacedRow,
  licences: Parameters<typeof byType>[0],
): PlacedForm {
  const { origin, channel_order_id: channelOrderId, body, payload } = row;
  const shown = origin === "adopted" ? shownProducts(ledger, customer, channelOrderId) : [];
  const byProduct = Map.groupBy(shown, (product) => product.id);
  const placedFor = { namespace: row.placedForNamespace, id: row.placedForId };
  return {
    placedFor: isSameKey(placedFor, customer) ? undefined : placedFor,
    placed: {
      at: row.from_at,
      origin,
      channelOrderId,
      operationId: row.operation_id,
      licenceOrders: byType(isSameKey(placedFor, customer) ? licences : []),
    },
    body,
    zones: row.date_zones,
    payload,
    shownNumbers: new Map([...byProduct].map(([id, products]) => [id, products.map(({ number }) => number)])),
  };
}

/** Licence orders by type; empty if a type has several. */
function byType(
  licences: readonly Pick<LicenceOrderTable, "license_type" | "license_order_id">[],
): Map<string, string> {
  const found = new Map<string, string>();
  for (const { license_type: type, license_order_id: id } of licences) {
    const known = found.get(type);
    found.set(type, known === undefined || known === id ? id : "");
  }
  return found;
}

export async function placedOf(ledger: ReadOnlyLedger, order: RecordKey): Promise<ExplainFacts["placed"]> {
  const { db } = ledger;
  const rows = await db
    .selectFrom("placed_order")
    .select(["channel_order_id as channelOrderId", "origin", "version", "from_at as from", "to_at as to"])
    .select(["operation_id as operationId", "customer_namespace as customerNamespace", "customer_id as customerId"])
    .select("products")
    .where("namespace", "=", order.namespace)
    .where("order_id", "=", order.id)
    .orderBy("from_at", "desc")
    .execute();
  const licenceOrders = await db
    .selectFrom("licence_order")
    .select(["sequence", "license_type as licenseType", "license_order_id as licenseOrderId"])
    .select("platform_customer_id as platformCustomerId")
    .where("namespace", "=", order.namespace)
    .where("order_id", "=", order.id)
    .orderBy("sequence")
    .execute();
  const steps = toldSteps(ledger, order);
  const movedFrom = await movedFromOf(db, order);
  return rows.map(({ customerNamespace, customerId, ...row }) => ({
    ...row,
    customer: { namespace: customerNamespace, id: customerId },
    licenceOrders,
    movedFrom: row.to === null ? movedFrom : [],
    steps: row.to === null ? steps : [],
  }));
}

async function movedFromOf(
  db: ReadOnlyLedger["db"],
  order: RecordKey,
): Promise<ExplainFacts["placed"][number]["movedFrom"]> {
  const rows = await db
    .selectFrom("moved_order")
    .select(["customer_namespace as namespace", "customer_id as id", "since", "ended_at as endedAt"])
    .where("namespace", "=", order.namespace)
    .where("order_id", "=", order.id)
    .orderBy("since")
    .execute();
  return rows.map(({ namespace, id, ...row }) => ({ ...row, customer: { namespace, id } }));
}

function toldSteps(ledger: ReadOnlyLedger, order: RecordKey): ExplainFacts["placed"][number]["steps"] {
  return orderSteps(ledger, order).flatMap((row) => {
    const step = stepOf(row);
    const things = thingsOf(step);
    // A step that only renumbers units belongs to the previous purchase.
    if (step.kind === "bought" && things.length === 0) return [];
    const { at, kind, origin, channel_order_id: channelOrderId, operation_id: operationId } = row;
    return [{ at, kind, origin, channelOrderId, operationId, customer: step.customer, things }];
  });
}

function thingsOf(step: OrderStep): string[] {
  const under = (number: string | null): string => (number === null ? "" : ` (asset number ${number})`);
  switch (step.kind) {
    case "bought":
      return step.items.flatMap(({ number, products, packages }) =>
        [...packages.map((id) => `package ${id}`), ...products].map((name) => `${name}${under(number)}`),
      );
    case "removed":
      return step.items.map(({ product, number }) =>
        product === null ? `asset number ${number ?? "unknown"}, whole` : `${product}${under(number)}`,
      );
    case "priced":
      return step.items.map(({ product }) => product ?? "the order");
  }
}
