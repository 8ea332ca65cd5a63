import { sql } from "kysely";
import type { Nullable, RawBuilder } from "kysely";
import type { Money, RecordKey } from "../crm/model.ts";
import { productsOf } from "../crm/order-items.ts";
import type { OrderProduct } from "../crm/order-items.ts";
import { buildAssets } from "../crm/tree.ts";
import { stored } from "../ledger/database/stored.ts";
import type { RecordVersionTable } from "../ledger/records/tables.ts";
import type { AssignmentTable } from "../ledger/state/assignments.ts";
import type { LicenceOrderTable, PlacedOrderTable } from "../ledger/state/placed-orders.ts";
import type { LinkTable } from "../ledger/state/links.ts";
import type { DesiredOrder } from "../operation/desired.ts";
import type { BoughtItem, PricedItem, RemovedItem } from "../operation/state/order-steps.ts";
import type { PrivateMarker } from "../operation/references.ts";
import { sumOf } from "../report/orders.ts";
import type { OrderEvent } from "../report/orders.ts";
import type { ReadOnlyLedger } from "./read-only-ledger.ts";
import { renewedNumbers } from "./renewed-numbers.ts";
import { shownProducts } from "./shown-products.ts";

/** One row for each licence order of a placed or adopted order, and for each beginning and end of an assignment. */
type EventRow = Pick<PlacedOrderTable, "namespace" | "customer_namespace" | "customer_id" | "operation_id"> &
  Pick<LicenceOrderTable, "sequence"> &
  Pick<AssignmentTable, "asset_number"> &
  Nullable<
    Pick<PlacedOrderTable, "channel_order_id"> &
      Pick<LicenceOrderTable, "license_type" | "license_order_id"> &
      Pick<LinkTable, "enterprise_global_id"> &
      Pick<RecordVersionTable, "body"> &
      Pick<AssignmentTable, "staff_id" | "member_global_id">
  > & {
    at: string;
    event: OrderEvent["event"];
    /** Of the order; empty where an assignment's order is not known. */
    id: string;
    crm_date: string | null;
    first: number;
    licences: number;
    staff_namespace: string | null;
    /** Of something that happened to a placed order: what it was about. */
    items: string | null;
  };

/** A time: `from` belongs to it, `to` does not. */
interface Time {
  from: string;
  to: string;
}

/**
 * What was given and taken away in a time, in the order of time. By CRM date an order stands in the time that its own
 * date names; orders without a date, grants and revokes stand in the time in which they happened.
 */
export async function* orderEvents(
  ledger: ReadOnlyLedger,
  time: Time & { by: "happened" | "crm-date" },
): AsyncGenerator<OrderEvent, void, void> {
  const granted = sql`case a.origin when 'granted' then 'granted' else 'grant-adopted' end`;
  const taken = sql`case when a.ended_by is null then 'found-gone' else 'revoked' end`;
  const query = sql<EventRow>`
    ${ordersIn(time)}
    union all ${stepsIn(time)}
    union all ${assignmentsIn(time, { at: sql`a.from_at`, event: granted, operation: sql`a.operation_id` })}
    union all ${assignmentsIn(time, { at: sql`a.to_at`, event: taken, operation: sql`a.ended_by` })}
    order by at, event, namespace, id, sequence, asset_number`;
  for (const row of ledger.rows({ compile: () => query.compile(ledger.db) })) yield await eventOf(ledger, row);
}

/** The enterprise that a customer was linked with when something happened, or that it was linked with first. */
function enterpriseAt(of: Record<"namespace" | "id" | "at", RawBuilder<unknown>>): RawBuilder<unknown> {
  const link = sql`from link k where k.namespace = ${of.namespace} and k.customer_id = ${of.id}`;
  return sql`coalesce(
    (select k.enterprise_global_id ${link} and k.from_at <= ${of.at} order by k.from_at desc limit 1),
    (select k.enterprise_global_id ${link} order by k.from_at limit 1))`;
}

