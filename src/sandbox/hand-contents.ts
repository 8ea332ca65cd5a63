import type { z } from "zod";
import { identifierOf, rowOf } from "./answers.ts";
import { cloudTypes } from "./assumptions.ts";
import type { Platform } from "./endpoints.ts";
import { found, NotThere } from "./hand-edits.ts";
import type { Edits } from "./hand-edits.ts";
import { productSchema } from "./order-bodies.ts";
import type { Store } from "./store.ts";

interface AssetRow {
  id: number;
  enterprise_id: number;
  customer_id: number;
  license_type: string;
}
interface ProductRow {
  id: number;
  merchandise_id: number | null;
  license_order_id: number;
  record: string;
}
function statementsOf(store: Store) {
  return {
    findAsset: store.prepare<[string], AssetRow>(
      `SELECT id, enterprise_id, customer_id, license_type FROM assets WHERE asset_number = ? AND removed_by IS NULL`,
    ),
    findProducts: store.prepare<[number], ProductRow & { crm_product_id: string }>(
      `SELECT id, merchandise_id, license_order_id, crm_product_id, record FROM products
       WHERE asset_id = ? AND removed_by IS NULL ORDER BY id`,
    ),
    removeProduct: store.prepare<[number]>("UPDATE products SET removed_by = license_order_id WHERE id = ?"),
    removeProducts: store.prepare<[number]>(
      "UPDATE products SET removed_by = license_order_id WHERE asset_id = ? AND removed_by IS NULL",
    ),
    removePackages: store.prepare<[number]>(
      "UPDATE merchandises SET removed_by = license_order_id WHERE asset_id = ? AND removed_by IS NULL",
    ),
    removeAsset: store.prepare<[number, number]>(
      `UPDATE assets SET removed_by = license_order_id, updated_at = ?, holder_id = NULL, held_since = NULL,
       lent_to_lock_id = NULL, borrower_id = NULL WHERE id = ?`,
    ),
    changeProduct: store.prepare<[string, string, string, number]>(
      "UPDATE products SET record = ?, product_uri = ?, crm_product_id = ? WHERE id = ?",
    ),
    showProduct: store.prepare<[number, string]>(
      `INSERT INTO shown (product_id, fields) VALUES (?, ?)
       ON CONFLICT (product_id) DO UPDATE SET fields = excluded.fields`,
    ),
    insertBatch: store.prepare<[string, number]>(
      "INSERT INTO batches (channel_order_id, body, created_at) VALUES (?, '{}', ?)",
    ),
    insertOrder: store.prepare<[number, number, number, string, string, string, number]>(
      `INSERT INTO license_orders (batch_id, enterprise_id, customer_id, sequence, order_type, license_type,
       channel_code, channel_order_id, state, created_at) VALUES (?, ?, ?, 1, 'new_buy', ?, ?, ?, 'applied', ?)`,
    ),
    insertProduct: store.prepare<[number, number, string, string, string, number]>(
      `INSERT INTO products (asset_id, license_order_id, crm_product_id, product_uri, record, created_at)
       VALUES (?, ?, ?, ?, ?, ?)`,
    ),
    copyAsset: store.prepare<[number, string, number, number, number]>(
      `INSERT INTO assets (enterprise_id, customer_id, license_order_id, license_type, asset_number, extensions,
       limit_start, limit_end, borrowed_usb_key, transferred, created_at, updated_at)
       SELECT enterprise_id, customer_id, ?, license_type, ?, extensions, limit_start, limit_end, borrowed_usb_key, 0,
       ?, ? FROM assets WHERE id = ?`,
    ),
    setLocked: store.prepare<[number, number, number]>("UPDATE assets SET locked = ?, updated_at = ? WHERE id = ?"),
    lend: store.prepare<[number, number]>("UPDATE assets SET lent_to_lock_id = ? WHERE id = ?"),
    setBorrower: store.prepare<[number | null, number]>("UPDATE assets SET borrower_id = ? WHERE id = ?"),
    giveBack: store.prepare<[number]>("UPDATE assets SET lent_to_lock_id = NULL WHERE lent_to_lock_id = ?"),
    findMember: store.prepare<[number], { id: number }>("SELECT id FROM staff WHERE id = ? AND deleted = 0"),
  };
}

type Context = Platform & ReturnType<typeof statementsOf>;

const assetOf = (context: Context, number: string): AssetRow => found(context.findAsset.get(number), `asset ${number}`);

