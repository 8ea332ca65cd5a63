import type { RecordKey } from "../crm/model.ts";
import { checked } from "../contract/fits.ts";
import { batchOrderRequestSchema } from "../contract/order-record.ts";
import { matchBySequence } from "../contract/order-service.ts";
import { formatKey } from "../crm/keys.ts";
import type { Snapshot } from "../platform/snapshot.ts";
import { notSendable, plainKind } from "./kind.ts";
import type { Effect, Evidence, JournalEntry, Kind, SettleFacts, WhenNotFound } from "./kind.ts";
import { orderDesk, some, withinEnterprise } from "./look-for.ts";
import { orderContextOf } from "./order-context.ts";
import type { OrderContext } from "./order-context.ts";
import { holdsPasswords, orderSchemas } from "./order-payload.ts";
import type { OrderRecord, OrderShapes } from "./order-payload.ts";
import { isWhole, sightOrder } from "./order-sight.ts";
import { fieldLines, shown } from "./plan-lines.ts";
import { shownOfRefusedOrder } from "./refused-order.ts";
import type { StateChange } from "./state.ts";

/**
 * E5 places one CRM order: one licence order for each licence type. Nothing takes it back, and nothing may place it
 * twice.
 */
export const placeOrder: Kind<OrderShapes> = {
  ...plainKind,
  schemas: orderSchemas,
  endpoint: "E5",
  stage: "orders",
  isSentSparingly: true,
  mayHoldAfterRefusal: true,
  cureOfPart: "take the part away on the platform first, or settle it as --applied",
  prepare({ operation, wire }) {
    const { customer } = operation;
    const request = checked(batchOrderRequestSchema, wire);
    if (!request.success) return notSendable(request.error.issues);
    const [order] = operation.records;
    if (order === undefined) return { code: "order.unnamed", reason: "the operation names no order" };
    const context = orderContextOf(request.data, {
      order: { namespace: order.namespace, id: order.id },
      bodyHash: operation.after.bodyHash,
      version: operation.after.version,
      secrets: operation.payload.orderList.some(holdsPasswords),
    });
    return {
      context,
      send: async ({ orderService }, call) => {
        const outcome = await orderService.placeOrders(request.data, call);
        return {
          outcome,
          conclude: (id) => {
            if (outcome.kind !== "done") return { doubt: "no data" };
            const matched = matchBySequence(request.data, outcome.data);
            if (!matched.ok) return { doubt: matched.error.map((problem) => problem.message).join("; ") };
            const licenceOrders = new Map(
              [...matched.value].map(([sequence, result]) => [sequence, result.licenseOrderId ?? ""]),
            );
            return { ...orderPlaced(id, customer, context, licenceOrders), refused: [] };
          },
        };
      },
    };
  },
  read: (entry, snapshot) => readOrder(snapshot, entry),
  notFound,
  shownAfterRefusal: shownOfRefusedOrder,
  countAsApplied(entry, evidence) {
    const effect = evidence.kind === "not-found" ? undefined : evidence.effect;
    return {
      effect: effect ?? orderPlaced(entry.id, entry.operation.customer, entry.context, new Map()),
      summary:
        "The order counts as placed. The platform does not show all of it, so the licence order numbers " +
        "that are missing stay unknown; `verify` goes on comparing.",
    };
  },
  claims: "order",
  uniqueness({ payload, records }) {
    const [order] = records;
    return order === undefined ? undefined : { what: "order", number: payload.channelOrderId, order };
  },
  assets: (operation) => operation.after.assets,
  planLines: ({ orderList, ...payload }) => [
    ...fieldLines(payload),
    ...orderList.map((record, index) => `orderList[${index}]: ${recordLine(record)}`),
  ],
  outdates: ["assets"],
  undone: {
    how: "impossible",
    why: "an order that was placed is ended by an order of its own, and comes back under other numbers",
  },
  lookFor({ context, payload }) {
    const order = context?.channelOrderId ?? payload.channelOrderId;
    const numbers = context?.records.flatMap((record) => record.numbers) ?? [];
    return {
      what: `an order with the channel order number ${order}, or one of its asset numbers: ${some(numbers)}`,
      where:
        `back office of the order service, orders of ${withinEnterprise(context)}; M6 and E8 show its asset ` +
        "numbers, M7 of such an asset shows the channel order number",
      whom: orderDesk,
    };
  },
};

function recordLine({ licenseType, customerId, assets }: OrderRecord): string {
  const listed = assets.map(({ assetNos, products, merchandises = [] }) => {
    const packages = merchandises.length === 0 ? "" : ` and ${merchandises.length} package(s)`;
    return `asset ${shown(assetNos)} with ${products.length} product(s)${packages}`;
  });
  return `${shown(licenseType)} for customer ${shown(customerId)}: ${listed.join("; ")}`;
}

/**
 * E5 placed the order; `licenceOrders` by sequence. An order record whose licence order is not known gets no row: an
 * empty number would one day name all orders of the customer.
 */
