import { identifierOf } from "./answers.ts";
import { cloudTypes } from "./assumptions.ts";
import { removeAsset } from "./deletions.ts";
import type { Platform } from "./endpoints.ts";
import { assetNamed, NotThere, staffOf, type AssetRow, type Edits } from "./hand-edits.ts";
import { productSchema } from "./order-bodies.ts";
import { addProduct } from "./orders.ts";

interface ProductRow {
  id: number;
  license_order_id: number;
  crm_product_id: string;
  record: string;
}

function productsIn({ store }: Platform, asset: AssetRow): ProductRow[] {
  return store.all<ProductRow>(
    `SELECT id, license_order_id, crm_product_id, record FROM products
     WHERE asset_id = ? AND removed_by IS NULL ORDER BY id`,
    asset.id,
  );
}

function productsOf(platform: Platform, number: string, crmProductId: string): ProductRow[] {
  const rows = productsIn(platform, assetNamed(platform, number));
  const named = rows.filter((row) => row.crm_product_id === crmProductId);
  if (named.length === 0) throw new NotThere(`there is no product ${crmProductId} in ${number}`);
  return named;
}

function orderByHand({ store, settings, now }: Platform, near: AssetRow, channelOrderId: string): number {
  const at = now();
  return store.insert("license_orders", {
    batch_id: store.insert("batches", { channel_order_id: channelOrderId, body: "{}", created_at: at }),
    enterprise_id: near.enterprise_id,
    customer_id: near.customer_id,
    sequence: 1,
    order_type: "new_buy",
    license_type: near.license_type,
    channel_code: settings.channelCode,
    channel_order_id: channelOrderId,
    state: "applied",
    created_at: at,
  });
}

export function contentEdits(platform: Platform) {
  return { ...productEdits(platform), ...assetEdits(platform) };
}

function productEdits(platform: Platform) {
  const { store } = platform;
  return {
    "drop-product": ({ assetNum, crmProductId }) => {
      for (const row of productsOf(platform, assetNum, crmProductId))
        store.run("UPDATE products SET removed_by = license_order_id WHERE id = ?", row.id);
      return undefined;
    },
    "change-product": ({ assetNum, crmProductId, fields }) => {
      for (const row of productsOf(platform, assetNum, crmProductId)) {
        const record = productSchema.parse({ ...JSON.parse(row.record), ...fields });
        const sql = "UPDATE products SET record = ?, product_uri = ?, crm_product_id = ? WHERE id = ?";
        store.run(sql, JSON.stringify(record), record.productUri, record.crmProductId, row.id);
      }
      return undefined;
    },
    "show-product": ({ assetNum, crmProductId, fields }) => {
      for (const row of productsOf(platform, assetNum, crmProductId))
        store.run("INSERT OR REPLACE INTO shown (product_id, fields) VALUES (?, ?)", row.id, JSON.stringify(fields));
      return undefined;
    },
    "add-product": ({ assetNum, like, fields, channelOrderId }) => {
      const asset = assetNamed(platform, assetNum);
      const [model] = productsOf(platform, assetNum, like);
      const order = orderByHand(platform, asset, channelOrderId);
      const record = productSchema.parse({ ...JSON.parse(model?.record ?? "{}"), ...fields });
      const row = addProduct(platform, { asset: asset.id, merchandise: null, order }, record);
      return { id: identifierOf("product", row), licenseOrderId: identifierOf("licenseOrder", order) };
    },
  } satisfies Partial<Edits>;
}

function assetEdits(platform: Platform) {
  const { store } = platform;
  return {
    "drop-asset": ({ assetNum }) => {
      const asset = assetNamed(platform, assetNum);
      for (const table of ["products", "merchandises"])
        store.run(
          `UPDATE ${table} SET removed_by = license_order_id WHERE asset_id = ? AND removed_by IS NULL`,
          asset.id,
        );
      removeAsset(platform, asset.id, asset.license_order_id);
      return undefined;
    },
    "add-asset": ({ like, assetNum, channelOrderId }) => {
      const model = assetNamed(platform, like);
      const isThere = store.get("SELECT 1 FROM assets WHERE asset_number = ? AND removed_by IS NULL", assetNum);
      if (isThere !== undefined) throw new NotThere(`no room for ${assetNum}: it is there`);
      const order = orderByHand(platform, model, channelOrderId);
      const { id: _, ...copied } = model;
      const [created_at, updated_at] = [platform.now(), platform.now()];
      const made = { license_order_id: order, asset_number: assetNum, transferred: 0, created_at, updated_at };
      const row = store.insert("assets", { ...copied, ...made });
      for (const { record } of productsIn(platform, model)) {
        const product = productSchema.parse(JSON.parse(record));
        addProduct(platform, { asset: row, merchandise: null, order }, product);
      }
      return { assetId: identifierOf("asset", row), licenseOrderId: identifierOf("licenseOrder", order) };
    },
    "set-locked": ({ assetNum, locked }) => {
      const { id, license_type: licenseType } = assetNamed(platform, assetNum);
      if (cloudTypes.includes(licenseType)) throw new NotThere(`${assetNum} is no lock`);
      store.run("UPDATE assets SET locked = ?, updated_at = ? WHERE id = ?", locked ? 1 : 0, platform.now(), id);
      return undefined;
    },
    lend: ({ lock, memberGlobalId, assetNums }) => {
      const key = assetNamed(platform, lock).id;
      store.run("UPDATE assets SET borrower_id = ? WHERE id = ?", staffOf(platform, memberGlobalId).id, key);
      for (const number of assetNums)
        store.run("UPDATE assets SET lent_to_lock_id = ? WHERE id = ?", key, assetNamed(platform, number).id);
      return undefined;
    },
    "return-loan": ({ lock }) => {
      const { id } = assetNamed(platform, lock);
      store.run("UPDATE assets SET lent_to_lock_id = NULL WHERE lent_to_lock_id = ?", id);
      store.run("UPDATE assets SET borrower_id = NULL WHERE id = ?", id);
      return undefined;
    },
  } satisfies Partial<Edits>;
}
