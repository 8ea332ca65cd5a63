import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import { agreedWithNone } from "./order-steps.ts";
import { notOfCustomers, oneByOne } from "./part.ts";
import type { KnownPlacedOrders } from "./placed-orders.ts";
import { isSameKey } from "./same-key.ts";

/** An order that moved in the CRM, and of which nothing is left where it was, is its new customer's from now on. */
export interface OrderMoved {
  type: "order-moved";
  order: RecordKey;
  from: RecordKey;
  customer: RecordKey;
}

/** Nothing of an order stands any more for a customer that it moved away from. */
export interface OrderLeft {
  type: "order-left";
  order: RecordKey;
  customer: RecordKey;
}

/** Something of an order was found where it stands for a customer that is not its own in the CRM. */
export interface OrderLeaving {
  type: "order-leaving";
  order: RecordKey;
  customer: RecordKey;
  /** Why nobody knows what of it stands there; null where the steps of the order say it. */
  unclear: string | null;
}

export type MovedOrderChange = OrderMoved | OrderLeft | OrderLeaving;

/** Whether a change says where an order stands, beside where it was placed. */
export function isOfMovedOrder({ type }: { type: string }): boolean {
  return Object.hasOwn(movedOrdersParts, type);
}

const moved = oneByOne<KnownPlacedOrders, OrderMoved>((known, { order, customer }) => {
  const placed = known.placedOrders.get(formatKey(order));
  if (placed === undefined || isSameKey(placed.customer, customer)) return known;
  const all = new Map(known.placedOrders);
  const { placedFor = placed.customer } = placed;
  all.set(formatKey(order), { ...placed, customer, placedFor, agreedHash: agreedWithNone });
  return { ...known, placedOrders: all };
});

const left = oneByOne<KnownPlacedOrders, OrderLeft>((known, { order, customer }, context) => {
  const placed = known.placedOrders.get(formatKey(order));
  if (placed === undefined || !isSameKey(customer, context.customer) || isSameKey(placed.customer, customer))
    return known;
  return {
    ...known,
    placedOrders: new Map([...known.placedOrders].filter(([key]) => key !== formatKey(order))),
  };
});

export const movedOrdersParts = { "order-moved": moved, "order-left": left, "order-leaving": notOfCustomers };
