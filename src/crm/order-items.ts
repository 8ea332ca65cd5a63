import type { JsonObject } from "../base/canonical-json.ts";
import type { Asset, Money, Package, Product } from "./model.ts";

/** A product with its asset. Licence passwords are left out. */
interface OrderProduct {
  id: string;
  assetId: string;
  licenseType: string;
  /** Null if the product is directly under the asset. */
  packageNumber: string | null;
  amount: Money | undefined;
  fields: JsonObject;
}

interface OrderPackage {
  number: string;
  name: string;
  parentNumber: string | null;
  assetId: string;
  licenseType: string;
}

function productsOf<Passwords>(assets: readonly Asset<Passwords>[]): OrderProduct[] {
  return assets.flatMap((asset) => [
    ...asset.products.map((product) => orderProduct(asset, product, null)),
    ...packagesUnder(asset.packages).flatMap((item) =>
      item.products.map((product) => orderProduct(asset, product, item.number)),
    ),
  ]);
}

function packagesOf<Passwords>(assets: readonly Asset<Passwords>[]): OrderPackage[] {
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

function packagesUnder<Passwords>(packages: readonly Package<Passwords>[]): Package<Passwords>[] {
  return packages.flatMap((item) => [item, ...packagesUnder(item.children)]);
}

function orderProduct<Passwords>(
  asset: Asset<Passwords>,
  product: Product<Passwords>,
  packageNumber: string | null,
): OrderProduct {
  const { id, parentId: _parentId, passwords: _passwords, amount, features, transferredFrom, ...fields } = product;
  return {
    id,
    assetId: asset.id,
    licenseType: asset.licenseType,
    packageNumber,
    amount,
    fields: {
      ...fields,
      ...(transferredFrom !== undefined && { transferredFrom: { ...transferredFrom } }),
      features: features.map((feature) => ({ ...feature })),
    },
  };
}

/** A product or package under one asset number. Null: no number is fixed yet. */
export interface NumberedItem {
  id: string;
  instanceId: string;
  assetNumber: string | null;
  licenseType: string;
  fields: JsonObject;
}

/** Each item under every number of its asset. `numbersOf`: of the asset, or those known for one of its products. */
export function numberedItems<Passwords>(
  assets: readonly Asset<Passwords>[],
  numbersOf: (assetId: string, productId: string | undefined) => readonly string[],
): { products: NumberedItem[]; packages: NumberedItem[] } {
  const under = (assetId: string, productId: string | undefined): readonly (string | null)[] => {
    const numbers = numbersOf(assetId, productId);
    return numbers.length === 0 ? [null] : numbers;
  };
  const all = productsOf(assets);
  const products = all.flatMap(({ id, assetId, licenseType, fields }) =>
    under(assetId, id).map((assetNumber) => ({ id, instanceId: id, assetNumber, licenseType, fields })),
  );
  const packages = packagesOf(assets).flatMap(({ number, name, parentNumber, assetId, licenseType }) => {
    const inside = all.find((product) => product.assetId === assetId && product.packageNumber === number);
    return under(assetId, inside?.id).map((assetNumber) => ({
      id: number,
      instanceId: `${assetId} ${number}`,
      assetNumber,
      licenseType,
      fields: { number, name, parentNumber },
    }));
  });
  return { products, packages };
}
