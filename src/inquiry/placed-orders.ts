import { sql } from "kysely";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import type { LicenceOrderTable } from "../resources/order/state/placed-orders.ts";
import type { PlacedCase } from "../report/reconciliation/case.ts";
import { isSameKey } from "../engine/model/state-part.ts";
import { ofEachCustomer } from "./read-only-ledger.ts";
import type { ReadOnlyLedger } from "./read-only-ledger.ts";
import { shownProducts } from "./shown-products.ts";

/** An order that is on the platform, with what it was placed with. */
export interface PlacedOrder {
  placed: PlacedCase;
  /** For whom it was placed, where that is not the customer that is asked about. */
  placedFor: RecordKey | undefined;
  /** The body of the version that was placed, and the payload it was placed with. */
  body: string | null;
  /** The zones of its dates. */
  zones: string | null;
  payload: string | null;
  /** For an adopted order, whose numbers the ledger did not fix: those under which each of its products is shown. */
  shownNumbers: ReadonlyMap<string, readonly string[]>;
}

/** Placed orders with what each was placed with. */
function placedForms(db: ReadOnlyLedger["db"]) {
  return db
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
}

/**
 * Orders that stand for a customer, and those that moved away from it and of which something may stand there. Each of
 * the two is found by an index of its own.
 */
const placedRows = ofEachCustomer(({ db }, { namespace, id }) => {
  const placed = placedForms(db);
  const standsFor = sql<boolean>`p.customer_namespace = ${namespace} and p.customer_id = ${id}`;
  const moved = sql<boolean>`(p.namespace, p.order_id) in (
    select m.namespace, m.order_id from moved_order m
    where m.ended_at is null and m.customer_namespace = ${namespace} and m.customer_id = ${id})`;
  return placed.where(standsFor).unionAll(placed.where(moved).where(sql<boolean>`not (${standsFor})`));
});

type LicenceRow = RecordKey & Pick<LicenceOrderTable, "license_type" | "license_order_id">;

const licenceRows = ofEachCustomer<LicenceRow>(({ db }, customer) => ({
  compile: () =>
    sql<LicenceRow>`select l.namespace, l.order_id as id, l.license_type, l.license_order_id from (
        select p.namespace, p.order_id from placed_order p
        where p.to_at is null and p.customer_namespace = ${customer.namespace} and p.customer_id = ${customer.id}
        union select m.namespace, m.order_id from moved_order m
        where m.ended_at is null and m.customer_namespace = ${customer.namespace} and m.customer_id = ${customer.id}
      ) o cross join licence_order l on l.namespace = o.namespace and l.order_id = o.order_id
      order by l.sequence`.compile(db),
}));

/** The placed orders of a customer, by order. */
export function placedOrdersOf(ledger: ReadOnlyLedger, customer: RecordKey): ReadonlyMap<string, PlacedOrder> {
  const rows = placedRows(ledger, customer);
  const placed = new Map<string, PlacedOrder>();
  if (rows.length === 0) return placed;
  const licencesOf = Map.groupBy(licenceRows(ledger, customer), formatKey);
  for (const row of rows)
    placed.set(formatKey(row), placedOrder(ledger, customer, row, licencesOf.get(formatKey(row)) ?? []));
  return placed;
}

/** One order as it is placed, asked of the customer for whom it stands; undefined where it is not. */
export async function placedOrderOf(
  ledger: ReadOnlyLedger,
  customer: RecordKey,
  order: RecordKey,
): Promise<PlacedOrder | undefined> {
  const row = await placedForms(ledger.db)
    .where("p.namespace", "=", order.namespace)
    .where("p.order_id", "=", order.id)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const licences = await ledger.db
    .selectFrom("licence_order")
    .select(["license_type", "license_order_id"])
    .where("namespace", "=", order.namespace)
    .where("order_id", "=", order.id)
    .orderBy("sequence")
    .execute();
  return placedOrder(ledger, customer, row, licences);
}

type PlacedRow = ReturnType<typeof placedRows>[number];

function placedOrder(
  ledger: ReadOnlyLedger,
  customer: RecordKey,
  row: PlacedRow,
  licences: Parameters<typeof byType>[0],
): PlacedOrder {
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

/** Licence orders by type; a type with more than one has none that can be told. */
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