/** For whom an order was placed, whoever it stands for since it moved. */
const placedFor = {
  namespace: sql`coalesce(p.placed_for_namespace, p.customer_namespace)`,
  id: sql`coalesce(p.placed_for_id, p.customer_id)`,
};

/** Written out, and not built: the columns of a union stand in one order, and half of each part are constants. */
function ordersIn({ from, to, by }: Time & { by: "happened" | "crm-date" }): RawBuilder<unknown> {
  const crmDate = sql`json_extract(v.body, '$.placedAt')`;
  const at = by === "happened" ? sql`p.from_at` : sql`coalesce(strftime('%Y-%m-%dT%H:%M:%fZ', ${crmDate}), p.from_at)`;
  const licences = sql`from licence_order f where f.namespace = p.namespace and f.order_id = p.order_id`;
  return sql`select p.from_at as at, p.origin as event, p.namespace as namespace, p.order_id as id,
      coalesce(l.sequence, 0) as sequence, '' as asset_number,
      ${placedFor.namespace} as customer_namespace, ${placedFor.id} as customer_id,
      ${enterpriseAt({ ...placedFor, at: sql`p.from_at` })} as enterprise_global_id, ${crmDate} as crm_date,
      p.channel_order_id, l.license_type, l.license_order_id,
      l.sequence is null or l.sequence = (select min(sequence) ${licences}) as first,
      (select count(*) ${licences}) as licences,
      v.body, null as staff_namespace, null as staff_id, null as member_global_id, p.operation_id, null as items
    from placed_order p
    left join record_version v
      on v.stream = 'orders' and v.namespace = p.namespace and v.id = p.order_id and v.version = p.version
    left join licence_order l on l.namespace = p.namespace and l.order_id = p.order_id
    where ${at} >= ${from} and ${at} < ${to}`;
}

/** What happened to placed orders in a time, whatever date the CRM gives them, with the columns of `ordersIn`. */
function stepsIn({ from, to }: Time): RawBuilder<unknown> {
  const event = sql`case s.kind when 'priced' then 'repriced'
    when 'bought' then iif(s.origin = 'found', 'found-again', 'amended')
    else iif(s.origin = 'found', 'found-gone', 'ended') end`;
  const licence = (field: string): RawBuilder<unknown> =>
    sql`iif(json_array_length(s.licence_orders) = 1, s.licence_orders ->> ${sql.lit(`$[0].${field}`)}, null)`;
  const customer = { namespace: sql`s.customer_namespace`, id: sql`s.customer_id` };
  return sql`select s.at, ${event}, s.namespace, s.order_id, s.number, '', s.customer_namespace, s.customer_id,
      ${enterpriseAt({ ...customer, at: sql`s.at` })}, json_extract(v.body, '$.placedAt'),
      coalesce(s.channel_order_id, p.channel_order_id),
      ${licence("licenseType")}, ${licence("licenseOrderId")}, 0, 0, v.body, null, null, null, s.operation_id, s.items
    from order_step s
    left join placed_order p on p.namespace = s.namespace and p.order_id = s.order_id and p.to_at is null
    left join record_version v on v.stream = 'orders' and v.namespace = s.namespace and v.id = s.order_id
      and v.version = s.version
    where s.at >= ${from} and s.at < ${to}
      and not (s.kind = 'bought' and not exists (select 1 from json_each(s.items) i
        where json_array_length(i.value, '$.products') + json_array_length(i.value, '$.packages') > 0))`;
}

/** Assignments by their beginning or their end, with the columns of `ordersIn`. */
function assignmentsIn(
  { from, to }: Time,
  { at, event, operation }: Record<"at" | "event" | "operation", RawBuilder<unknown>>,
): RawBuilder<unknown> {
  const customer = { namespace: sql`a.customer_namespace`, id: sql`a.customer_id` };
  return sql`select ${at}, ${event}, coalesce(n.namespace, ''), coalesce(n.order_id, ''), 0, a.asset_number,
      a.customer_namespace, a.customer_id, ${enterpriseAt({ ...customer, at: sql`a.from_at` })},
      null, p.channel_order_id, null, null, 0, 0, null, a.namespace, a.staff_id, a.member_global_id, ${operation}, null
    from assignment a
    left join asset_number n on n.wire_number = a.asset_number and n.fixed_at is not null
    left join placed_order p on p.namespace = n.namespace and p.order_id = n.order_id and p.to_at is null
    where ${at} >= ${from} and ${at} < ${to}`;
}