function productsOf(context: Context, number: string, crmProductId: string): ProductRow[] {
  const rows = context.findProducts.all(assetOf(context, number).id);
  const named = rows.filter((row) => row.crm_product_id === crmProductId);
  if (named.length === 0) throw new NotThere(`there is no product ${crmProductId} in ${number}`);
  return named;
}

/** A licence order of a person's making, beside those that calls made. */
function orderByHand(context: Context, near: AssetRow, channelOrderId: string): number {
  const now = context.now();
  const batch = Number(context.insertBatch.run(channelOrderId, now).lastInsertRowid);
  const { enterprise_id, customer_id, license_type } = near;
  const { channelCode } = context.settings;
  return Number(
    context.insertOrder.run(batch, enterprise_id, customer_id, license_type, channelCode, channelOrderId, now)
      .lastInsertRowid,
  );
}

function insertProduct(context: Context, asset: number, order: number, record: z.infer<typeof productSchema>): string {
  const { crmProductId, productUri } = record;
  const text = JSON.stringify(record);
  const made = context.insertProduct.run(asset, order, crmProductId, productUri, text, context.now());
  return identifierOf("product", Number(made.lastInsertRowid));
}

/** What a person does with assets, what is in them, and locks. */
export function contentEdits(platform: Platform) {
  const context = { ...platform, ...statementsOf(platform.store) };
  return { ...productEdits(context), ...assetEdits(context) };
}

function productEdits(context: Context) {
  return {
    "drop-product": ({ assetNum, crmProductId }) => {
      for (const row of productsOf(context, assetNum, crmProductId)) context.removeProduct.run(row.id);
      return undefined;
    },
    "change-product": ({ assetNum, crmProductId, fields }) => {
      for (const row of productsOf(context, assetNum, crmProductId)) {
        const record = productSchema.parse({ ...JSON.parse(row.record), ...fields });
        context.changeProduct.run(JSON.stringify(record), record.productUri, record.crmProductId, row.id);
      }
      return undefined;
    },
    "show-product": ({ assetNum, crmProductId, fields }) => {
      for (const row of productsOf(context, assetNum, crmProductId))
        context.showProduct.run(row.id, JSON.stringify(fields));
      return undefined;
    },
    "add-product": ({ assetNum, like, fields, channelOrderId }) => {
      const asset = assetOf(context, assetNum);
      const [model] = productsOf(context, assetNum, like);
      const order = orderByHand(context, asset, channelOrderId);
      const record = productSchema.parse({ ...JSON.parse(model?.record ?? "{}"), ...fields });
      return {
        id: insertProduct(context, asset.id, order, record),
        licenseOrderId: identifierOf("licenseOrder", order),
      };
    },
  } satisfies Partial<Edits>;
}

function assetEdits(context: Context) {
  return {
    "drop-asset": ({ assetNum }) => {
      const { id: row } = assetOf(context, assetNum);
      context.removeProducts.run(row);
      context.removePackages.run(row);
      context.removeAsset.run(context.now(), row);
      return undefined;
    },
    "add-asset": ({ like, assetNum, channelOrderId }) => {
      const model = assetOf(context, like);
      if (context.findAsset.get(assetNum) !== undefined) throw new NotThere(`no room for ${assetNum}: it is there`);
      const order = orderByHand(context, model, channelOrderId);
      const now = context.now();
      const row = Number(context.copyAsset.run(order, assetNum, now, now, model.id).lastInsertRowid);
      for (const inside of context.findProducts.all(model.id))
        insertProduct(context, row, order, productSchema.parse(JSON.parse(inside.record)));
      return { assetId: identifierOf("asset", row), licenseOrderId: identifierOf("licenseOrder", order) };
    },
    "set-locked": ({ assetNum, locked }) => {
      const { id: row, license_type } = assetOf(context, assetNum);
      if (cloudTypes.includes(license_type)) throw new NotThere(`${assetNum} is no lock`);
      context.setLocked.run(locked ? 1 : 0, context.now(), row);
      return undefined;
    },
    lend: ({ lock, memberGlobalId, assetNums }) => {
      const key = assetOf(context, lock).id;
      const member = found(context.findMember.get(rowOf("member", memberGlobalId) ?? -1), `member ${memberGlobalId}`);
      context.setBorrower.run(member.id, key);
      for (const number of assetNums) context.lend.run(key, assetOf(context, number).id);
      return undefined;
    },
    "return-loan": ({ lock }) => {
      const { id: row } = assetOf(context, lock);
      context.giveBack.run(row);
      context.setBorrower.run(null, row);
      return undefined;
    },
  } satisfies Partial<Edits>;
}
