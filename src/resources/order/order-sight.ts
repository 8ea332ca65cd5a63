import type { Snapshot } from "../../platform/snapshot.ts";
import type { OrderContext } from "./order-context.ts";

/** How much of one order record is shown. `standing`: its products, each once for every number that shows it. */
interface SeenRecord {
  sequence: number;
  seen: number;
  wanted: number;
  numbersSeen: number;
  numbers: number;
  standing: number;
  /** How many that are once all that was promised is there; undefined where the operation does not say. */
  promised: number | undefined;
}

/**
 * How much of an order the platform shows: for each order record how many of its products, and the licence order they
 * name.
 */
export interface OrderSight {
  records: SeenRecord[];
  licenceOrders: Map<number, string>;
  /** Asset numbers of the order that the platform shows, whatever they hold. */
  shown: string[];
  /** Those of them in which M7 shows neither a product nor a package. */
  bare: string[];
  /** Sequences whose products name more than one licence order. */
  repeated: number[];
}

/** Whether all of an order record is shown: not only each product under some number, but under each of its own. */
export function isWhole(record: SeenRecord): boolean {
  if (record.promised !== undefined && record.standing !== record.promised) return false;
  return record.wanted > 0 && record.seen === record.wanted && record.numbersSeen === record.numbers;
}

/** Looks for an order by its own asset numbers: (M6 ∪ E8), then M7 of each, by channelOrderId and crmProductId. */
export async function sightOrder(snapshot: Pick<Snapshot, "contents">, context: OrderContext): Promise<OrderSight> {
  const sight: OrderSight = { records: [], licenceOrders: new Map(), shown: [], bare: [], repeated: [] };
  for (const record of context.records) {
    const seen = new Set<string>();
    const licenceOrders = new Set<string>();
    let numbersSeen = 0;
    let standing = 0;
    for await (const { asset, products, bare } of snapshot.contents(context.enterpriseGlobalId, record.numbers)) {
      sight.shown.push(asset.assetNum);
      if (bare) sight.bare.push(asset.assetNum);
      const ours = products.filter(
        (product) =>
          product.channelOrderId === context.channelOrderId &&
          product.crmProductId !== null &&
          product.crmProductId !== undefined &&
          record.products.includes(product.crmProductId),
      );
      if (ours.length > 0) numbersSeen += 1;
      standing += new Set(ours.map((product) => product.crmProductId)).size;
      for (const product of ours) {
        if (typeof product.crmProductId === "string") seen.add(product.crmProductId);
        if (typeof product.licenseOrderId === "string" && product.licenseOrderId !== "")
          licenceOrders.add(product.licenseOrderId);
      }
    }
    const [licenceOrder] = licenceOrders;
    if (licenceOrder !== undefined) sight.licenceOrders.set(record.sequence, licenceOrder);
    if (licenceOrders.size > 1) sight.repeated.push(record.sequence);
    sight.records.push({
      sequence: record.sequence,
      seen: seen.size,
      wanted: record.products.length,
      numbersSeen,
      numbers: record.numbers.length,
      standing,
      promised: record.standing,
    });
  }
  return sight;
}
