import { purchaseLine } from "./lines.ts";
import type { JsonObject } from "../../base/canonical-json.ts";
import { checked } from "../../contract/fits.ts";
import { batchOrderRequestSchema } from "../../contract/order-record.ts";
import type { BatchOrderRequest } from "../../contract/order-record.ts";
import type { RecordKey } from "../../crm/model.ts";
import { numbersThere } from "../../engine/asset-numbers.ts";
import type { PlannedAsset, RenewedUnit } from "../../engine/asset-numbers.ts";
import { notSendable } from "../../engine/kind.ts";
import type { Effect, Kind } from "../../engine/kind.ts";
import {
  licenceOrdersOf,
  lookForPurchase,
  purchaseAudit,
  purchaseNotFound,
  readPurchase,
  purchaseKind,
  sendPurchase,
} from "./order-call.ts";
import type { PurchaseEffect } from "./order-call.ts";
import { orderContextOf, standingProducts } from "./order-context.ts";
import { amendmentSchemas, holdsPasswords } from "./order-payload.ts";
import type { AmendmentShapes } from "./order-payload.ts";
import { restsOfOrder } from "./order-rests.ts";
import { isReference } from "../../engine/references.ts";
import { shownOfRefusedOrder } from "./refused-order.ts";
import type { StateChange } from "../../engine/state.ts";

type Context = AmendmentShapes["context"];

const notShownEither =
  "it was bought again because the platform did not show what stood before it, and the platform does not show this " +
  "either, so not seeing it says nothing; a person looks and decides";

/**
 * E5 buys what is added to an order that is placed, under a channel order number of its own. Nothing takes it back, and
 * nothing may buy it twice.
 */
export const amendOrder: Kind<AmendmentShapes> = {
  line: purchaseLine("add to order"),
  ...purchaseKind,
  schemas: amendmentSchemas,
  restsOn: ["A16"],
  rests: ({ payload }) => restsOfOrder(payload),
  prepare({ operation, wire }) {
    const { customer, after, payload } = operation;
    const request = checked(batchOrderRequestSchema, wire);
    if (!request.success) return notSendable(request.error.issues);
    const [order] = operation.records;
    if (order === undefined) return { code: "order.unnamed", reason: "the operation does not name its order" };
    const numbers = numbersByUnit(payload, request.data);
    const renewed = renewedUnits(after.assets);
    const items = after.items.map(({ stood: _stood, ...item }) => {
      const name = unitKey(item.instanceId, item.unit);
      const earlier = renewed.get(name);
      if (earlier !== undefined) return { ...item, number: earlier.number, continues: earlier.continues };
      return { ...item, number: numbers.get(name) ?? null };
    });
    const stoodBefore = after.items.flatMap((item, index) => (item.stood ? [items[index]?.number ?? ""] : []));
    const common = orderContextOf(request.data, {
      order: { namespace: order.namespace, id: order.id },
      bodyHash: after.bodyHash,
      version: after.version,
      secrets: payload.orderList.some(holdsPasswords),
      assets: after.assets,
    });
    const { gone } = after;
    const context: Context = { ...common, items, stood: stoodBefore, ...(gone === undefined ? {} : { gone }) };
    const effectOf: PurchaseEffect = (id, licenceOrders) => orderBought(id, customer, context, licenceOrders);
    return { context, send: sendPurchase(request.data, effectOf) };
  },
  read(entry, snapshot) {
    const { context, operation } = entry;
    return readPurchase(snapshot, entry, new Set(stoodBefore(entry)), (id, licenceOrders) =>
      orderBought(id, operation.customer, context, licenceOrders),
    );
  },
  notFound: ({ context, operation: { customer } }, facts) =>
    context.gone === undefined
      ? purchaseNotFound({ context, customer }, facts)
      : Promise.resolve({ kind: "park", reason: notShownEither }),
  shownAfterRefusal: (entry, snapshot, facts) =>
    shownOfRefusedOrder({ context: entry.context, stood: stoodBefore(entry) }, snapshot, facts),
  countAsApplied(entry, evidence) {
    const effect = evidence.kind === "not-found" ? undefined : evidence.effect;
    return {
      effect: effect ?? orderBought(entry.id, entry.operation.customer, entry.context, new Map()),
      summary:
        "The additions to the order count as bought. The platform does not show all of them, so the licence order " +
        "numbers that are missing stay unknown; `verify` goes on comparing.",
    };
  },
  amends({ after: { lastStep, agreed }, records }) {
    const [order] = records;
    if (order === undefined) return undefined;
    return { order: { namespace: order.namespace, id: order.id }, lastStep, agreed };
  },
  assets: (operation) => operation.after.assets,
  lookFor: ({ context, payload }) =>
    lookForPurchase(context?.channelOrderId ?? `of the amendment of ${payload.channelOrderId.of}`, context),
};

