import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { DesiredOrder } from "../desired.ts";
import { together } from "./part.ts";
import { inKeyOrder } from "./row-order.ts";
import { isSameKey } from "./same-key.ts";

export interface PlacedOrder {
  key: RecordKey;
  /** For whom it was placed: not always the customer that the CRM names now. */
  customer: RecordKey;
  channelOrderId: string;
  bodyHash: string;
  version: number;
  origin: "placed" | "adopted";
  /** The order as it was placed, where the CRM has changed it since. */
  body?: DesiredOrder | undefined;
}

export interface KnownPlacedOrders {
  placedOrders: ReadonlyMap<string, PlacedOrder>;
}

export interface OrderPlaced {
  type: "order-placed";
  order: RecordKey;
  customer: RecordKey;
  channelOrderId: string;
  bodyHash: string;
  version: number;
  operationId: string | null;
  origin: "placed" | "adopted";
  licenceOrders: { sequence: number; licenseType: string; platformCustomerId: string; licenseOrderId: string }[];
}

const placedOrders = together<KnownPlacedOrders, OrderPlaced>((known, changes, context) => {
  const placed = changes.filter(({ customer }) => isSameKey(customer, context.customer));
  if (placed.length === 0) return known;
  const all = new Map(known.placedOrders);
  for (const { order: key, customer, channelOrderId, bodyHash, version, origin } of placed)
    all.set(formatKey(key), { key, customer, channelOrderId, bodyHash, version, origin });
  return { ...known, placedOrders: inKeyOrder(all) };
});

export const placedOrdersParts = { "order-placed": placedOrders };