function orderPlaced(
  operationId: string,
  customer: RecordKey,
  context: OrderContext,
  licenceOrders: ReadonlyMap<number, string>,
): Effect {
  const rows = context.records.flatMap((record) => {
    const licenseOrderId = licenceOrders.get(record.sequence) ?? "";
    if (licenseOrderId === "") return [];
    const { sequence, licenseType, customerId } = record;
    return [{ sequence, licenseType, platformCustomerId: customerId, licenseOrderId }];
  });
  const changes: StateChange[] = [
    {
      type: "order-placed",
      order: context.order,
      customer,
      channelOrderId: context.channelOrderId,
      bodyHash: context.bodyHash,
      version: context.version,
      operationId,
      origin: "placed",
      licenceOrders: rows,
    },
  ];
  if (context.secrets)
    changes.push({ type: "secrets-wiped", ref: `orders/${formatKey(context.order)}`, version: context.version });
  return {
    changes,
    audit: {
      order: formatKey(context.order),
      channelOrderId: context.channelOrderId,
      enterpriseGlobalId: context.enterpriseGlobalId,
      licenceOrders: rows.map((row) => ({
        sequence: row.sequence,
        licenseType: row.licenseType,
        licenseOrderId: row.licenseOrderId,
      })),
      assetNumbers: context.records.flatMap((record) => record.numbers),
      products: context.records.flatMap((record) => record.products),
    },
  };
}

async function readOrder(snapshot: Snapshot, entry: JournalEntry<OrderShapes>): Promise<Evidence> {
  const { context } = entry;
  const sight = await sightOrder(snapshot, context);
  const detail = {
    call: "(M6 ∪ E8) → M7",
    channelOrderId: context.channelOrderId,
    seen: sight.records.filter((record) => isWhole(record)).map((record) => record.sequence),
    products: sight.records.map((record) => [record.sequence, record.seen, record.wanted]),
    assets: sight.shown,
  };
  const effect = orderPlaced(entry.id, entry.operation.customer, context, sight.licenceOrders);
  if (sight.repeated.length > 0) {
    return {
      kind: "ambiguous",
      reason:
        "the platform shows the order in more than one licence order (sequence " +
        `${sight.repeated.join(", ")}); it may have been placed twice`,
      detail,
      effect,
    };
  }
  if (sight.records.every((record) => isWhole(record))) {
    const types = context.records.map((record) => record.licenseType);
    return {
      kind: "confirmed",
      effect: { ...effect, changes: [...effect.changes, { type: "licence-types-shown", types }] },
      detail,
    };
  }
  if (sight.records.some((record) => record.seen > 0))
    return { kind: "ambiguous", reason: "the platform shows only a part of the order", detail, effect };
  // Numbers that the CRM gave may stand for assets that were there before; those of the pool are this order's and
  // nobody else's.
  const given = new Set(entry.operation.after.assets.flatMap((asset) => asset.given));
  const ours = sight.shown.find((number) => !given.has(number));
  if (ours !== undefined) {
    const reason = `the platform shows the asset number ${ours} of the order, but none of its products`;
    return { kind: "ambiguous", reason, detail, effect };
  }
  const [bare] = sight.bare;
  if (bare !== undefined) {
    const reason =
      `M7 shows the asset number ${bare} of the order without any product or package, which says ` +
      "neither that the order is there nor that it is not; ask the operator of the member-center whether " +
      "such assets are empty (assumptions.emptyAssets)";
    return { kind: "ambiguous", reason, detail, says: "nothing" };
  }
  return { kind: "not-found", detail };
}

/**
 * Not seeing an order proves nothing: it is sent again only where the configuration says that the platform shows what
 * is there.
 */
async function notFound(entry: JournalEntry<OrderShapes>, facts: SettleFacts): Promise<WhenNotFound> {
  if (facts.ordersUnseen !== "resend") {
    return {
      kind: "park",
      reason: "the platform does not show the order, which proves nothing; a person decides (orders.unseen: ask)",
    };
  }
  // Before what the CRM wants now: an order that may be there unseen is not taken for one that is not, whatever became
  // of its record.
  for (const { licenseType } of entry.context.records) {
    if (await facts.isShown(licenseType)) continue;
    return {
      kind: "park",
      reason:
        `the platform was never seen to show assets of the licence type ${licenseType} (A43: ` +
        "assumptions.visibleLicenseTypes), so not seeing the order says nothing",
    };
  }
  switch (await wishOf(entry, facts)) {
    case "gone":
      return { kind: "drop" };
    case "unreadable":
      return { kind: "unreadable", reason: "the order's record waits in quarantine" };
    case "the same":
      return {
        kind: "send-again",
        why: "not shown in complete readings over the settle time (orders.unseen: resend)",
      };
  }
}

/**
 * Whether the CRM still wants the very order of an intent. Where it was cancelled, changed or moved since, the intent
 * is not sent again: what the CRM wants now is planned anew.
 */
async function wishOf(
  entry: JournalEntry<OrderShapes>,
  facts: SettleFacts,
): Promise<"the same" | "gone" | "unreadable"> {
  const { context } = entry;
  const now = await facts.orderNow(context.order);
  if (now?.state === "quarantined") return "unreadable";
  const same =
    now?.state === "current" &&
    !now.cancelled &&
    now.bodyHash === context.bodyHash &&
    formatKey(now.customer) === formatKey(entry.operation.customer);
  return same ? "the same" : "gone";
}
