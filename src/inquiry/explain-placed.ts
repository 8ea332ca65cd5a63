import type { RecordKey } from "../crm/model.ts";
import { stepOf } from "../resources/order/state/order-step-rows.ts";
import type { OrderStep } from "../resources/order/state/order-steps.ts";
import type { ExplainFacts } from "../report/explain.ts";
import { orderSteps } from "./order-steps.ts";
import type { ReadOnlyLedger } from "./read-only-ledger.ts";

/** Everything that is known of where an order was placed, stands, and stood before. */
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
  const steps = stepsOf(ledger, order);
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

function stepsOf(ledger: ReadOnlyLedger, order: RecordKey): ExplainFacts["placed"][number]["steps"] {
  return orderSteps(ledger, order).flatMap((row) => {
    const step = stepOf(row);
    const things = thingsOf(step);
    // A step that only says under which numbers units go on is of the purchase before it.
    if (step.kind === "bought" && things.length === 0) return [];
    const { at, kind, origin, channel_order_id: channelOrderId, operation_id: operationId } = row;
    return [{ at, kind, origin, channelOrderId, operationId, customer: step.customer, things }];
  });
}

/** What a step was about, each product and package with the asset number under which it is. */
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