async function eventOf(ledger: ReadOnlyLedger, row: EventRow): Promise<OrderEvent> {
  const order: RecordKey | null = row.id === "" ? null : { namespace: row.namespace, id: row.id };
  const customer = { namespace: row.customer_namespace, id: row.customer_id };
  const proof = await proofOf(ledger, row, customer);
  if (row.items !== null && order !== null) return stepEvent(row, { order, customer, proof });
  const body = row.body === null ? undefined : stored<DesiredOrder>(row.body);
  const products = body === undefined ? [] : licenceProducts(body, row);
  const staff =
    row.staff_namespace === null || row.staff_id === null ? null : { namespace: row.staff_namespace, id: row.staff_id };
  return {
    ...happenedOf(row, { order, customer, proof }),
    assetNumbers:
      staff === null && order !== null ? await numbersOf(ledger, row, order, customer, products) : [row.asset_number],
    productIds: products.map((product) => product.id),
    staff,
    memberGlobalId: row.member_global_id,
    orderAmount: row.first === 1 ? (body?.amount ?? null) : null,
    productAmount: sumOf(products.map((product) => product.amount)),
    before: { order: null, product: null },
  };
}

/** What a row says of what happened, whatever it was: when, to whom, under which numbers, and by which call. */
function happenedOf(
  row: EventRow,
  { order, customer, proof }: { order: RecordKey | null; customer: RecordKey; proof: Proof },
) {
  return {
    at: row.at,
    event: row.event,
    customer,
    enterpriseGlobalId: row.enterprise_global_id,
    order,
    crmDate: row.crm_date,
    channelOrderId: row.channel_order_id,
    licence:
      row.license_order_id === null
        ? null
        : { sequence: row.sequence, licenseType: row.license_type ?? "", licenseOrderId: row.license_order_id },
    operationId: row.operation_id,
    runId: proof.runId,
    auditSequence: proof.auditSequence,
  };
}

type Item = Partial<BoughtItem & Omit<RemovedItem, "product"> & PricedItem>;

/** Something that happened to a placed order: what was bought or went, or what it cost before and costs now. */
function stepEvent(row: EventRow, of: { order: RecordKey; customer: RecordKey; proof: Proof }): OrderEvent {
  const items = stored<Item[]>(row.items ?? "[]");
  const ids = [
    ...new Set(items.flatMap((item) => item.products ?? (typeof item.product === "string" ? [item.product] : []))),
  ];
  const body = row.body === null ? undefined : stored<DesiredOrder>(row.body);
  const bought = body === undefined ? [] : productsOf(buildAssets<PrivateMarker>(body.instances).assets);
  const isPriced = row.event === "repriced";
  const amounts = (side: "from" | "to", ofOrder: boolean): (Money | undefined)[] =>
    items.filter(({ product }) => (product === null) === ofOrder).map((item) => item[side] ?? undefined);
  return {
    ...happenedOf({ ...row, sequence: 0 }, of),
    assetNumbers: [...new Set(items.flatMap(({ number }) => number ?? []))].sort(),
    productIds: ids,
    staff: null,
    memberGlobalId: null,
    orderAmount: isPriced ? sumOf(amounts("to", true)) : null,
    productAmount: isPriced
      ? sumOf(amounts("to", false))
      : sumOf(bought.filter(({ id }) => ids.includes(id)).map(({ amount }) => amount)),
    before: isPriced
      ? { order: sumOf(amounts("from", true)), product: sumOf(amounts("from", false)) }
      : { order: null, product: null },
  };
}

