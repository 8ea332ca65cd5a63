import { Refusal } from "./answers.ts";
import type { MerchandiseRecord, NewAsset, NewBuy, ProductRecord } from "./order-bodies.ts";
import type { OrderContext, Placement } from "./order-context.ts";
import { existingOrder } from "./order-references.ts";

/** The asset of a number, made or brought up to date. */
export function assetFor(
  context: OrderContext,
  placement: Placement,
  order: NewBuy,
  asset: NewAsset,
  number: string,
  place: string,
): number {
  const now = context.now();
  const start = asset.limitStartDate ?? null;
  const end = asset.limitEndDate ?? null;
  const existing = context.findAsset.get(number);
  if (existing === undefined) {
    const { lastInsertRowid } = context.insertAsset.run(
      placement.enterprise,
      placement.customer,
      placement.licenseOrder,
      order.licenseType,
      number,
      JSON.stringify(asset.assetExtendList ?? []),
      start,
      end,
      asset.borrowedUsbKey === true ? 1 : 0,
      asset.transferedAssetNum === true ? 1 : 0,
      now,
      now,
    );
    return Number(lastInsertRowid);
  }
  if (existing.enterprise_id !== placement.enterprise) {
    throw new Refusal("13004", `${place}.assetNos: ${number} belongs to another enterprise`);
  }
  if (existing.license_type !== order.licenseType) {
    throw new Refusal("13004", `${place}.assetNos: ${number} has another licenseType`);
  }
  context.updateAsset.run(start, end, now, existing.id);
  return existing.id;
}

export function addProducts(
  context: OrderContext,
  placement: Placement,
  asset: number,
  merchandise: number | null,
  products: ProductRecord[],
): void {
  for (const product of products) {
    if (typeof product.srcLicenseOrderId === "string") {
      existingOrder(
        context,
        product.srcLicenseOrderId,
        placement.enterprise,
        `${product.crmProductId}.srcLicenseOrderId`,
      );
    }
    const { crmProductId, productUri } = product;
    const record = JSON.stringify(product);
    context.insertProduct.run(
      asset,
      merchandise,
      placement.licenseOrder,
      crmProductId,
      productUri,
      record,
      context.now(),
    );
  }
}

export function addMerchandise(
  context: OrderContext,
  placement: Placement,
  asset: number,
  parent: number | null,
  node: MerchandiseRecord,
): void {
  const { lastInsertRowid } = context.insertMerchandise.run(
    asset,
    parent,
    placement.licenseOrder,
    node.crmProductId,
    node.merchandiseNum,
    node.merchandiseName,
    node.parentMerchandiseNum,
    node.timeDurationExpression,
    context.now(),
  );
  const row = Number(lastInsertRowid);
  addProducts(context, placement, asset, row, node.licenseOrderProductList);
  for (const child of node.children ?? []) addMerchandise(context, placement, asset, row, child);
}
