import type { Json } from "../../base/canonical-json.ts";
import type { Snapshot } from "../../platform/snapshot.ts";
import { ifNotShown } from "./not-shown.ts";
import { z } from "zod";
import { limits } from "../../contract/limits.ts";
import { batchOrderRequestSchema, deleteEverywhereRequestSchema } from "../../contract/order-record.ts";
import type { RecordKey } from "../../crm/model.ts";
import { numbersThere, orderDesk, some, withinEnterprise } from "../../engine/model/references.ts";
import {
  notSendable,
  type Effect,
  type Evidence,
  type JournalEntry,
  type OperationType,
  type RefusalFacts,
  type SettleFacts,
} from "../../engine/model/operation-type.ts";
import { adds } from "../../engine/model/operation-line.ts";
import type { Draft, Shapes, ShapesOf } from "../../engine/model/resource.ts";
import { restsOfOrder } from "./assumptions.ts";
import {
  deletionSchemas,
  prepareDeletion,
  readDeletion,
  removed,
  restsOfDeletion,
  type DeletionShapes,
} from "./deletion.ts";
import { deletionLine, deletionLines, purchaseLine, purchaseLines } from "./lines.ts";
import {
  amendmentSchemas,
  holdsPasswords,
  isAsync,
  orderContextOf,
  orderSchemas,
  type AmendmentShapes,
  type OrderShapes,
} from "./shapes.ts";
import {
  amendmentContextOf,
  lookForPurchase,
  orderBought,
  orderPlaced,
  orderNamed,
  prepareOrder,
  readPurchase,
  stoodBefore,
} from "./purchase.ts";
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

interface Buying<S extends PurchaseShapes> {
  verb: "place order" | "add to order";
  bought: (id: string, customer: RecordKey, of: S["context"], licenceOrders: ReadonlyMap<number, string>) => Effect;
  stood: (entry: Pick<JournalEntry<S>, "operation" | "context">) => readonly string[];
  counts: string;
}
type PurchaseShapes = Omit<OrderShapes, "payload" | "after" | "context"> & {
  payload: Pick<OrderShapes["payload"], "orderList" | "syncMode" | "channelCode"> & { channelOrderId: Json };
  after: OrderShapes["after"];
  context: OrderShapes["context"];
};

/** E5 cannot be undone and must never be sent twice. */
function buying<S extends PurchaseShapes>({ verb, bought, stood, counts }: Buying<S>) {
  return {
    endpoint: "E5",
    stages: ["orders"],
    invalidates: ["assets"],
    reversal: {
      how: "approximate",
      by: "E5",
      difference: "its licences are deleted as M7 shows them; its order number and its asset numbers are spent",
    },
    onUnknown: {
      by: "observe",
      async: ({ payload }: Draft<S>) => isAsync(payload),
      nonRepeatable: true,
      observe: (entry: JournalEntry<S>, snapshot: Snapshot) =>
        readPurchase(snapshot, entry, new Set(stood(entry)), (id, licenceOrders) =>
          bought(id, entry.operation.customer, entry.context, licenceOrders),
        ),
      notShown: ({ context, operation: { customer } }: JournalEntry<S>, facts: SettleFacts) =>
        ifNotShown.settle({ context, customer }, facts),
    },
    decide: {
      partCure: "remove the part on the platform first, or settle it as --applied",
      applied: ({ id, operation, context }: JournalEntry<S>, evidence: Exclude<Evidence, { kind: "confirmed" }>) => ({
        effect:
          (evidence.kind === "not-found" ? undefined : evidence.effect) ??
          bought(id, operation.customer, context, new Map()),
        summary: `${counts}, so the licence order numbers that are missing stay unknown; \`verify\` goes on comparing.`,
      }),
    },
    can: {
      governed: { policy: "orders.added" },
      numbers: ({ after }: Draft<S>) => after.assets,
      afterRefusal: (entry: JournalEntry<S>, snapshot: Snapshot, facts: RefusalFacts) =>
        shownOfRefusedOrder({ context: entry.context, stood: stood(entry) }, snapshot, facts),
      prints: { line: purchaseLine(verb), payload: purchaseLines },
    },
  } as const;
}

