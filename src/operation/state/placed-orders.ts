import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import { together } from "./part.ts";
import { inKeyOrder } from "./row-order.ts";
import { isSameKey } from "./same-key.ts";

export interface PlacedOrder {
  key: RecordKey;
  /** For whom it stands: not always the customer that the CRM names now. */
  customer: RecordKey;
  /** For whom it was placed, where it moved since. */
  placedFor?: RecordKey | undefined;
  channelOrderId: string;
  bodyHash: string;
  version: number;
  origin: "placed" | "adopted";
  /** Hash of the form that what stands was last in agreement with; undefined: the one that it was placed with. */
  agreedHash?: string | undefined;
  /** It was placed in an enterprise that its customer was linked with before, and stands there. */
  elsewhere?: true;
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
  /** Its products, each once for every number of its asset. */
  products: number;
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
