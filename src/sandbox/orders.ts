import { z } from "zod";
import { Refusal, success } from "./answers.ts";
import { cloudTypes } from "./assumptions.ts";
import { createRemoval } from "./deletions.ts";
import { identifierOf, rowOf } from "./identifiers.ts";
import type { Call, Platform, Run } from "./endpoints.ts";
import { createBatchSchema } from "./order-bodies.ts";
import type { Batch, MerchandiseRecord, NewAsset, NewBuy, OrderRecord, ProductRecord } from "./order-bodies.ts";
import { checkAsset } from "./order-tree.ts";
import { checked, requiredText } from "./parameters.ts";
import type { Given } from "./store.ts";

const querySchema = z.object({ appKey: requiredText });

/** An order record whose references were found. */
interface Placement {
  order: OrderRecord;
  enterprise: number;
  customer: number;
  sourceOrder: number | null;
  licenseOrder: number;
}

interface OrderOperations {
  E5: Run;
  /** Applies the orders of an asynchronous call. Throws a Refusal when they no longer fit what is there. */
  applyDeferred: (payload: string) => void;
  /** Marks the orders of an asynchronous call that could not be applied. */
  failDeferred: (payload: string) => void;
}

/**
 * E5, and what is left to do of an asynchronous one.
 * In one piece: the statements are prepared once, and the calls below share them.
 */
