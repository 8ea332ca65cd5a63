import { z } from "zod";
import { acknowledged, Refusal, success } from "./answers.ts";
import type { Answer } from "./answers.ts";
import type { Call, Platform, Run } from "./endpoints.ts";
import { identifierOf } from "./identifiers.ts";
import type { Batch } from "./order-bodies.ts";
import { addMerchandise, addProducts, assetFor } from "./order-contents.ts";
import { orderContext } from "./order-context.ts";
import type { OrderContext, Placement } from "./order-context.ts";
import { referencesOf } from "./order-references.ts";
import { checkAsset } from "./order-tree.ts";
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
