import { purchaseLine } from "./lines.ts";
import type { RecordKey } from "../../crm/model.ts";
import { numbersThere } from "../../engine/asset-numbers.ts";
import { checked } from "../../contract/fits.ts";
import { batchOrderRequestSchema } from "../../contract/order-record.ts";
import { formatKey } from "../../crm/keys.ts";
import { notSendable } from "../../engine/kind.ts";
import type { Effect, Kind } from "../../engine/kind.ts";
import {
  licenceOrdersOf,
  lookForPurchase,
  purchaseAudit,
  purchaseNotFound,
  readPurchase,
  purchaseKind,
  sendPurchase,
} from "./order-call.ts";
import type { PurchaseEffect } from "./order-call.ts";
import { orderContextOf, standingProducts } from "./order-context.ts";
import type { OrderContext } from "./order-context.ts";
import { holdsPasswords, orderSchemas } from "./order-payload.ts";
import type { OrderShapes } from "./order-payload.ts";
import { restsOfOrder } from "./order-rests.ts";
import { shownOfRefusedOrder } from "./refused-order.ts";
import type { StateChange } from "../../engine/state.ts";

/**
 * E5 places one CRM order: one licence order for each licence type. Nothing takes it back, and nothing may place it
 * twice.
 */
export const placeOrder: Kind<OrderShapes> = {
  line: purchaseLine("place order"),
  ...purchaseKind,
  schemas: orderSchemas,
  rests: ({ payload }) => restsOfOrder(payload),
  prepare({ operation, wire }) {
    const { customer } = operation;
    const request = checked(batchOrderRequestSchema, wire);
    if (!request.success) return notSendable(request.error.issues);
    const [order] = operation.records;
    if (order === undefined) return { code: "order.unnamed", reason: "the operation does not name its order" };
    const context = orderContextOf(request.data, {
      order: { namespace: order.namespace, id: order.id },
      bodyHash: operation.after.bodyHash,
      version: operation.after.version,
      secrets: operation.payload.orderList.some(holdsPasswords),
      assets: operation.after.assets,
    });
    const effectOf: PurchaseEffect = (id, licenceOrders) => orderPlaced(id, customer, context, licenceOrders);
    return { context, send: sendPurchase(request.data, effectOf) };
  },
  read(entry, snapshot) {
    const { context, operation } = entry;
    return readPurchase(snapshot, entry, new Set(numbersThere(operation.after.assets)), (id, licenceOrders) =>
      orderPlaced(id, operation.customer, context, licenceOrders),
    );
  },
  notFound: ({ context, operation: { customer } }, facts) => purchaseNotFound({ context, customer }, facts),
  shownAfterRefusal: ({ operation, context }, snapshot, facts) =>
    shownOfRefusedOrder({ context, stood: numbersThere(operation.after.assets) }, snapshot, facts),
  countAsApplied(entry, evidence) {
    const effect = evidence.kind === "not-found" ? undefined : evidence.effect;
    return {
      effect: effect ?? orderPlaced(entry.id, entry.operation.customer, entry.context, new Map()),
      summary:
        "The order counts as placed. The platform does not show all of it, so the licence order numbers " +
        "that are missing stay unknown; `verify` goes on comparing.",
    };
  },
  claims: "order",
  uniqueness({ payload, records }) {
    const [order] = records;
    return order === undefined ? undefined : { what: "order", number: payload.channelOrderId, order };
  },
  assets: (operation) => operation.after.assets,
  lookFor: ({ context, payload }) => lookForPurchase(context?.channelOrderId ?? payload.channelOrderId, context),
};

function orderPlaced(
  operationId: string,
  customer: RecordKey,
  context: OrderContext,
  licenceOrders: ReadonlyMap<number, string>,
): Effect {
  const rows = licenceOrdersOf(context, licenceOrders);
  const changes: StateChange[] = [
    {
      type: "order-placed",
      order: context.order,
      customer,
      channelOrderId: context.channelOrderId,
      bodyHash: context.bodyHash,
      version: context.version,
      products: standingProducts(context),
      operationId,
      origin: "placed",
      licenceOrders: rows,
    },
    ...renewals(operationId, customer, context),
  ];
  if (context.secrets)
    changes.push({ type: "secrets-wiped", ref: `orders/${formatKey(context.order)}`, version: context.version });
  return { changes, audit: purchaseAudit(context, rows) };
}

/** Units that continue earlier ones have their numbers by a step of the order, in which nothing more is bought. */
function renewals(operationId: string, customer: RecordKey, context: OrderContext): StateChange[] {
  const { order, channelOrderId, version, bodyHash, renewed = [] } = context;
  if (renewed.length === 0) return [];
  const items = renewed.map((unit) => ({ ...unit, products: [], packages: [] }));
  const of = { order, customer, operationId, origin: "sent" } as const;
  return [
    { type: "order-bought", ...of, channelOrderId, version, items, licenceOrders: [], products: 0 },
    { type: "order-agreed", order, version, bodyHash },
  ];
}
