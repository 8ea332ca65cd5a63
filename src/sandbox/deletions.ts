import { Refusal } from "./answers.ts";
import type { Platform } from "./endpoints.ts";
import { productSchema, type DeletedProduct, type Deletion } from "./order-bodies.ts";
import { epochMs, type Store } from "./store.ts";

interface Scope {
  enterprise: number;
  customer: number;
  sourceOrder: number | null;
  licenseOrder: number;
}

interface ProductRow {
  id: number;
  asset_id: number;
  crm_product_id: string;
  product_uri: string;
  record: string;
}

/** Throws 13004 if a deletion finds nothing. */
export function remove(platform: Platform, order: Deletion, scope: Scope, place: string): void {
  order.assets.forEach((record, index) => {
    const at = `${place}.assets[${index}]`;
    const assets = record.assetNos.map((number) => assetOf(platform, number, scope.enterprise, at));
    if (order.orderType === "delete_asset") for (const asset of assets) deleteAsset(platform, asset, scope, at);
    else
      order.assets[index]?.products.forEach((product, position) =>
        deleteProduct(platform, product, assets, scope, `${at}.products[${position}]`),
      );
  });
}

function assetOf({ store }: Platform, number: string, enterprise: number, place: string): number {
  const found = store.get<{ id: number }>(
    "SELECT id FROM assets WHERE asset_number = ? AND enterprise_id = ? AND removed_by IS NULL",
    number,
    enterprise,
  );
  if (found === undefined) throw new Refusal("13004", `${place}.assetNos: ${number} is no asset of the enterprise`);
  return found.id;
}

const productColumns = "products.id, asset_id, crm_product_id, product_uri, record";

function productsOfAsset(store: Store, asset: number, order: number | null): ProductRow[] {
  return store.all<ProductRow>(
    `SELECT ${productColumns} FROM products
     WHERE asset_id = ? AND removed_by IS NULL AND license_order_id = COALESCE(?, license_order_id)`,
    asset,
    order,
  );
}

function take(store: Store, rows: ProductRow[], by: number): void {
  for (const row of rows) store.run("UPDATE products SET removed_by = ? WHERE id = ?", by, row.id);
  // A package ends when nothing is left in it, which may empty the package above.
  const removeEmptyPackages = `UPDATE merchandises SET removed_by = ? WHERE asset_id = ? AND removed_by IS NULL
    AND NOT EXISTS (SELECT 1 FROM products WHERE merchandise_id = merchandises.id AND products.removed_by IS NULL)
    AND NOT EXISTS (SELECT 1 FROM merchandises child WHERE child.parent_id = merchandises.id AND child.removed_by IS NULL)`;
  for (const asset of new Set(rows.map((row) => row.asset_id))) while (store.run(removeEmptyPackages, by, asset) > 0);
}

export function removeAsset({ store, now }: Pick<Platform, "store" | "now">, asset: number, by: number): void {
  store.run(
    `UPDATE assets SET removed_by = ?, updated_at = ?, holder_id = NULL, held_since = NULL, lent_to_lock_id = NULL,
     borrower_id = NULL WHERE id = ?`,
    by,
    now(),
    asset,
  );
}

function deleteAsset(platform: Platform, asset: number, scope: Scope, place: string): void {
  const { store } = platform;
  const rows = productsOfAsset(store, asset, scope.sourceOrder);
  if (scope.sourceOrder !== null && rows.length === 0) {
    throw new Refusal("13004", `${place}.srcLicenseOrderId: the order has nothing in this asset`);
  }
  take(store, rows, scope.licenseOrder);
  if (productsOfAsset(store, asset, null).length === 0) removeAsset(platform, asset, scope.licenseOrder);
}

function deleteProduct(
  platform: Platform,
  product: DeletedProduct,
  assets: number[],
  scope: Scope,
  place: string,
): void {
  const { store } = platform;
  const candidates =
    scope.sourceOrder === null
      ? store.all<ProductRow>(
          `SELECT ${productColumns} FROM products JOIN license_orders ON license_orders.id = products.license_order_id
           WHERE license_orders.customer_id = ? AND products.removed_by IS NULL`,
          scope.customer,
        )
      : assets.flatMap((asset) => productsOfAsset(store, asset, scope.sourceOrder));
  const matching = candidates.filter((row) => row.product_uri === product.productUri && fits(platform, row, product));
  if (matching.length === 0) throw new Refusal("13004", `${place}: no such product`);
  take(store, matching, scope.licenseOrder);
}

export function dropOrders({ store }: Platform, channelOrderId: string): number {
  return store.transact(() => {
    const orders = store.all<{ id: number }>(
      "SELECT id FROM license_orders WHERE channel_order_id = ?",
      channelOrderId,
    );
    for (const { id } of orders)
      for (const table of ["products", "merchandises", "assets"])
        store.run(`UPDATE ${table} SET removed_by = ? WHERE license_order_id = ? AND removed_by IS NULL`, id, id);
    return orders.length;
  });
}

/** A strict match compares limits and nodes, and by setting also crmProductId. */
function fits({ settings }: Platform, row: ProductRow, product: DeletedProduct): boolean {
  if (product.strictMatchWhenDelete !== true) return true;
  if (settings.strictMatch === "instance" && row.crm_product_id !== product.crmProductId) return false;
  const stored = productSchema.parse(JSON.parse(row.record));
  return (
    epochMs(stored.limitStartDate) === epochMs(product.limitStartDate) &&
    epochMs(stored.limitEndDate) === epochMs(product.limitEndDate) &&
    stored.limitConcurrent === product.limitConcurrent
  );
}
