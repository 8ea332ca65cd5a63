import { z } from "zod";
import { createRemoval } from "./deletions.ts";
import type { Platform } from "./endpoints.ts";
import { createBatchSchema } from "./order-bodies.ts";
import type { OrderRecord } from "./order-bodies.ts";
import type { Given, Store } from "./store.ts";

/** An order record whose references were found. */
export interface Placement {
  order: OrderRecord;
  enterprise: number;
  customer: number;
  sourceOrder: number | null;
  licenseOrder: number;
}

export type OrderContext = ReturnType<typeof orderContext>;

/** What is common to the parts of E5: the platform, its shapes, and the statements, prepared once. */
export function orderContext(platform: Platform) {
  const batchSchema = createBatchSchema(platform.settings.requireAddress);
  const placementsSchema: z.ZodType<Placement[]> = z.array(
    z.strictObject({
      order: batchSchema.shape.orderList.element,
      enterprise: z.int(),
      customer: z.int(),
      sourceOrder: z.int().nullable(),
      licenseOrder: z.int(),
    }),
  );
  return {
    ...platform,
    ...statementsOf(platform.store),
    remove: createRemoval(platform),
    batchSchema,
    placementsSchema,
  };
}

function statementsOf(store: Store) {
  return {
    findCustomer: store.prepare<[number, number], { id: number; channel_customer_id: string }>(
      "SELECT id, channel_customer_id FROM customers WHERE id = ? AND enterprise_id = ?",
    ),
    findCustomerOfDeletion: store.prepare<[number, string], { id: number }>(
      `SELECT id FROM customers WHERE enterprise_id = ? AND channel_customer_id = ?
       ORDER BY is_default DESC, id LIMIT 1`,
    ),
    findEnterprise: store.prepare<[number], { id: number }>("SELECT id FROM enterprises WHERE id = ?"),
    findOrder: store.prepare<[number, number], { id: number }>(
      "SELECT id FROM license_orders WHERE id = ? AND enterprise_id = ?",
    ),
    insertBatch: store.prepare<[string, string, number]>(
      "INSERT INTO batches (channel_order_id, body, created_at) VALUES (?, ?, ?)",
    ),
    insertOrder: store.prepare<
      [number, number, number, number, string, string, string, string, number | null, string, number]
    >(
      `INSERT INTO license_orders (batch_id, enterprise_id, customer_id, sequence, order_type, license_type,
       channel_code, channel_order_id, source_order_id, state, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    setState: store.prepare<[string, number]>("UPDATE license_orders SET state = ? WHERE id = ?"),
    findAsset: store.prepare<[string], { id: number; enterprise_id: number; license_type: string }>(
      "SELECT id, enterprise_id, license_type FROM assets WHERE asset_number = ? AND removed_by IS NULL",
    ),
    insertAsset: store.prepare<
      [number, number, number, string, string, string, Given, Given, number, number, number, number]
    >(
      `INSERT INTO assets (enterprise_id, customer_id, license_order_id, license_type, asset_number, extensions,
       limit_start, limit_end, borrowed_usb_key, transferred, created_at, updated_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    updateAsset: store.prepare<[Given, Given, number, number]>(
      `UPDATE assets SET limit_start = COALESCE(?, limit_start), limit_end = COALESCE(?, limit_end), updated_at = ?
       WHERE id = ?`,
    ),
    insertProduct: store.prepare<[number, number | null, number, string, string, string, number]>(
      `INSERT INTO products (asset_id, merchandise_id, license_order_id, crm_product_id, product_uri, record,
       created_at) VALUES (?, ?, ?, ?, ?, ?, ?)`,
    ),
    insertMerchandise: store.prepare<[number, number | null, number, string, string, string, string, string, number]>(
      `INSERT INTO merchandises (asset_id, parent_id, license_order_id, crm_product_id, number, name, parent_number,
       term, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
  };
}
