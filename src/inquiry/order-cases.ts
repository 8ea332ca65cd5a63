import { sql } from "kysely";
import type { JsonObject } from "../base/canonical-json.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey, Stream } from "../crm/model.ts";
import { buildAssets } from "../crm/tree.ts";
import type { DesiredOrder } from "../operation/desired.ts";
import type { PrivateMarker } from "../operation/references.ts";
import type { CrmStanding, OrderCase, PlacedCase, WantedItem } from "../report/reconciliation-facts.ts";
import type { ReadOnlyLedger } from "./read-only-ledger.ts";
import { stored } from "../ledger/database/stored.ts";
import { packagesOf, productsOf } from "./record-products.ts";
import { sentItems } from "./sent-items.ts";
import type { AssetNumberTable } from "../ledger/tables.ts";

/** The newest form of one record. */
export interface RecordRow {
  stream: Stream;
  namespace: string;
  id: string;
  state: CrmStanding["state"];
  deferred_reason: string | null;
  body: string;
}

export function standing(row: RecordRow): CrmStanding {
  return { state: row.state, waits: row.deferred_reason };
}

/** Numbers fixed to the orders of a customer, by order and instance, in the order of their units. */
export type FixedNumbers = ReadonlyMap<string, readonly Pick<AssetNumberTable, "wire_number" | "unit">[]>;

function instanceKey(order: RecordKey, instance: string): string {
  return JSON.stringify([order.namespace, order.id, instance]);
}

export async function numbersOf(ledger: ReadOnlyLedger, customer: RecordKey): Promise<FixedNumbers> {
  const rows = await ledger.db
    .selectFrom("asset_number as n")
    .innerJoin("record as r", (join) => join.onRef("r.namespace", "=", "n.namespace").onRef("r.id", "=", "n.order_id"))
    .select(["n.wire_number", "n.unit", "n.namespace", "n.order_id", "n.instance_id"])
    .where("r.stream", "=", "orders")
    .where("r.customer_namespace", "=", customer.namespace)
    .where("r.customer_id", "=", customer.id)
    .where("n.fixed_at", "is not", null)
    .orderBy("n.unit")
    .execute();
  const numbers = new Map<string, Pick<AssetNumberTable, "wire_number" | "unit">[]>();
  for (const row of rows) {
    const key = instanceKey({ namespace: row.namespace ?? "", id: row.order_id ?? "" }, row.instance_id ?? "");
    const list = numbers.get(key);
    if (list === undefined) numbers.set(key, [row]);
    else list.push(row);
  }
  return numbers;
}

export async function orderCases(
  ledger: ReadOnlyLedger,
  customer: RecordKey,
  records: readonly RecordRow[],
  numbers: FixedNumbers,
): Promise<OrderCase[]> {
  const placed = await placedOrders(ledger, customer);
  return records.map((row): OrderCase => {
    const key = { namespace: row.namespace, id: row.id };
    const body = stored<DesiredOrder>(row.body);
    const known = placed.get(formatKey(key));
    const wanted = itemsOf(body, key, numbers, known?.shownNumbers);
    const before = known?.body === undefined || known.body === null ? undefined : stored<DesiredOrder>(known.body);
    const beforeItems =
      before === undefined ? { products: [], packages: [] } : itemsOf(before, key, numbers, known?.shownNumbers);
    const sent =
      known?.payload === undefined || known.payload === null
        ? { products: [], packages: [] }
        : sentItems(stored<JsonObject>(known.payload), (unit) => numberOfUnit(numbers, unit));
    return {
      key,
      crm: standing(row),
      cancelled: body.cancelled,
      crmDate: body.placedAt ?? null,
      placed: known?.placed ?? null,
      products: { wanted: wanted.products, placed: beforeItems.products, sent: sent.products },
      packages: { wanted: wanted.packages, placed: beforeItems.packages, sent: sent.packages },
    };
  });
}

function numberOfUnit(numbers: FixedNumbers, unit: string): string | undefined {
  const parts = stored<unknown[]>(unit);
  const [namespace, order, instance, position] = parts;
  const fixed = numbers.get(instanceKey({ namespace: String(namespace), id: String(order) }, String(instance)));
  return fixed?.find((item) => item.unit === position)?.wire_number ?? undefined;
}

interface KnownOrder {
  placed: PlacedCase;
  /** The body of the version that was placed, and the payload it was placed with. */
  body: string | null;
  payload: string | null;
  /** For an adopted order, whose numbers the ledger did not fix: those under which each of its products is shown. */
  shownNumbers: ReadonlyMap<string, readonly string[]>;
}

