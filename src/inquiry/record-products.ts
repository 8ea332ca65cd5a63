import type { JsonObject } from "../base/canonical-json.ts";
import type { Asset, Money, Package, Product } from "../crm/model.ts";
import type { PrivateMarker } from "../operation/references.ts";

/** A product of an order as the CRM gives it, with the asset it belongs to. Its licence passwords are left out. */
export interface CrmProduct {
  id: string;
  assetId: string;
  licenseType: string;
  /** The number of the package that holds it, or null where it stands under the asset itself. */
  packageNumber: string | null;
  amount: Money | undefined;
  /** Everything else the CRM says of it, flat enough to be compared. */
  fields: JsonObject;
}

/** A package of an order as the CRM gives it. */
interface CrmPackage {
  number: string;
  name: string;
  parentNumber: string | null;
  assetId: string;
  licenseType: string;
}

/** Every product of an order, packages included, in the order of the assets. */
export function productsOf(assets: readonly Asset<PrivateMarker>[]): CrmProduct[] {
  return assets.flatMap((asset) => [
    ...asset.products.map((product) => crmProduct(asset, product, null)),
    ...packagesUnder(asset.packages).flatMap((item) =>
      item.products.map((product) => crmProduct(asset, product, item.number)),
    ),
  ]);
}

/** Every package of an order, the upper ones before the lower ones. */
export function packagesOf(assets: readonly Asset<PrivateMarker>[]): CrmPackage[] {
  return assets.flatMap((asset) =>
    packagesUnder(asset.packages).map((item) => ({
      number: item.number,
      name: item.name,
      parentNumber: item.parentNumber ?? null,
      assetId: asset.id,
      licenseType: asset.licenseType,
    })),
  );
}

function packagesUnder(packages: readonly Package<PrivateMarker>[]): Package<PrivateMarker>[] {
  return packages.flatMap((item) => [item, ...packagesUnder(item.children)]);
}

function crmProduct(
  asset: Asset<PrivateMarker>,
  product: Product<PrivateMarker>,
  packageNumber: string | null,
): CrmProduct {
  const { id, parentId: _parentId, passwords: _passwords, amount, features, ...fields } = product;
  return {
    id,
    assetId: asset.id,
    licenseType: asset.licenseType,
    packageNumber,
    amount,
    fields: {
      ...fields,
      features: features.map((feature) => ({ ...feature })),
    },
  };
}
