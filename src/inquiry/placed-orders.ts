import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import type { LicenceOrderTable } from "../ledger/state/placed-orders.ts";
import type { PlacedCase } from "../report/reconciliation/case.ts";
import { ofEachCustomer } from "./read-only-ledger.ts";
import type { ReadOnlyLedger } from "./read-only-ledger.ts";
import { shownProducts } from "./shown-products.ts";

/** An order that is on the platform, with what it was placed with. */
export interface PlacedOrder {
  placed: PlacedCase;
  /** The body of the version that was placed, and the payload it was placed with. */
  body: string | null;
  payload: string | null;
  /** For an adopted order, whose numbers the ledger did not fix: those under which each of its products is shown. */
  shownNumbers: ReadonlyMap<string, readonly string[]>;
}

const placedRows = ofEachCustomer(({ db }, customer) =>
  db
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
    .select(["o.payload", "v.body"])
    .where("p.customer_namespace", "=", customer.namespace)
    .where("p.customer_id", "=", customer.id)
    .where("p.to_at", "is", null),
);

const licenceRows = ofEachCustomer(({ db }, customer) =>
  db
    .selectFrom("licence_order as l")
    .innerJoin("placed_order as p", (join) =>
      join.onRef("p.namespace", "=", "l.namespace").onRef("p.order_id", "=", "l.order_id"),
    )
    .select(["l.namespace", "l.order_id as id", "l.license_type", "l.license_order_id"])
    .where("p.customer_namespace", "=", customer.namespace)
    .where("p.customer_id", "=", customer.id)
    .where("p.to_at", "is", null)
    .orderBy("l.sequence"),
);

/** The placed orders of a customer, by order. */
export function placedOrdersOf(ledger: ReadOnlyLedger, customer: RecordKey): ReadonlyMap<string, PlacedOrder> {
  const rows = placedRows(ledger, customer);
  const placed = new Map<string, PlacedOrder>();
  if (rows.length === 0) return placed;
  const licencesOf = Map.groupBy(licenceRows(ledger, customer), formatKey);
  for (const row of rows) {
    const { origin, channel_order_id: channelOrderId, body, payload } = row;
    const shown = origin === "adopted" ? shownProducts(ledger, customer, channelOrderId) : [];
    const byProduct = Map.groupBy(shown, (product) => product.id);
    placed.set(formatKey(row), {
      placed: {
        at: row.from_at,
        origin,
        channelOrderId,
        operationId: row.operation_id,
        licenceOrders: byType(licencesOf.get(formatKey(row)) ?? []),
      },
      body,
      payload,
      shownNumbers: new Map([...byProduct].map(([id, products]) => [id, products.map(({ number }) => number)])),
    });
  }
  return placed;
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
