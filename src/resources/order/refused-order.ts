import type { Snapshot } from "../../platform/snapshot.ts";
import type { RefusalFacts } from "../../engine/kind.ts";
import type { OrderContext } from "./order-context.ts";

/**
 * What the platform shows of a refused order, in words; undefined where it shows nothing. Its asset numbers and its
 * channel order number are looked for: (M6 ∪ E8), then M7 of all that is not another order's of ours. `stood`: numbers
 * that may stand for assets that were there before.
 */
export async function shownOfRefusedOrder(
  { context, stood }: { context: OrderContext; stood: readonly string[] },
  snapshot: Snapshot,
  facts: RefusalFacts,
): Promise<string | undefined> {
  const channelNumbers = new Set([context.channelOrderId, facts.channelOrderId]);
  const assets = await snapshot.allAssets(context.enterpriseGlobalId);
  // Those of the pool are this order's and nobody else's.
  const before = new Set(stood);
  const own = new Set(context.records.flatMap((record) => record.numbers));
  for (const number of own)
    if (assets.has(number) && !before.has(number)) return `the platform shows its asset number ${number}`;
  // Somebody may have placed it by hand since, under other numbers. What stands under the numbers of our other orders
  // is theirs.
  const strange = new Set(assets.keys());
  const others = await facts.placedNumbers();
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
  if (context.records.length < 2) return undefined;
  for (const { licenseType } of context.records) {
    if (await facts.isShown(licenseType)) continue;
    return (
      "a part of it may be there: the platform was never seen to show assets of the licence type " +
      `${licenseType} (A43: assumptions.visibleLicenseTypes)`
    );
  }
  return undefined;
}
