import { Refusal } from "./answers.ts";
import type { MerchandiseRecord, NewAsset, ProductRecord } from "./order-bodies.ts";

/** Refuses (13004) an asset of a new order whose products or packages contradict each other. */
export function checkAsset(asset: NewAsset, place: string): void {
  if (new Set(asset.assetNos).size !== asset.assetNos.length) {
    throw new Refusal("13004", `${place}.assetNos: an asset number is named twice`);
  }
  asset.products.forEach((product, index) => checkProduct(product, `${place}.products[${index}]`));
  const packages = new Set<string>();
  asset.merchandises?.forEach((merchandise, index) =>
    checkMerchandise(merchandise, undefined, packages, `${place}.merchandises[${index}]`),
  );
}

function checkProduct(product: ProductRecord, place: string): void {
  const names = [product.gmsPid, product.appKey].filter((name) => name !== null && name !== undefined);
  if (names.length > 0 && !names.includes(product.productUri)) {
    throw new Refusal("13004", `${place}.productUri: neither gmsPid nor appKey`);
  }
}

function checkMerchandise(
  merchandise: MerchandiseRecord,
  parent: MerchandiseRecord | undefined,
  seen: Set<string>,
  place: string,
): void {
  if (seen.has(merchandise.crmProductId)) throw new Refusal("13004", `${place}.crmProductId: named twice`);
  seen.add(merchandise.crmProductId);
  if (parent !== undefined && merchandise.parentCrmProductId !== parent.crmProductId) {
    throw new Refusal("13004", `${place}.parentCrmProductId: not the package that holds it`);
  }
  if (parent !== undefined && merchandise.parentMerchandiseNum !== parent.merchandiseNum) {
    throw new Refusal("13004", `${place}.parentMerchandiseNum: not the package that holds it`);
  }
  merchandise.licenseOrderProductList.forEach((product, index) => {
    const at = `${place}.licenseOrderProductList[${index}]`;
    if (product.parentCrmProductId !== merchandise.crmProductId) {
      throw new Refusal("13004", `${at}.parentCrmProductId: not the package that holds it`);
    }
    checkProduct(product, at);
  });
  merchandise.children?.forEach((child, index) =>
    checkMerchandise(child, merchandise, seen, `${place}.children[${index}]`),
  );
}
