import { z } from "zod";
import { acknowledged, checked, identifierOf, Refusal, requiredText, rowOf, success, type Answer } from "./answers.ts";
import { cloudTypes } from "./assumptions.ts";
import { remove } from "./deletions.ts";
import type { Call, Platform, Run } from "./endpoints.ts";
import {
  createBatchSchema,
  type Batch,
  type MerchandiseRecord,
  type NewAsset,
  type NewBuy,
  type OrderRecord,
  type ProductRecord,
} from "./order-bodies.ts";

const querySchema = z.object({ appKey: requiredText });

interface OrderOperations {
  E5: Run;
  /** Throws a Refusal if the orders no longer fit the state. */
  applyDeferred: (payload: string) => void;
  failDeferred: (payload: string) => void;
}

export function orderOperations(platform: Platform): OrderOperations {
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
  const placementsIn = (payload: string): Placement[] => placementsSchema.parse(JSON.parse(payload));
  return {
    E5: (call) => placeOrders(platform, checkBatch(platform, batchSchema, call), call.text),
    applyDeferred: (payload) => applyAll(platform, placementsIn(payload)),
    failDeferred(payload) {
      for (const { licenseOrder } of placementsIn(payload)) setState(platform, licenseOrder, "failed");
    },
  };
}

function setState({ store }: Platform, licenseOrder: number, state: "applied" | "failed"): void {
  store.run("UPDATE license_orders SET state = ? WHERE id = ?", state, licenseOrder);
}

function applyAll(platform: Platform, placements: readonly Placement[]): void {
  placements.forEach((placement, index) => apply(platform, placement, `orderList[${index}]`));
}

function apply(platform: Platform, placement: Placement, place: string): void {
  const { order } = placement;
  if (order.orderType === "new_buy") {
    order.assets.forEach((asset, index) => {
      for (const number of asset.assetNos) {
        const row = assetFor(platform, placement, order, asset, number, `${place}.assets[${index}]`);
        addProducts(platform, placement, row, null, asset.products);
        for (const root of asset.merchandises ?? []) addMerchandise(platform, placement, row, null, root);
      }
    });
  } else {
    remove(platform, order, placement, place);
  }
  setState(platform, placement.licenseOrder, "applied");
}

