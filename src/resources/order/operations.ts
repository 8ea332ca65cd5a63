import { ifNotShown } from "./not-shown.ts";
import { z } from "zod";
import { checked } from "../../contract/fits.ts";
import { limits } from "../../contract/limits.ts";
import { batchOrderRequestSchema, deleteEverywhereRequestSchema } from "../../contract/order-record.ts";
import type { RecordKey } from "../../crm/model.ts";
import { numbersThere } from "../../engine/model/references.ts";
import { notSendable } from "../../engine/model/operation-type.ts";
import type { Evidence, NotSendable, OperationType } from "../../engine/model/operation-type.ts";
import { orderDesk, some, withinEnterprise } from "../../engine/model/references.ts";
import { adds } from "../../engine/model/operation-line.ts";
import type { Draft, Shapes, ShapesOf } from "../../engine/model/shape.ts";
import { restsOfOrder } from "./assumptions.ts";
import { deletionSchemas, prepareDeletion, readDeletion, removed, restsOfDeletion } from "./deletion.ts";
import type { DeletionShapes } from "./deletion.ts";
import { deletionLine, deletionLines, purchaseLine, purchaseLines } from "./lines.ts";
import { amendmentSchemas, holdsPasswords, isAsync, orderContextOf, orderSchemas } from "./payload.ts";
import type { AmendmentShapes, OrderShapes } from "./payload.ts";
import {
  amendmentContextOf,
  lookForPurchase,
  orderBought,
  orderPlaced,
  readPurchase,
  sendPurchase,
  stoodBefore,
} from "./purchase.ts";
import type { PurchaseEffect } from "./purchase.ts";
import { shownOfRefusedOrder } from "./sight.ts";

declare module "../../engine/model/resource.ts" {
  interface OperationShapes {
    "place-order": OrderShapes;
    "amend-order": AmendmentShapes;
    "delete-products": DeletionShapes;
    "delete-package-products": DeletionShapes;
    "delete-assets": DeletionShapes;
    "delete-everywhere": DeletionShapes;
    "take-asset-numbers": NumbersShapes;
  }
}

const unnamed: NotSendable = { code: "order.unnamed", reason: "the operation does not name its order" };

/** What both purchases by E5 have in common. Nothing takes one back, and nothing may buy it twice. */
const purchase = {
  endpoint: "E5",
  stages: ["orders"],
  invalidates: ["assets"],
  reversal: {
    how: "approximate",
    by: "E5",
    difference: "its licences are deleted as M7 shows them; its order number and its asset numbers are spent",
  },
} as const;
const partCure = "take the part away on the platform first, or settle it as --applied";
const observedPurchase = {
  by: "observe",
  async: ({ payload }: { payload: { syncMode: string } }) => isAsync(payload),
  nonRepeatable: true,
} as const;

/** Places one CRM order: one licence order for each licence type. */
const place: OperationType<OrderShapes> = {
  ...purchase,
  schemas: orderSchemas,
  prepare({ operation, wire }) {
    const { customer, after, payload, records } = operation;
    const request = checked(batchOrderRequestSchema, wire);
    if (!request.success) return notSendable(request.error.issues);
    const order = orderOf(records);
    if (order === undefined) return unnamed;
    const { bodyHash, version, assets } = after;
    const secrets = payload.orderList.some(holdsPasswords);
    const context = orderContextOf(request.data, { order, bodyHash, version, secrets, assets });
    const effectOf: PurchaseEffect = (id, licenceOrders) => orderPlaced(id, customer, context, licenceOrders);
    return { context, send: sendPurchase(request.data, effectOf) };
  },
  onUnknown: {
    ...observedPurchase,
    observe: (entry, snapshot) =>
      readPurchase(snapshot, entry, new Set(numbersThere(entry.operation.after.assets)), (id, licenceOrders) =>
        orderPlaced(id, entry.operation.customer, entry.context, licenceOrders),
      ),
    notShown: ({ context, operation: { customer } }, facts) => ifNotShown.settle({ context, customer }, facts),
  },
  decide: {
    partCure,
    applied: (entry, evidence) => ({
      effect: effectIn(evidence) ?? orderPlaced(entry.id, entry.operation.customer, entry.context, new Map()),
      summary:
        "The order counts as placed. The platform does not show all of it, so the licence order numbers " +
        "that are missing stay unknown; `verify` goes on comparing.",
    }),
  },
  whereToLook: ({ context, payload }) => lookForPurchase(context?.channelOrderId ?? payload.channelOrderId, context),
  can: {
    governed: { policy: "orders.added" },
    claims: {
      what: "order",
      of: ({ payload, records: [order] }) =>
        order === undefined ? undefined : { what: "order", number: payload.channelOrderId, order },
    },
    numbers: ({ after }) => after.assets,
    assumes: { by: ({ payload }) => restsOfOrder(payload) },
    afterRefusal: ({ operation, context }, snapshot, facts) =>
      shownOfRefusedOrder({ context, stood: numbersThere(operation.after.assets) }, snapshot, facts),
    prints: { line: purchaseLine("place order"), payload: purchaseLines },
  },
};

