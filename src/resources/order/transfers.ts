import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import { orderOf, productsUnder } from "./order-standing.ts";
import type { Block } from "../../engine/plan/block.ts";
import type { CustomerInput } from "../../engine/plan/input.ts";
import type { PlannedPackage, PlannedProduct, PurchasedAsset } from "./order-records.ts";
import { unitsIn } from "./renewals.ts";

/**
 * Assets whose transferred products name the licence order that brought them (E5: srcLicenseOrderId of a product), as
 * it stands for this customer; one that the CRM names itself stays. Or why it is not known: it is never guessed.
 */
export function withTransfers(
  order: RecordKey,
  assets: readonly PurchasedAsset[],
  standings: CustomerInput["standings"],
): PurchasedAsset[] | Block {
  const named = (item: PlannedProduct): PlannedProduct => {
    const { transferredFrom: from, srcLicenseOrderId } = item;
    if (from === undefined || srcLicenseOrderId !== undefined) return item;
    return { ...item, srcLicenseOrderId: sourceOf(order, from, standings) };
  };
  const inside = (item: PlannedPackage): PlannedPackage => ({
    ...item,
    products: item.products.map(named),
    children: item.children.map(inside),
  });
  const resolved = assets.map((asset) => ({
    ...asset,
    products: asset.products.map(named),
    packages: asset.packages.map(inside),
  }));
  const products = resolved.flatMap((asset) => [...asset.products, ...asset.packages.flatMap(productsUnder)]);
  for (const { id, transferredFrom: from, srcLicenseOrderId } of products) {
    if (from === undefined || srcLicenseOrderId !== undefined) continue;
    const earlier = `${from.instanceId} of the order ${formatKey(orderOf(order, from))}`;
    const reason = `the product ${id} is transferred from ${earlier}, but the licence order of that instance is not known`;
    return { code: "order.transfer-unknown", reason, again: true };
  }
  return resolved;
}

/** The licence order that brought an instance; none where units of it came by more than one. */
function sourceOf(
  order: RecordKey,
  from: NonNullable<PlannedProduct["transferredFrom"]>,
  standings: CustomerInput["standings"],
): string | undefined {
  const found = new Set(
    unitsIn({ standings }, orderOf(order, from)).flatMap(({ products }) =>
      products.filter((item) => item.product.id === from.instanceId).map((item) => item.licenseOrderId),
    ),
  );
  const [only] = found;
  return found.size === 1 ? only : undefined;
}