/** Asset numbers that may have been there before: of units that stood, of earlier ones, and those that the CRM gave. */
function stoodBefore({ operation, context }: { operation: { after: AmendmentShapes["after"] }; context: Context }) {
  return [...context.stood, ...numbersThere(operation.after.assets)];
}

/** Units that continue earlier ones, by instance and unit. */
function renewedUnits(assets: readonly PlannedAsset[]): ReadonlyMap<string, RenewedUnit> {
  return new Map(
    assets.flatMap(({ id, renewed = [] }) => renewed.map((unit) => [unitKey(id, unit.unit), unit] as const)),
  );
}

/** The number that each unit was bound to: the wire form has its numbers where the payload has its units. */
function numbersByUnit(
  { orderList }: AmendmentShapes["payload"],
  request: BatchOrderRequest,
): ReadonlyMap<string, string> {
  const numbers = new Map<string, string>();
  for (const [at, record] of orderList.entries()) {
    for (const [index, asset] of record.assets.entries()) {
      for (const [place, unit] of asset.assetNos.entries()) {
        const number = request.orderList[at]?.assets[index]?.assetNos[place];
        const [, , instanceId, of] = isReference(unit) ? unitOf(unit.of) : [];
        if (number !== undefined && typeof instanceId === "string" && typeof of === "number")
          numbers.set(unitKey(instanceId, of), number);
      }
    }
  }
  return numbers;
}

function unitOf(name: string): unknown[] {
  const parts: unknown = JSON.parse(name);
  return Array.isArray(parts) ? parts : [];
}

function unitKey(instanceId: string, unit: number): string {
  return JSON.stringify([instanceId, unit]);
}

function orderBought(
  operationId: string,
  customer: RecordKey,
  context: Context,
  licenceOrders: ReadonlyMap<number, string>,
): Effect {
  const rows = licenceOrdersOf(context, licenceOrders);
  const audit: JsonObject = purchaseAudit(context, rows);
  return {
    changes: [
      ...goneBefore(operationId, customer, context),
      {
        type: "order-bought",
        order: context.order,
        customer,
        channelOrderId: context.channelOrderId,
        version: context.version,
        items: context.items,
        licenceOrders: rows,
        products: standingProducts(context),
        operationId,
        origin: "sent",
      },
    ],
    audit,
  };
}

/** What the platform showed no more, and what was bought takes the place of, stands no more by that. */
function goneBefore(operationId: string, customer: RecordKey, { order, gone = [] }: Context): StateChange[] {
  if (gone.length === 0) return [];
  const numbers = gone.flatMap(({ product, number }) => (product === null && number !== null ? [number] : []));
  const products = gone.reduce((sum, item) => sum + item.products, 0);
  const items = gone.map(({ products: _count, ...item }) => item);
  return [
    { type: "order-removed", order, customer, operationId, origin: "found", products, items },
    ...(numbers.length === 0 ? [] : [{ type: "numbers-ended" as const, numbers }]),
  ];
}