async function placedOrders(ledger: ReadOnlyLedger, customer: RecordKey): Promise<ReadonlyMap<string, KnownOrder>> {
  const rows = await ledger.db
    .selectFrom("placed_order as p")
    .leftJoin("operation as o", "o.id", "p.operation_id")
    .leftJoin("record_version as v", (join) =>
      join
        .on("v.stream", "=", "orders")
        .onRef("v.namespace", "=", "p.namespace")
        .onRef("v.id", "=", "p.order_id")
        .onRef("v.version", "=", "p.version"),
    )
    .select([
      "p.namespace",
      "p.order_id",
      "p.from_at",
      "p.origin",
      "p.channel_order_id",
      "p.operation_id",
      "o.payload",
      "v.body",
    ])
    .where("p.customer_namespace", "=", customer.namespace)
    .where("p.customer_id", "=", customer.id)
    .where("p.to_at", "is", null)
    .execute();
  const licences = await ledger.db
    .selectFrom("licence_order as l")
    .innerJoin("placed_order as p", (join) =>
      join.onRef("p.namespace", "=", "l.namespace").onRef("p.order_id", "=", "l.order_id"),
    )
    .select(["l.namespace", "l.order_id", "l.license_type", "l.license_order_id"])
    .where("p.customer_namespace", "=", customer.namespace)
    .where("p.customer_id", "=", customer.id)
    .where("p.to_at", "is", null)
    .orderBy("l.sequence")
    .execute();
  const licencesOf = Map.groupBy(licences, (row) => formatKey({ namespace: row.namespace, id: row.order_id }));
  const known = new Map<string, KnownOrder>();
  for (const row of rows) {
    const key = formatKey({ namespace: row.namespace, id: row.order_id });
    known.set(key, {
      placed: {
        at: row.from_at,
        origin: row.origin,
        channelOrderId: row.channel_order_id,
        operationId: row.operation_id,
        licenceOrders: byType(licencesOf.get(key) ?? []),
      },
      body: row.body,
      payload: row.payload,
      shownNumbers: row.origin === "adopted" ? await shownNumbers(ledger, customer, row.channel_order_id) : new Map(),
    });
  }
  return known;
}

/** Licence orders by type; a type with more than one has none that can be told. */
function byType(licences: readonly { license_type: string; license_order_id: string }[]): Map<string, string> {
  const found = new Map<string, string>();
  for (const licence of licences) {
    const known = found.get(licence.license_type);
    found.set(
      licence.license_type,
      known === undefined || known === licence.license_order_id ? licence.license_order_id : "",
    );
  }
  return found;
}

async function shownNumbers(
  ledger: ReadOnlyLedger,
  customer: RecordKey,
  channelOrderId: string,
): Promise<Map<string, string[]>> {
  const { rows } = await sql<{ number: string; id: string }>`
    select json_extract(body, '$.crmProductId') as id,
      substr(subject, 1, length(subject) - length(json_extract(body, '$.crmProductId')) - 1) as number from observation
    where customer_namespace = ${customer.namespace} and customer_id = ${customer.id} and kind = 'product' and to_at is null
      and json_extract(body, '$.channelOrderId') = ${channelOrderId} and json_extract(body, '$.crmProductId') is not null
    order by subject`.execute(ledger.db);
  const numbers = new Map<string, string[]>();
  for (const row of rows) numbers.set(row.id, [...(numbers.get(row.id) ?? []), row.number]);
  return numbers;
}

/** The products and packages of an order, each under every number of its asset. */
function itemsOf(
  body: DesiredOrder,
  order: RecordKey,
  numbers: FixedNumbers,
  shown: ReadonlyMap<string, readonly string[]> = new Map(),
): { products: WantedItem[]; packages: WantedItem[] } {
  const { assets } = buildAssets<PrivateMarker>(body.instances);
  const under = (assetId: string, productId: string | undefined): (string | null)[] => {
    const fixed = (numbers.get(instanceKey(order, assetId)) ?? []).flatMap((item) =>
      item.wire_number === null ? [] : [item.wire_number],
    );
    if (fixed.length > 0) return fixed;
    const seen = productId === undefined ? undefined : shown.get(productId);
    return seen === undefined || seen.length === 0 ? [null] : [...seen];
  };
  const products = productsOf(assets).flatMap((item) =>
    under(item.assetId, item.id).map((assetNumber): WantedItem => ({
      id: item.id,
      instanceId: item.id,
      assetNumber,
      licenseType: item.licenseType,
      fields: item.fields,
    })),
  );
  const packages = packagesOf(assets).flatMap((item) => {
    const inside = productsOf(assets.filter((asset) => asset.id === item.assetId)).find(
      (product) => product.packageNumber === item.number,
    );
    return under(item.assetId, inside?.id).map((assetNumber): WantedItem => ({
      id: item.number,
      instanceId: `${item.assetId} ${item.number}`,
      assetNumber,
      licenseType: item.licenseType,
      fields: { number: item.number, name: item.name, parentNumber: item.parentNumber },
    }));
  });
  return { products, packages };
}