/** The products of the licence type of this row; all of them where the platform did not name the type. */
function licenceProducts(body: DesiredOrder, row: EventRow): OrderProduct[] {
  const products = productsOf(buildAssets<PrivateMarker>(body.instances).assets);
  if (row.license_type === null || row.license_type === "") return row.licences > 1 ? [] : products;
  return products.filter((product) => product.licenseType === row.license_type);
}

/**
 * The numbers fixed to the order's assets for that customer; of an adopted order those under which the platform showed
 * its products.
 */
async function numbersOf(
  ledger: ReadOnlyLedger,
  row: EventRow,
  order: RecordKey,
  customer: RecordKey,
  products: readonly OrderProduct[],
): Promise<string[]> {
  const instances = JSON.stringify([...new Set(products.map((product) => product.assetId))]);
  // Units that came later, or in the place of one that ended, were not placed with it.
  const later = sql<boolean>`not exists (select 1 from order_step s, json_each(s.items) i
    where s.namespace = asset_number.namespace and s.order_id = asset_number.order_id and s.kind = 'bought'
      and i.value ->> 'number' = asset_number.wire_number and not exists (
        select 1 from placed_order p join record_version v on v.stream = 'orders' and v.namespace = p.namespace
          and v.id = p.order_id and v.version = p.version, json_each(v.body, '$.instances') x
        where p.namespace = s.namespace and p.order_id = s.order_id and x.value ->> 'id' = asset_number.instance_id
          and asset_number.unit < x.value ->> 'quantity'))`;
  const fixed = await ledger.db
    .selectFrom("asset_number")
    .select("wire_number")
    .where("namespace", "=", order.namespace)
    .where("order_id", "=", order.id)
    .where(sql<boolean>`coalesce(customer_namespace, ${customer.namespace}) = ${customer.namespace}`)
    .where(sql<boolean>`coalesce(customer_id, ${customer.id}) = ${customer.id}`)
    .where("fixed_at", "is not", null)
    .where(sql<boolean>`instance_id in (select value from json_each(${instances}))`)
    .where(later)
    .orderBy("wire_number")
    .execute();
  const own = new Set(products.map((product) => product.assetId));
  const renewed = (await renewedNumbers(ledger, order)).filter(
    ({ instanceId, operationId }) => own.has(instanceId) && operationId === row.operation_id,
  );
  if (fixed.length + renewed.length > 0)
    return [...fixed.flatMap((item) => item.wire_number ?? []), ...renewed.map(({ number }) => number)].sort();
  const { channel_order_id: channelOrderId, license_order_id: licenseOrderId } = row;
  if (channelOrderId === null || licenseOrderId === null) return [];
  const shown = shownProducts(ledger, customer, channelOrderId);
  const ours = shown.filter((product) => product.licenseOrderId === licenseOrderId);
  return [...new Set(ours.map((product) => product.number))].sort();
}

interface Proof {
  runId: string | null;
  auditSequence: number | null;
}

/** The run and the audit entry of an event: of its operation, or of the reading by which it was learned. */
async function proofOf(ledger: ReadOnlyLedger, row: EventRow, customer: RecordKey): Promise<Proof> {
  if (row.operation_id === null) {
    const learned = await ledger.db
      .selectFrom("audit")
      .select("sequence")
      .where("subject", "=", `customer:${customer.namespace}/${customer.id}`)
      .where("at", "=", row.at)
      .where("kind", "in", ["learned", "examined"])
      .orderBy("sequence")
      .limit(1)
      .executeTakeFirst();
    return { runId: null, auditSequence: learned?.sequence ?? null };
  }
  const done = sql<number | null>`(select max(a.sequence) from audit a
    where a.subject = o.subject and json_extract(a.body, '$.operation') = o.id
      and json_extract(a.body, '$.state') = 'done')`;
  const proof = await ledger.db
    .selectFrom("operation as o")
    .select(["o.run_id as runId", done.as("auditSequence")])
    .where("o.id", "=", row.operation_id)
    .executeTakeFirst();
  return proof ?? { runId: null, auditSequence: null };
}