function checkBatch({ settings }: Platform, schema: ReturnType<typeof createBatchSchema>, call: Call): Batch {
  const { appKey } = checked(querySchema, Object.fromEntries(call.query));
  if (appKey !== settings.appKey) throw new Refusal("13004", "appKey: unknown application");
  const batch = checked(schema, call.body);
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

function register(platform: Platform, batch: Batch, text: string): Placement[] {
  const { store } = platform;
  const now = platform.now();
  const { channelOrderId, channelCode } = batch;
  const batchRow = store.insert("batches", { channel_order_id: channelOrderId, body: text, created_at: now });
  return batch.orderList.map((order, index) => {
    const references = referencesOf(platform, order, `orderList[${index}]`);
    const licenseOrder = store.insert("license_orders", {
      batch_id: batchRow,
      enterprise_id: references.enterprise,
      customer_id: references.customer,
      sequence: order.sequence,
      order_type: order.orderType,
      license_type: order.licenseType,
      channel_code: channelCode,
      channel_order_id: channelOrderId,
      source_order_id: references.sourceOrder,
      state: "waiting",
      created_at: now,
    });
    return { order, ...references, licenseOrder };
  });
}

function placeOrders(platform: Platform, batch: Batch, text: string): Answer {
  const { asyncAnswer, asyncDelayMs } = platform.settings;
  const placements = register(platform, batch, text);
  const isAsync = batch.syncMode === "async";
  if (isAsync) platform.defer("orders", JSON.stringify(placements), asyncDelayMs);
  else applyAll(platform, placements);
  if (isAsync && asyncAnswer === "none") return acknowledged();
  return success(
    placements.map(({ order, licenseOrder, customer }) => ({
      sequence: order.sequence,
      licenseOrderId: identifierOf("licenseOrder", licenseOrder),
      customerId: identifierOf("customer", customer),
    })),
  );
}

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

function assetFor(
  platform: Platform,
  placement: Placement,
  order: NewBuy,
  asset: NewAsset,
  number: string,
  place: string,
): number {
  const { store } = platform;
  const now = platform.now();
  const start = asset.limitStartDate ?? null;
  const end = asset.limitEndDate ?? null;
  const existing = store.get<{ id: number; enterprise_id: number; license_type: string }>(
    "SELECT id, enterprise_id, license_type FROM assets WHERE asset_number = ? AND removed_by IS NULL",
    number,
  );
  if (existing === undefined)
    return store.insert("assets", {
      enterprise_id: placement.enterprise,
      customer_id: placement.customer,
      license_order_id: placement.licenseOrder,
      license_type: order.licenseType,
      asset_number: number,
      extensions: JSON.stringify(asset.assetExtendList ?? []),
      limit_start: start,
      limit_end: end,
      borrowed_usb_key: asset.borrowedUsbKey === true ? 1 : 0,
      transferred: asset.transferedAssetNum === true ? 1 : 0,
      created_at: now,
      updated_at: now,
    });
  if (existing.enterprise_id !== placement.enterprise) {
    throw new Refusal("13004", `${place}.assetNos: ${number} belongs to another enterprise`);
  }
  if (existing.license_type !== order.licenseType) {
    throw new Refusal("13004", `${place}.assetNos: ${number} has another licenseType`);
  }
  store.run(
    `UPDATE assets SET limit_start = COALESCE(?, limit_start), limit_end = COALESCE(?, limit_end), updated_at = ?
     WHERE id = ?`,
    start,
    end,
    now,
    existing.id,
  );
  return existing.id;
}

function addProducts(
  platform: Platform,
  placement: Placement,
  asset: number,
  merchandise: number | null,
  products: ProductRecord[],
): void {
  for (const product of products) {
    const { crmProductId, srcLicenseOrderId } = product;
    if (typeof srcLicenseOrderId === "string")
      existingOrder(platform, srcLicenseOrderId, placement.enterprise, `${crmProductId}.srcLicenseOrderId`);
    addProduct(platform, { asset, merchandise, order: placement.licenseOrder }, product);
  }
}

export function addProduct(
  { store, now }: Platform,
  to: { asset: number; merchandise: number | null; order: number },
  record: ProductRecord,
): number {
  return store.insert("products", {
    asset_id: to.asset,
    merchandise_id: to.merchandise,
    license_order_id: to.order,
    crm_product_id: record.crmProductId,
    product_uri: record.productUri,
    record: JSON.stringify(record),
    created_at: now(),
  });
}

function addMerchandise(
  platform: Platform,
  placement: Placement,
  asset: number,
  parent: number | null,
  node: MerchandiseRecord,
): void {
  const row = platform.store.insert("merchandises", {
    asset_id: asset,
    parent_id: parent,
    license_order_id: placement.licenseOrder,
    crm_product_id: node.crmProductId,
    number: node.merchandiseNum,
    name: node.merchandiseName,
    parent_number: node.parentMerchandiseNum,
    term: node.timeDurationExpression,
    created_at: platform.now(),
  });
  addProducts(platform, placement, asset, row, node.licenseOrderProductList);
  for (const child of node.children ?? []) addMerchandise(platform, placement, asset, row, child);
}

function referencesOf(
  platform: Platform,
  order: OrderRecord,
  place: string,
): Omit<Placement, "order" | "licenseOrder"> {
  const enterprise = rowOf("enterprise", order.enterpriseGlobalId);
  if (
    enterprise === undefined ||
    platform.store.get("SELECT 1 FROM enterprises WHERE id = ?", enterprise) === undefined
  ) {
    throw new Refusal("13004", `${place}.enterpriseGlobalId: no such enterprise`);
  }
  return {
    enterprise,
    customer: customerOf(platform, order, enterprise, place),
    sourceOrder: sourceOrderOf(platform, order, enterprise, place),
  };
}

function customerOf(platform: Platform, order: OrderRecord, enterprise: number, place: string): number {
  if (order.customerId === null || order.customerId === undefined) {
    const found = platform.store.get<{ id: number }>(
      "SELECT id FROM customers WHERE enterprise_id = ? AND channel_customer_id = ? ORDER BY is_default DESC, id LIMIT 1",
      enterprise,
      order.channelCustomerId,
    );
    if (found === undefined) throw new Refusal("13004", `${place}.channelCustomerId: not a customer of the enterprise`);
    return found.id;
  }
  const found = platform.store.get<{ id: number; channel_customer_id: string }>(
    "SELECT id, channel_customer_id FROM customers WHERE id = ? AND enterprise_id = ?",
    rowOf("customer", order.customerId) ?? -1,
    enterprise,
  );
  if (found === undefined) throw new Refusal("13004", `${place}.customerId: not a customer of the enterprise`);
  if (found.channel_customer_id !== order.channelCustomerId) {
    throw new Refusal("13004", `${place}.channelCustomerId: not the number of this customer`);
  }
  return found.id;
}

function sourceOrderOf(platform: Platform, order: OrderRecord, enterprise: number, place: string): number | null {
  const source = order.srcLicenseOrderId ?? "";
  if (source === "") {
    if (order.orderType !== "new_buy" && cloudTypes.includes(order.licenseType)) {
      throw new Refusal("13004", `${place}.srcLicenseOrderId: required for a cloud authorization type`);
    }
    return null;
  }
  return existingOrder(platform, source, enterprise, `${place}.srcLicenseOrderId`);
}

function existingOrder(platform: Platform, identifier: string, enterprise: number, place: string): number {
  const found = platform.store.get<{ id: number }>(
    "SELECT id FROM license_orders WHERE id = ? AND enterprise_id = ?",
    rowOf("licenseOrder", identifier) ?? -1,
    enterprise,
  );
  if (found === undefined) throw new Refusal("13004", `${place}: no such order of the enterprise`);
  return found.id;
}

interface Placement {
  order: OrderRecord;
  enterprise: number;
  customer: number;
  sourceOrder: number | null;
  licenseOrder: number;
}