const placing = buying<OrderShapes>({
  verb: "place order",
  bought: orderPlaced,
  stood: ({ operation }) => numbersThere(operation.after.assets),
  counts: "The order counts as placed. The platform does not show all of it",
});

const place: OperationType<OrderShapes> = {
  ...placing,
  schemas: orderSchemas,
  prepare: (bound) =>
    prepareOrder(bound, batchOrderRequestSchema, (request, order) => {
      const { customer, after, payload } = bound.operation;
      const secrets = payload.orderList.some(holdsPasswords);
      const context = orderContextOf(request, { ...after, order, secrets });
      return { context, effectOf: (id, licenceOrders) => orderPlaced(id, customer, context, licenceOrders) };
    }),
  whereToLook: ({ context, payload }) => lookForPurchase(context?.channelOrderId ?? payload.channelOrderId, context),
  can: {
    ...placing.can,
    claims: {
      what: "order",
      of: ({ payload, records: [order] }) =>
        order === undefined ? undefined : { what: "order", number: payload.channelOrderId, order },
    },
    assumes: { by: ({ payload }) => restsOfOrder(payload) },
  },
};

const amending = buying<AmendmentShapes>({
  verb: "add to order",
  bought: orderBought,
  stood: stoodBefore,
  counts: "The additions to the order count as bought. The platform does not show all of them",
});

const amend: OperationType<AmendmentShapes> = {
  ...amending,
  schemas: amendmentSchemas,
  prepare: (bound) =>
    prepareOrder(bound, batchOrderRequestSchema, (request, order) => {
      const { operation } = bound;
      const context = amendmentContextOf(operation, request, order);
      return { context, effectOf: (id, licenceOrders) => orderBought(id, operation.customer, context, licenceOrders) };
    }),
  whereToLook: ({ context, payload }) =>
    lookForPurchase(context?.channelOrderId ?? `of the amendment of ${payload.channelOrderId.of}`, context),
  can: {
    ...amending.can,
    expects: stateExpected,
    assumes: { always: ["A16"], by: ({ payload }) => restsOfOrder(payload) },
  },
};

/**
 * Removes whole assets if M7 shows nothing else in them, with their holders. Otherwise removes products by licence
 * order.
 * M6 and E8 prove nothing here. Unproven removals are planned again from M7.
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
    afterRefusal: async (entry, snapshot) => {
      const read = await readDeletion(entry, snapshot);
      if (read.kind === "ambiguous") return read.reason;
      return read.kind === "confirmed" ? read.effect : read.partEffect;
    },
    holders: { frees: ({ after }) => after.held },
    assumes: { always: ["A17", "A18"], by: ({ payload }) => restsOfDeletion(payload) },
    prints: { line: deletionLine, payload: deletionLines },
  },
};

/** Removes a part of a package. Its effect on the rest is unknown, so a person approves each call (A42). */
const removeFromPackage: OperationType<DeletionShapes> = {
  ...remove,
  can: {
    ...remove.can,
    governed: { policy: "orders.ended", alone: true },
    assumes: { ...remove.can.assumes, always: ["A17", "A18", "A42"] },
  },
};

/**
 * Removes a product of unknown licence order from all orders. A person approves each call and settles unknown outcomes.
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

/** E9 takes numbers for the pool. If the answer is lost, the numbers are spent. */
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

/** Sent only if the order has not changed since planning. */
function stateExpected<S extends Shapes & { after: { lastStep: number; agreed: string | null } }>({
  records,
  after: { lastStep, agreed },
}: Draft<S>) {
  const order = orderNamed(records);
  return order && { order, lastStep, agreed };
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