export function orderOperations(platform: Platform): OrderOperations {
  const { store, settings } = platform;
  const batchSchema = createBatchSchema(settings.requireAddress);
  const placementsSchema: z.ZodType<Placement[]> = z.array(
    z.strictObject({
      order: batchSchema.shape.orderList.element,
      enterprise: z.int(),
      customer: z.int(),
      sourceOrder: z.int().nullable(),
      licenseOrder: z.int(),
    }),
  );
  const remove = createRemoval(platform);
  const findCustomer = store.prepare<[number, number], { id: number; channel_customer_id: string }>(
    "SELECT id, channel_customer_id FROM customers WHERE id = ? AND enterprise_id = ?",
  );
  const findCustomerOfDeletion = store.prepare<[number, string], { id: number }>(
    "SELECT id FROM customers WHERE enterprise_id = ? AND channel_customer_id = ? ORDER BY is_default DESC, id LIMIT 1",
  );
  const findEnterprise = store.prepare<[number], { id: number }>("SELECT id FROM enterprises WHERE id = ?");
  const findOrder = store.prepare<[number, number], { id: number }>(
    "SELECT id FROM license_orders WHERE id = ? AND enterprise_id = ?",
  );
  const insertBatch = store.prepare<[string, string, number]>(
    "INSERT INTO batches (channel_order_id, body, created_at) VALUES (?, ?, ?)",
  );
  const insertOrder = store.prepare<
    [number, number, number, number, string, string, string, string, number | null, string, number]
  >(
    `INSERT INTO license_orders (batch_id, enterprise_id, customer_id, sequence, order_type, license_type, channel_code,
       channel_order_id, source_order_id, state, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const setState = store.prepare<[string, number]>("UPDATE license_orders SET state = ? WHERE id = ?");
  const findAsset = store.prepare<[string], { id: number; enterprise_id: number; license_type: string }>(
    "SELECT id, enterprise_id, license_type FROM assets WHERE asset_number = ? AND removed_by IS NULL",
  );
  const insertAsset = store.prepare<
    [number, number, number, string, string, string, Given, Given, number, number, number, number]
  >(
    `INSERT INTO assets (enterprise_id, customer_id, license_order_id, license_type, asset_number, extensions,
    limit_start, limit_end,
       borrowed_usb_key, transferred, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const updateAsset = store.prepare<[Given, Given, number, number]>(
    `UPDATE assets SET limit_start = COALESCE(?, limit_start), limit_end = COALESCE(?, limit_end), updated_at = ?
      WHERE id = ?`,
  );
  const insertProduct = store.prepare<[number, number | null, number, string, string, string, number]>(
    `INSERT INTO products (asset_id, merchandise_id, license_order_id, crm_product_id, product_uri, record, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  const insertMerchandise = store.prepare<
    [number, number | null, number, string, string, string, string, string, number]
  >(
    `INSERT INTO merchandises (asset_id, parent_id, license_order_id, crm_product_id, number, name, parent_number,
    term, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );

  function referencesOf(order: OrderRecord, place: string): Omit<Placement, "order" | "licenseOrder"> {
    const enterprise = rowOf("enterprise", order.enterpriseGlobalId);
    if (enterprise === undefined || findEnterprise.get(enterprise) === undefined) {
      throw new Refusal("13004", `${place}.enterpriseGlobalId: no such enterprise`);
    }
    return {
      enterprise,
      customer: customerOf(order, enterprise, place),
      sourceOrder: sourceOrderOf(order, enterprise, place),
    };
  }

  function customerOf(order: OrderRecord, enterprise: number, place: string): number {
    if (order.customerId === null || order.customerId === undefined) {
      const found = findCustomerOfDeletion.get(enterprise, order.channelCustomerId);
      if (found === undefined)
        throw new Refusal("13004", `${place}.channelCustomerId: not a customer of the enterprise`);
      return found.id;
    }
    const found = findCustomer.get(rowOf("customer", order.customerId) ?? -1, enterprise);
    if (found === undefined) throw new Refusal("13004", `${place}.customerId: not a customer of the enterprise`);
    if (found.channel_customer_id !== order.channelCustomerId) {
      throw new Refusal("13004", `${place}.channelCustomerId: not the number of this customer`);
    }
    return found.id;
  }

  function sourceOrderOf(order: OrderRecord, enterprise: number, place: string): number | null {
    const source = order.srcLicenseOrderId ?? "";
    if (source === "") {
      if (order.orderType !== "new_buy" && cloudTypes.includes(order.licenseType)) {
        throw new Refusal("13004", `${place}.srcLicenseOrderId: required for a cloud authorization type`);
      }
      return null;
    }
    return existingOrder(source, enterprise, `${place}.srcLicenseOrderId`);
  }

  function existingOrder(identifier: string, enterprise: number, place: string): number {
    const found = findOrder.get(rowOf("licenseOrder", identifier) ?? -1, enterprise);
    if (found === undefined) throw new Refusal("13004", `${place}: no such order of the enterprise`);
    return found.id;
  }

  function assetFor(placement: Placement, order: NewBuy, asset: NewAsset, number: string, place: string): number {
    const now = platform.now();
    const start = asset.limitStartDate ?? null;
    const end = asset.limitEndDate ?? null;
    const existing = findAsset.get(number);
    if (existing === undefined) {
      const { lastInsertRowid } = insertAsset.run(
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
    updateAsset.run(start, end, now, existing.id);
    return existing.id;
  }

  function addProducts(
    placement: Placement,
    asset: number,
    merchandise: number | null,
    products: ProductRecord[],
  ): void {
    for (const product of products) {
      if (typeof product.srcLicenseOrderId === "string") {
        existingOrder(product.srcLicenseOrderId, placement.enterprise, `${product.crmProductId}.srcLicenseOrderId`);
      }
      const { crmProductId, productUri } = product;
      const record = JSON.stringify(product);
      insertProduct.run(asset, merchandise, placement.licenseOrder, crmProductId, productUri, record, platform.now());
    }
  }

  function addMerchandise(placement: Placement, asset: number, parent: number | null, node: MerchandiseRecord): void {
    const { lastInsertRowid } = insertMerchandise.run(
      asset,
      parent,
      placement.licenseOrder,
      node.crmProductId,
      node.merchandiseNum,
      node.merchandiseName,
      node.parentMerchandiseNum,
      node.timeDurationExpression,
      platform.now(),
    );
    const row = Number(lastInsertRowid);
    addProducts(placement, asset, row, node.licenseOrderProductList);
    for (const child of node.children ?? []) addMerchandise(placement, asset, row, child);
  }

  function apply(placement: Placement, place: string): void {
    const { order } = placement;
    if (order.orderType === "new_buy") {
      order.assets.forEach((asset, index) => {
        for (const number of asset.assetNos) {
          const row = assetFor(placement, order, asset, number, `${place}.assets[${index}]`);
          addProducts(placement, row, null, asset.products);
          for (const root of asset.merchandises ?? []) addMerchandise(placement, row, null, root);
        }
      });
    } else {
      remove(order, placement, place);
    }
    setState.run("applied", placement.licenseOrder);
  }

  function checkBatch(call: Call): Batch {
    const { appKey } = checked(querySchema, Object.fromEntries(call.query));
    if (appKey !== settings.appKey) throw new Refusal("13004", "appKey: unknown application");
    const batch = checked(batchSchema, call.body);
    const sequences = new Set<number>();
    batch.orderList.forEach((order, index) => {
      const place = `orderList[${index}]`;
      if (sequences.has(order.sequence)) throw new Refusal("13004", `${place}.sequence: named twice`);
      sequences.add(order.sequence);
      if (order.orderType !== "new_buy") return;
      order.assets.forEach((asset, position) => checkAsset(asset, `${place}.assets[${position}]`));
    });
    return batch;
  }

  function register(batch: Batch, text: string): Placement[] {
    const now = platform.now();
    const batchRow = Number(insertBatch.run(batch.channelOrderId, text, now).lastInsertRowid);
    return batch.orderList.map((order, index) => {
      const references = referencesOf(order, `orderList[${index}]`);
      const { lastInsertRowid } = insertOrder.run(
        batchRow,
        references.enterprise,
        references.customer,
        order.sequence,
        order.orderType,
        order.licenseType,
        batch.channelCode,
        batch.channelOrderId,
        references.sourceOrder,
        "waiting",
        now,
      );
      return { order, ...references, licenseOrder: Number(lastInsertRowid) };
    });
  }

  return {
    E5(call) {
      const batch = checkBatch(call);
      const placements = register(batch, call.text);
      if (batch.syncMode === "async") {
        platform.defer("orders", JSON.stringify(placements), settings.asyncDelayMs);
      } else {
        placements.forEach((placement, index) => apply(placement, `orderList[${index}]`));
      }
      return success(
        placements.map(({ order, licenseOrder, customer }) => ({
          sequence: order.sequence,
          licenseOrderId: identifierOf("licenseOrder", licenseOrder),
          customerId: identifierOf("customer", customer),
        })),
      );
    },

    applyDeferred(payload) {
      placementsSchema
        .parse(JSON.parse(payload))
        .forEach((placement, index) => apply(placement, `orderList[${index}]`));
    },

    failDeferred(payload) {
      for (const { licenseOrder } of placementsSchema.parse(JSON.parse(payload))) setState.run("failed", licenseOrder);
    },
  };
}