const notShownEither =
  "it was bought again because the platform did not show what stood before it, and the platform does not show this " +
  "either, so not seeing it says nothing; a person looks and decides";

/** Buys what is added to an order that is placed, under a channel order number of its own. */
const amend: OperationType<AmendmentShapes> = {
  ...purchase,
  schemas: amendmentSchemas,
  prepare({ operation, wire }) {
    const request = checked(batchOrderRequestSchema, wire);
    if (!request.success) return notSendable(request.error.issues);
    const order = orderOf(operation.records);
    if (order === undefined) return unnamed;
    const context = amendmentContextOf(operation, request.data, order);
    const effectOf: PurchaseEffect = (id, licenceOrders) => orderBought(id, operation.customer, context, licenceOrders);
    return { context, send: sendPurchase(request.data, effectOf) };
  },
  onUnknown: {
    ...observedPurchase,
    observe: (entry, snapshot) =>
      readPurchase(snapshot, entry, new Set(stoodBefore(entry)), (id, licenceOrders) =>
        orderBought(id, entry.operation.customer, entry.context, licenceOrders),
      ),
    notShown: ({ context, operation: { customer } }, facts) =>
      context.gone === undefined
        ? ifNotShown.settle({ context, customer }, facts)
        : Promise.resolve({ kind: "park", reason: notShownEither }),
  },
  decide: {
    partCure,
    applied: (entry, evidence) => ({
      effect: effectIn(evidence) ?? orderBought(entry.id, entry.operation.customer, entry.context, new Map()),
      summary:
        "The additions to the order count as bought. The platform does not show all of them, so the licence order " +
        "numbers that are missing stay unknown; `verify` goes on comparing.",
    }),
  },
  whereToLook: ({ context, payload }) =>
    lookForPurchase(context?.channelOrderId ?? `of the amendment of ${payload.channelOrderId.of}`, context),
  can: {
    governed: { policy: "orders.added" },
    expects: stateExpected,
    numbers: ({ after }) => after.assets,
    assumes: { always: ["A16"], by: ({ payload }) => restsOfOrder(payload) },
    afterRefusal: (entry, snapshot, facts) =>
      shownOfRefusedOrder({ context: entry.context, stood: stoodBefore(entry) }, snapshot, facts),
    prints: { line: purchaseLine("add to order"), payload: purchaseLines },
  },
};

/**
 * Removes whole assets, in which M7 shows nothing but what is to go: whoever holds one loses it with it. Or it removes
 * products from assets, each of the licence order that granted it, with the limits and nodes that M7 shows now. M6 and
 * E8 prove nothing here; what is not proven is planned anew from what M7 shows then.
 */
const remove: OperationType<DeletionShapes> = {
  endpoint: "E5",
  stages: ["removals"],
  schemas: deletionSchemas,
  invalidates: ["assets", "members"],
  prepare: (bound) => prepareDeletion(bound, batchOrderRequestSchema),
  onUnknown: { by: "observe", observe: readDeletion, async: ({ payload }) => isAsync(payload) },
  decide: {
    applied: ({ id, operation, context }) => ({
      effect: removed(id, operation.customer, context.order, operation.after),
      summary: "The removed parts count as gone; `verify` goes on comparing with M7.",
    }),
  },
  reversal: {
    how: "approximate",
    by: "E5",
    difference:
      "it is bought again under another order number; licence passwords are gone, and so are the old asset numbers",
  },
  whereToLook: ({ context }) => ({
    what: `a delete order with the channel order number ${context?.channelOrderId ?? some([])}`,
    where:
      `back office of the order service, orders of ${withinEnterprise(context)}; M7 of the assets shows ` +
      "their present contents",
    whom: orderDesk,
  }),
  can: {
    governed: { policy: "orders.ended" },
    removes: { thing: "products", count: ({ after }) => after.counted },
    expects: stateExpected,
    holders: { frees: ({ after }) => after.held },
    assumes: { always: ["A17", "A18"], by: ({ payload }) => restsOfDeletion(payload) },
    prints: { line: deletionLine, payload: deletionLines },
  },
};

/**
 * Removes products from a package of which other products stay, or which goes from an asset that stays. Nobody knows
 * what becomes of the rest, so a person approves each single one of these calls (A42).
 */
