import { z } from "zod";
import { acknowledged, checked, identifierOf, Refusal, requiredText, rowOf, success } from "./answers.ts";
import type { Answer } from "./answers.ts";
import { cloudTypes } from "./assumptions.ts";
import { createRemoval } from "./deletions.ts";
import type { Call, Platform, Run } from "./endpoints.ts";
import { createBatchSchema } from "./order-bodies.ts";
import type { Batch, MerchandiseRecord, NewAsset, NewBuy, OrderRecord, ProductRecord } from "./order-bodies.ts";
import type { Given, Store } from "./store.ts";

const querySchema = z.object({ appKey: requiredText });

interface OrderOperations {
  E5: Run;
  /** Applies the orders of an asynchronous call. Throws a Refusal when they no longer fit what is there. */
  applyDeferred: (payload: string) => void;
  /** Marks the orders of an asynchronous call that could not be applied. */
  failDeferred: (payload: string) => void;
}

/** E5, and what is left to do of an asynchronous one. */
export function orderOperations(platform: Platform): OrderOperations {
  const context = orderContext(platform);
  return {
    E5: (call) => placeOrders(context, call),
    applyDeferred: (payload) => applyDeferred(context, payload),
    failDeferred: (payload) => failDeferred(context, payload),
  };
}

function apply(context: OrderContext, placement: Placement, place: string): void {
  const { order } = placement;
  if (order.orderType === "new_buy") {
    order.assets.forEach((asset, index) => {
      for (const number of asset.assetNos) {
        const row = assetFor(context, placement, order, asset, number, `${place}.assets[${index}]`);
        addProducts(context, placement, row, null, asset.products);
        for (const root of asset.merchandises ?? []) addMerchandise(context, placement, row, null, root);
      }
    });
  } else {
    context.remove(order, placement, place);
  }
  context.setState.run("applied", placement.licenseOrder);
}

function checkBatch(context: OrderContext, call: Call): Batch {
  const { appKey } = checked(querySchema, Object.fromEntries(call.query));
  if (appKey !== context.settings.appKey) throw new Refusal("13004", "appKey: unknown application");
  const batch = checked(context.batchSchema, call.body);
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

function register(context: OrderContext, batch: Batch, text: string): Placement[] {
  const now = context.now();
  const batchRow = Number(context.insertBatch.run(batch.channelOrderId, text, now).lastInsertRowid);
  return batch.orderList.map((order, index) => {
    const references = referencesOf(context, order, `orderList[${index}]`);
    const { lastInsertRowid } = context.insertOrder.run(
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

function placeOrders(context: OrderContext, call: Call): Answer {
  const batch = checkBatch(context, call);
  const placements = register(context, batch, call.text);
  if (batch.syncMode === "async") {
    context.defer("orders", JSON.stringify(placements), context.settings.asyncDelayMs);
  } else {
    placements.forEach((placement, index) => apply(context, placement, `orderList[${index}]`));
  }
  if (batch.syncMode === "async" && context.settings.asyncAnswer === "none") return acknowledged();
  return success(
    placements.map(({ order, licenseOrder, customer }) => ({
      sequence: order.sequence,
      licenseOrderId: identifierOf("licenseOrder", licenseOrder),
      customerId: identifierOf("customer", customer),
    })),
  );
}

function applyDeferred(context: OrderContext, payload: string): void {
  context.placementsSchema
    .parse(JSON.parse(payload))
    .forEach((placement, index) => apply(context, placement, `orderList[${index}]`));
}

function failDeferred(context: OrderContext, payload: string): void {
  for (const { licenseOrder } of context.placementsSchema.parse(JSON.parse(payload)))
    context.setState.run("failed", licenseOrder);
}

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

/** The asset of a number, made or brought up to date. */
function assetFor(
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

function addProducts(
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

function addMerchandise(
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

/** What an order record refers to: 13004 for what is not there. */
function referencesOf(
  context: OrderContext,
  order: OrderRecord,
  place: string,
): Omit<Placement, "order" | "licenseOrder"> {
  const enterprise = rowOf("enterprise", order.enterpriseGlobalId);
  if (enterprise === undefined || context.findEnterprise.get(enterprise) === undefined) {
    throw new Refusal("13004", `${place}.enterpriseGlobalId: no such enterprise`);
  }
  return {
    enterprise,
    customer: customerOf(context, order, enterprise, place),
    sourceOrder: sourceOrderOf(context, order, enterprise, place),
  };
}

function customerOf(context: OrderContext, order: OrderRecord, enterprise: number, place: string): number {
  if (order.customerId === null || order.customerId === undefined) {
    const found = context.findCustomerOfDeletion.get(enterprise, order.channelCustomerId);
    if (found === undefined) throw new Refusal("13004", `${place}.channelCustomerId: not a customer of the enterprise`);
    return found.id;
  }
  const found = context.findCustomer.get(rowOf("customer", order.customerId) ?? -1, enterprise);
  if (found === undefined) throw new Refusal("13004", `${place}.customerId: not a customer of the enterprise`);
  if (found.channel_customer_id !== order.channelCustomerId) {
    throw new Refusal("13004", `${place}.channelCustomerId: not the number of this customer`);
  }
  return found.id;
}

function sourceOrderOf(context: OrderContext, order: OrderRecord, enterprise: number, place: string): number | null {
  const source = order.srcLicenseOrderId ?? "";
  if (source === "") {
    if (order.orderType !== "new_buy" && cloudTypes.includes(order.licenseType)) {
      throw new Refusal("13004", `${place}.srcLicenseOrderId: required for a cloud authorization type`);
    }
    return null;
  }
  return existingOrder(context, source, enterprise, `${place}.srcLicenseOrderId`);
}

function existingOrder(context: OrderContext, identifier: string, enterprise: number, place: string): number {
  const found = context.findOrder.get(rowOf("licenseOrder", identifier) ?? -1, enterprise);
  if (found === undefined) throw new Refusal("13004", `${place}: no such order of the enterprise`);
  return found.id;
}

/** An order record whose references were found. */
interface Placement {
  order: OrderRecord;
  enterprise: number;
  customer: number;
  sourceOrder: number | null;
  licenseOrder: number;
}

type OrderContext = ReturnType<typeof orderContext>;

/** What is common to the parts of E5: the platform, its shapes, and the statements, prepared once. */
function orderContext(platform: Platform) {
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
