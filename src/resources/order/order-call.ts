import { counted } from "../../report/text.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { BatchOrderRequest } from "../../contract/order-record.ts";
import { matchBySequence } from "../../contract/order-service.ts";
import { formatKey } from "../../crm/keys.ts";
import type { Snapshot } from "../../platform/snapshot.ts";
import type { AssumptionMet } from "../../engine/assumptions-met.ts";
import { plainKind } from "../../engine/kind.ts";
import type { Effect, Evidence, Prepared, SettleFacts, WhenNotFound, LookFor, Undone } from "../../engine/kind.ts";
import { orderDesk, some, withinEnterprise } from "../../engine/look-for.ts";
import type { OrderContext } from "./order-context.ts";
import { productsOf } from "./order-payload.ts";
import type { AmendmentShapes, OrderRecord, OrderShapes, ProductRecord } from "./order-payload.ts";
import { otherSequences } from "./order-sequences.ts";
import { isWhole, sightOrder } from "./order-sight.ts";
import type { OrderSight } from "./order-sight.ts";
import type { Shapes } from "../../engine/shape.ts";
import { fieldLines, shown, shownTime } from "../../engine/plan-lines.ts";
import type { LicenceOrder } from "./state/order-steps.ts";

/** What a purchase comes to; `licenceOrders` by sequence, as far as they are known. */
export type PurchaseEffect = (id: string, licenceOrders: ReadonlyMap<number, string>) => Effect;

/** Whether an E5 is answered before it is carried out (A15). */
export function isAsync({ syncMode }: { syncMode: string }): boolean {
  return syncMode === "async";
}

/** What the success of an asynchronous E5 means, whatever its data: only a reading shows what became of it. */
export const takenLater = { doubt: "it was taken asynchronously, and the platform has to show it yet (A15)" };

/** Sends a purchase, and says what its success means: each order record has a licence order of its own. */
export function sendPurchase(request: BatchOrderRequest, effectOf: PurchaseEffect): Prepared<Shapes>["send"] {
  return async ({ orderService }, call) => {
    const outcome = await orderService.placeOrders(request, call);
    return {
      outcome,
      conclude: (id) => {
        if (isAsync(request)) return takenLater;
        if (outcome.kind !== "done") return { doubt: "no data" };
        const matched = matchBySequence(request, outcome.data);
        if (!matched.ok) {
          const doubt = matched.error.map((problem) => problem.message).join("; ");
          return { doubt, met: otherSequences(request, outcome.data) };
        }
        const licenceOrders = [...matched.value].map(
          ([sequence, result]) => [sequence, result.licenseOrderId ?? ""] as const,
        );
        return { ...effectOf(id, new Map(licenceOrders)), refused: [] };
      },
    };
  };
}

/**
 * The licence orders of a purchase. An order record whose licence order is not known gets none: an empty number would
 * one day name all orders of the customer.
 */
export function licenceOrdersOf({ records }: OrderContext, licenceOrders: ReadonlyMap<number, string>): LicenceOrder[] {
  return records.flatMap(({ sequence, licenseType, customerId }) => {
    const licenseOrderId = licenceOrders.get(sequence) ?? "";
    return licenseOrderId === "" ? [] : [{ sequence, licenseType, platformCustomerId: customerId, licenseOrderId }];
  });
}

/** What the audit log says of a purchase. */
export function purchaseAudit(context: OrderContext, licenceOrders: readonly LicenceOrder[]): Effect["audit"] {
  return {
    order: formatKey(context.order),
    channelOrderId: context.channelOrderId,
    enterpriseGlobalId: context.enterpriseGlobalId,
    licenceOrders: licenceOrders.map(({ sequence, licenseType, licenseOrderId }) => ({
      sequence,
      licenseType,
      licenseOrderId,
    })),
    assetNumbers: context.records.flatMap((record) => record.numbers),
    products: context.records.flatMap((record) => record.products),
  };
}

/**
 * Whether the platform shows a purchase. `stood`: asset numbers that may have stood before it, so that they show
 * nothing by themselves.
 */
export async function readPurchase(
  snapshot: Snapshot,
  { id, context }: { id: string; context: OrderContext },
  stood: ReadonlySet<string>,
  effectOf: PurchaseEffect,
): Promise<Evidence> {
  const sight = await sightOrder(snapshot, context);
  const detail = {
    call: "(M6 ∪ E8) → M7",
    channelOrderId: context.channelOrderId,
    seen: sight.records.filter((record) => isWhole(record)).map((record) => record.sequence),
    products: sight.records.map((record) => [record.sequence, record.seen, record.wanted]),
    assets: sight.shown,
  };
  const effect = effectOf(id, sight.licenceOrders);
  if (sight.repeated.length > 0) {
    return {
      kind: "ambiguous",
      reason:
        "the platform shows the order in more than one licence order (sequence " +
        `${sight.repeated.join(", ")}); it may have been placed twice`,
      detail,
      effect,
      met: [{ row: "A16", evidence: "an order was shown in more than one licence order" }],
    };
  }
  if (sight.records.every((record) => isWhole(record))) {
    const types = context.records.map((record) => record.licenseType);
    return {
      kind: "confirmed",
      effect: {
        ...effect,
        changes: [...effect.changes, { type: "licence-types-shown", types }],
      },
      detail,
    };
  }
  const met = metByPart(sight);
  if (sight.records.some((record) => record.seen > 0))
    return { kind: "ambiguous", reason: "the platform shows only a part of the order", detail, effect, met };
  // Numbers that were there before say nothing; those of the pool are this order's and nobody else's.
  const ours = sight.shown.find((number) => !stood.has(number));
  if (ours !== undefined) {
    const reason = `the platform shows the asset number ${ours} of the order, but none of its products`;
    return { kind: "ambiguous", reason, detail, effect };
  }
  const [bare] = sight.bare;
  if (bare !== undefined) {
    const reason =
      `M7 shows the asset number ${bare} of the order without any product or package, which says ` +
      "neither that the order is there nor that it is not; ask the provider of the member-center whether " +
      "such assets are empty (assumptions.emptyAssets)";
    return { kind: "ambiguous", reason, detail, says: "nothing" };
  }
  return { kind: "not-found", detail };
}