const removeFromPackage: OperationType<DeletionShapes> = {
  ...remove,
  can: {
    ...remove.can,
    governed: { policy: "orders.ended", alone: true },
    assumes: { ...remove.can.assumes, always: ["A17", "A18", "A42"] },
  },
};

/**
 * Removes a product whose licence order nobody knows: from all orders of the customer. A person approves each single
 * one of these calls, with a reason, and a person finds out what became of a lost one.
 */
const removeEverywhere: OperationType<DeletionShapes> = {
  ...remove,
  prepare: (bound) => prepareDeletion(bound, deleteEverywhereRequestSchema),
  onUnknown: {
    by: "observe",
    observe: readDeletion,
    async: ({ payload }) => isAsync(payload),
    notShown: () =>
      Promise.resolve({
        kind: "park",
        reason:
          "the platform still shows the product that a deletion without a licence order was to remove from all orders " +
          "of the customer; a person must look at the platform and decide",
      }),
  },
  reversal: { how: "impossible", why: "nobody knows all that it took out of the orders of the customer" },
  can: { ...remove.can, governed: { policy: "orders.ended", alone: true } },
};

const size = z.object({ size: z.int() });
const numbersSchemas = { target: z.object({}), payload: size, before: z.null(), after: z.null(), context: size };

type NumbersShapes = ShapesOf<typeof numbersSchemas>;

function isAssetDigits(text: string): boolean {
  const { assetDigits, assetFirstDigits } = limits;
  return /^\d+$/u.test(text) && text.length === assetDigits && assetFirstDigits.some((digit) => text.startsWith(digit));
}

/** E9 takes numbers for the pool. Numbers whose answer was lost are spent. */
const takeNumbers: OperationType<NumbersShapes> = {
  endpoint: "E9",
  stages: ["orders"],
  schemas: numbersSchemas,
  invalidates: [],
  prepare({ wire }) {
    const request = size.safeParse(wire);
    if (!request.success) return notSendable(request.error.issues);
    return {
      context: request.data,
      send: async ({ orderService }, call) => {
        const outcome = await orderService.takeAssetNumbers(request.data.size, call);
        return {
          outcome,
          conclude: (operationId) => {
            if (outcome.kind !== "done") return { doubt: "no data" };
            const { data: numbers } = outcome;
            return {
              changes: [{ type: "numbers-taken", numbers, operationId }],
              audit: { count: numbers.length, first: numbers[0], last: numbers.at(-1) },
              refused: [],
            };
          },
        };
      },
    };
  },
  onUnknown: {
    by: "lost",
    record: (payload) => ({
      verdict: "the numbers are spent and lost",
      audit: { kind: "numbers-lost", body: { asked: payload.size } },
      message: "asset numbers lost",
    }),
  },
  decide: {
    applied: () => ({
      code: "settle.by-itself",
      why: "the answer with new asset numbers was lost, and those numbers are used up in both cases",
      cure: "nothing needs to be decided: the next run records the lost numbers and takes new ones",
    }),
  },
  reversal: { how: "impossible", why: "numbers that were handed out are never given back" },
  whereToLook: () => undefined,
  can: {
    assumes: {
      by: () => [{ row: "A25" }],
      oddData: (data) => {
        if (!Array.isArray(data) || data.length === 0 || !data.every((item) => typeof item === "string")) return [];
        const isOdd = data.some((digits) => !isAssetDigits(digits));
        const evidence = "E9 handed out something else than ten digits that begin with an expected one";
        return isOdd ? [{ row: "A25", evidence }] : [];
      },
    },
    prints: {
      line: () => Promise.resolve(adds("take asset numbers for the pool")),
      count: (payload) => payload.size,
    },
  },
};

/** The order that an operation names. */
function orderOf([record]: readonly RecordKey[]): RecordKey | undefined {
  return record && { namespace: record.namespace, id: record.id };
}

/** It is sent only while the order stands as it did when this was planned. */
function stateExpected<S extends Shapes & { after: { lastStep: number; agreed: string | null } }>({
  records,
  after: { lastStep, agreed },
}: Draft<S>) {
  const order = orderOf(records);
  return order && { order, lastStep, agreed };
}

function effectIn(evidence: Exclude<Evidence, { kind: "confirmed" }>) {
  return evidence.kind === "not-found" ? undefined : evidence.effect;
}

export const types = {
  "place-order": place,
  "amend-order": amend,
  "delete-products": remove,
  "delete-package-products": removeFromPackage,
  "delete-assets": remove,
  "delete-everywhere": removeEverywhere,
  "take-asset-numbers": takeNumbers,
};
