import { Refusal } from "./answers.ts";
import type { Platform } from "./endpoints.ts";
import { productSchema } from "./order-bodies.ts";
import type { DeletedProduct, Deletion } from "./order-bodies.ts";
import { epochMs } from "./store.ts";
import type { Store } from "./store.ts";

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

type Removing = Pick<Platform, "now" | "settings"> & ReturnType<typeof statementsOf>;

function statementsOf(store: Store) {
  return {
    findAsset: store.prepare<[string, number], { id: number }>(
      "SELECT id FROM assets WHERE asset_number = ? AND enterprise_id = ? AND removed_by IS NULL",
    ),
    productsOfAsset: store.prepare<[number, number | null], ProductRow>(
      `SELECT id, asset_id, crm_product_id, product_uri, record
       FROM products WHERE asset_id = ? AND removed_by IS NULL AND license_order_id = COALESCE(?, license_order_id)`,
    ),
    productsOfCustomer: store.prepare<[number], ProductRow>(
      `SELECT products.id, asset_id, crm_product_id, product_uri, record
       FROM products JOIN license_orders ON license_orders.id = products.license_order_id
       WHERE license_orders.customer_id = ? AND products.removed_by IS NULL`,
    ),
    removeProduct: store.prepare<[number, number]>("UPDATE products SET removed_by = ? WHERE id = ?"),
    removeEmptyPackages: store.prepare<[number, number]>(
      `UPDATE merchandises SET removed_by = ? WHERE asset_id = ? AND removed_by IS NULL
       AND NOT EXISTS (SELECT 1 FROM products WHERE merchandise_id = merchandises.id AND products.removed_by IS NULL)
       AND NOT EXISTS (SELECT 1 FROM merchandises child WHERE child.parent_id = merchandises.id AND child.removed_by
       IS NULL)`,
    ),
    removeAsset: store.prepare<[number, number, number]>(
      `UPDATE assets SET removed_by = ?, updated_at = ?, holder_id = NULL, held_since = NULL, lent_to_lock_id = NULL,
       borrower_id = NULL WHERE id = ?`,
    ),
  };
}

/** What removes assets and products for E5 delete_asset and delete_product; 13004 when a deletion finds nothing. */
export function createRemoval(platform: Platform): (order: Deletion, scope: Scope, place: string) => void {
  const { store, settings } = platform;
  const context = { ...statementsOf(store), settings, now: () => platform.now() };
  return (order, scope, place) => remove(context, order, scope, place);
}

function remove(context: Removing, order: Deletion, scope: Scope, place: string): void {
  const assetsOf = (numbers: string[], at: string) =>
    numbers.map((number) => assetOf(context, number, scope.enterprise, at));
  if (order.orderType === "delete_asset") {
    order.assets.forEach((record, index) => {
      const at = `${place}.assets[${index}]`;
      for (const asset of assetsOf(record.assetNos, at)) deleteAsset(context, asset, scope, at);
    });
    return;
  }
  order.assets.forEach((record, index) => {
    const at = `${place}.assets[${index}]`;
    const assets = assetsOf(record.assetNos, at);
    record.products.forEach((product, position) =>
      deleteProduct(context, product, assets, scope, `${at}.products[${position}]`),
    );
  });
}

function assetOf(context: Removing, number: string, enterprise: number, place: string): number {
  const found = context.findAsset.get(number, enterprise);
  if (found === undefined) throw new Refusal("13004", `${place}.assetNos: ${number} is no asset of the enterprise`);
  return found.id;
}

function take(context: Removing, rows: ProductRow[], by: number): void {
  for (const row of rows) context.removeProduct.run(by, row.id);
  // A package goes once nothing is left below it, which may leave the one above it empty in turn.
  for (const asset of new Set(rows.map((row) => row.asset_id))) {
    while (context.removeEmptyPackages.run(by, asset).changes > 0);
  }
}

function deleteAsset(context: Removing, asset: number, scope: Scope, place: string): void {
  const rows = context.productsOfAsset.all(asset, scope.sourceOrder);
  if (scope.sourceOrder !== null && rows.length === 0) {
    throw new Refusal("13004", `${place}.srcLicenseOrderId: the order has nothing in this asset`);
  }
  take(context, rows, scope.licenseOrder);
  if (context.productsOfAsset.all(asset, null).length === 0)
    context.removeAsset.run(scope.licenseOrder, context.now(), asset);
}

function deleteProduct(
  context: Removing,
  product: DeletedProduct,
  assets: number[],
  scope: Scope,
  place: string,
): void {
  const candidates =
    scope.sourceOrder === null
      ? context.productsOfCustomer.all(scope.customer)
      : assets.flatMap((asset) => context.productsOfAsset.all(asset, scope.sourceOrder));
  const matching = candidates.filter((row) => row.product_uri === product.productUri && fits(context, row, product));
  if (matching.length === 0) throw new Refusal("13004", `${place}: no such product`);
  take(context, matching, scope.licenseOrder);
}

/**
 * What takes back the orders of a channel order number without a call, as a person on the platform's own pages could.
 */
export function createDropping(platform: Platform): (channelOrderId: string) => number {
  const { store } = platform;
  const findOrders = store.prepare<[string], { id: number }>(
    "SELECT id FROM license_orders WHERE channel_order_id = ?",
  );
  const statements = ["products", "merchandises", "assets"].map((table) =>
    store.prepare<[number, number]>(
      `UPDATE ${table} SET removed_by = ? WHERE license_order_id = ? AND removed_by IS NULL`,
    ),
  );
  return store.transaction((channelOrderId: string) => {
    const orders = findOrders.all(channelOrderId);
    for (const { id } of orders) for (const statement of statements) statement.run(id, id);
    return orders.length;
  });
}

/** An exact match compares both limits and the nodes, by setting the instance too; any other the mnemonic alone. */
function fits({ settings }: Removing, row: ProductRow, product: DeletedProduct): boolean {
  if (product.strictMatchWhenDelete !== true) return true;
  if (settings.strictMatch === "instance" && row.crm_product_id !== product.crmProductId) return false;
  const stored = productSchema.parse(JSON.parse(row.record));
  return (
    epochMs(stored.limitStartDate) === epochMs(product.limitStartDate) &&
    epochMs(stored.limitEndDate) === epochMs(product.limitEndDate) &&
    stored.limitConcurrent === product.limitConcurrent
  );
}
