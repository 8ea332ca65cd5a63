import { z } from "zod";
import { acknowledged, Refusal, success } from "./answers.ts";
import type { Answer } from "./answers.ts";
import type { Call, Platform, Run } from "./endpoints.ts";
import { identifierOf } from "./identifiers.ts";
import type { Batch, MerchandiseRecord, NewAsset, ProductRecord } from "./order-bodies.ts";
import { addMerchandise, addProducts, assetFor } from "./order-contents.ts";
import { orderContext } from "./order-context.ts";
import type { OrderContext, Placement } from "./order-context.ts";
import { referencesOf } from "./order-references.ts";
import { checked, requiredText } from "./parameters.ts";

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
