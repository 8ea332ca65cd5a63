import { ifNotShown } from "./not-shown.ts";
import type { RefusalFacts } from "../../engine/model/operation-type.ts";
import type { Snapshot } from "../../platform/snapshot.ts";
import type { OrderContext } from "./shapes.ts";

interface SeenRecord {
  sequence: number;
  seen: number;
  wanted: number;
  numbersSeen: number;
  numbers: number;
  standing: number;
  /** `standing` of the complete order; undefined if the operation does not give it. */
  promised: number | undefined;
}

export interface OrderSight {
  records: SeenRecord[];
  licenceOrders: Map<number, string>;
  shown: string[];
  /** Those in which M7 shows neither a product nor a package. */
  bare: string[];
  /** Sequences whose products name more than one licence order. */
  repeated: number[];
}

/** Whether every product of the record is shown under every asset number that it was bought for. */
export function isWhole(record: SeenRecord): boolean {
  if (record.promised !== undefined && record.standing !== record.promised) return false;
  return record.wanted > 0 && record.seen === record.wanted && record.numbersSeen === record.numbers;
}

/** Looks for an order by its own asset numbers: (M6 ∪ E8) → M7, by channelOrderId and crmProductId. */
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

/**
 * The traces of a refused order on the platform, in words, by asset and channel order numbers; undefined: nothing.
 * `stood`: numbers that may have existed before.
 */
export async function shownOfRefusedOrder(
  { context, stood }: { context: OrderContext; stood: readonly string[] },
  snapshot: Snapshot,
  facts: RefusalFacts,
): Promise<string | undefined> {
  const channelNumbers = new Set([context.channelOrderId, facts.channelOrderId]);
  const assets = await snapshot.allAssets(context.enterpriseGlobalId);
  // Pool numbers belong to this order alone.
  const before = new Set(stood);
  const own = new Set(context.records.flatMap((record) => record.numbers));
  for (const number of own)
    if (assets.has(number) && !before.has(number)) return `the platform shows its asset number ${number}`;
  // A person may have placed it since under other numbers. Assets of our other orders belong to those.
  const strange = new Set(assets.keys());
  const others = facts.placedNumbers();
  for (const number of others) if (!own.has(number)) strange.delete(number);
  for await (const { asset, products } of snapshot.contents(context.enterpriseGlobalId, strange)) {
    const found = products.find(
      (product) => product.channelOrderId !== null && channelNumbers.has(product.channelOrderId),
    );
    if (found !== undefined)
      return (
        `the platform shows a product of the channel order ${found.channelOrderId} under the asset number ` +
        asset.assetNum
      );
  }
  return await ifNotShown.afterRefusal(context, async (type) => await facts.isShown(type));
}