/** A part shows something of A16 only where all asset numbers are shown: a list that is short hides whole numbers. */
function metByPart({ records, shown: numbersShown, bare }: OrderSight): AssumptionMet[] {
  const numbers = records.reduce((sum, record) => sum + record.numbers, 0);
  if (new Set(numbersShown).size < numbers || bare.length > 0) return [];
  const evidence = "of an E5 some products were shown over the settle time, and others never";
  return [{ row: "A16", evidence }];
}

/**
 * Not seeing a purchase proves nothing: it is sent again only where the configuration says that the platform shows what
 * is there.
 */
export async function purchaseNotFound(
  { context, customer }: { context: OrderContext; customer: RecordKey },
  facts: SettleFacts,
): Promise<WhenNotFound> {
  if (facts.ordersUnseen !== "resend") {
    return {
      kind: "park",
      reason: "the platform does not show the order, which proves nothing; a person decides (orders.unseen: ask)",
    };
  }
  // Before what the CRM wants now: an order that may be there unseen is not taken for one that is not, whatever became
  // of its record.
  for (const { licenseType } of context.records) {
    if (await facts.isShown(licenseType)) continue;
    return {
      kind: "park",
      reason:
        `the platform was never seen to show assets of the licence type ${licenseType} (A43: ` +
        "assumptions.visibleLicenseTypes), so not seeing the order says nothing",
    };
  }
  switch (await wishOf(context, customer, facts)) {
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
  context: OrderContext,
  customer: RecordKey,
  facts: SettleFacts,
): Promise<"the same" | "gone" | "unreadable"> {
  const now = await facts.orderNow(context.order);
  if (now?.state === "quarantined") return "unreadable";
  const same =
    now?.state === "current" &&
    !now.cancelled &&
    now.bodyHash === context.bodyHash &&
    formatKey(now.customer) === formatKey(customer);
  return same ? "the same" : "gone";
}

/** What an E5 that buys says, for people. */
function purchaseLines({ payload }: { payload: OrderShapes["payload"] | AmendmentShapes["payload"] }): string[] {
  const { orderList, ...others } = payload;
  return [
    ...fieldLines(others),
    ...orderList.flatMap((record, index) => [
      `orderList[${index}]: ${recordLine(record)}`,
      ...record.assets.flatMap(({ products, merchandises = [] }) =>
        [...products, ...merchandises.flatMap(productsOf)].map((product) => `  ${productLine(product)}`),
      ),
    ]),
  ];
}

/** `product P-1: CAD Pro, type tool, 5 nodes, term 1-0-0, from 2026-11-01T00:00:00Z to 2027-11-01T00:00:00Z`. */
function productLine(product: ProductRecord): string {
  const { crmProductId, productName, productUri, productType, limitStartDate, limitEndDate } = product;
  return [
    `product ${crmProductId}: ${productName}`,
    productUri,
    `type ${productType}`,
    counted(product.limitConcurrent, "node"),
    `term ${product.timeDurationExpression}`,
    ...(limitStartDate === undefined ? [] : [`from ${shownTime(limitStartDate)}`]),
    ...(limitEndDate === undefined ? [] : [`to ${shownTime(limitEndDate)}`]),
    ...(product.trial === 1 ? ["trial"] : []),
  ].join(", ");
}

/** How a purchase is taken back. */
const purchaseUndone: Undone = {
  how: "approximate",
  by: "E5",
  difference: "its licences are deleted as M7 shows them; its order number and its asset numbers are spent",
};

/** An order record as a plan prints it. */
function recordLine({ licenseType, customerId, assets }: OrderRecord): string {
  const listed = assets.map(({ assetNos, products, merchandises = [] }) => {
    const packages = merchandises.length === 0 ? "" : ` and ${counted(merchandises.length, "package")}`;
    return `asset ${shown(assetNos)} with ${counted(products.length, "product")}${packages}`;
  });
  return `${shown(licenseType)} for customer ${shown(customerId)}: ${listed.join("; ")}`;
}

/** Where a person sees whether a purchase was carried out. */
export function lookForPurchase(channelOrderId: string, context: OrderContext | undefined): LookFor {
  const numbers = context?.records.flatMap((record) => record.numbers) ?? [];
  return {
    what: `an order with the channel order number ${channelOrderId}, or one of its asset numbers: ${some(numbers)}`,
    where:
      `back office of the order service, orders of ${withinEnterprise(context)}; M6 and E8 show its asset ` +
      "numbers, M7 of such an asset shows the channel order number",
    whom: orderDesk,
  };
}

/** What the kinds that buy by E5 have in common. */
export const purchaseKind = {
  ...plainKind,
  endpoint: "E5",
  stages: ["orders"],
  policy: "orders.added",
  isSentSparingly: true,
  mayHoldAfterRefusal: true,
  cureOfPart: "take the part away on the platform first, or settle it as --applied",
  isAsynchronous: ({ payload }: { payload: { syncMode: string } }) => isAsync(payload),
  planLines: purchaseLines,
  outdates: ["assets"],
  undone: purchaseUndone,
} as const;
