import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import { orderOf } from "./order-standing.ts";
import type { Block } from "../../engine/plan/block.ts";
import type { CustomerInput } from "../../engine/plan/input.ts";
import type { PlannedPackage, PlannedProduct, PurchasedAsset } from "./order-records.ts";

/**
 * Assets whose transferred products name the licence order that brought them (E5: srcLicenseOrderId of a product), as
 * it stands for this customer; one that the CRM names itself stays. Or why it is not known: it is never guessed.
 */
export function withTransfers(
  order: RecordKey,
  assets: readonly PurchasedAsset[],
  standings: CustomerInput["standings"],
): PurchasedAsset[] | Block {
  let unknown: PlannedProduct | undefined;
  const product = (item: PlannedProduct): PlannedProduct => {
    if (item.transferredFrom === undefined || item.srcLicenseOrderId !== undefined) return item;
    const srcLicenseOrderId = sourceOf(order, item.transferredFrom, standings);
    if (srcLicenseOrderId === undefined) unknown ??= item;
    return { ...item, srcLicenseOrderId };
  };
  const inside = (item: PlannedPackage): PlannedPackage => ({
    ...item,
    products: item.products.map(product),
    children: item.children.map(inside),
  });
  const resolved = assets.map((asset) => ({
    ...asset,
    products: asset.products.map(product),
    packages: asset.packages.map(inside),
  }));
  if (unknown?.transferredFrom === undefined) return resolved;
  const { transferredFrom } = unknown;
  return {
    code: "order.transfer-unknown",
    reason:
      `the product ${unknown.id} is transferred from ${transferredFrom.instanceId} of the order ` +
      `${formatKey(orderOf(order, transferredFrom))}, but the licence order of that instance is not known`,
    again: true,
  };
}

/** The licence order that brought an instance; none where units of it came by more than one. */
function sourceOf(
  order: RecordKey,
  from: NonNullable<PlannedProduct["transferredFrom"]>,
  standings: CustomerInput["standings"],
): string | undefined {
  const standing = standings?.get(formatKey(orderOf(order, from)));
  if (standing === undefined || "lost" in standing) return undefined;
  const found = new Set(
    standing.units.flatMap(({ products }) =>
      products.filter((item) => item.product.id === from.instanceId).map((item) => item.licenseOrderId),
    ),
  );
  const [only] = found;
  return found.size === 1 ? only : undefined;
}
