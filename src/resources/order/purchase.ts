import {
  notSendable,
  takenLater,
  type Bound,
  type Effect,
  type Evidence,
  type NotSendable,
  type Prepared,
  type LookFor,
} from "../../engine/model/operation-type.ts";
import type { z } from "zod";
import { checked } from "../../contract/fits.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { BatchOrderRequest } from "../../contract/order-record.ts";
import { matchBySequence } from "../../contract/order-service.ts";
import { formatKey } from "../../crm/keys.ts";
import type { Snapshot } from "../../platform/snapshot.ts";
import type { AssumptionMet } from "../../engine/model/assumptions-met.ts";
import {
  orderDesk,
  some,
  withinEnterprise,
  numbersThere,
  isReference,
  type PlannedAsset,
  type RenewedUnit,
} from "../../engine/model/references.ts";
import {
  type OrderContext,
  type AmendmentShapes,
  holdsPasswords,
  isAsync,
  orderContextOf,
  standingProducts,
} from "./shapes.ts";
import { otherSequences } from "./assumptions.ts";
import { isWhole, sightOrder, type OrderSight } from "./sight.ts";
import type { Shapes, Draft } from "../../engine/model/resource.ts";
import type { LicenceOrder } from "./state/changes.ts";
import type { StateChange } from "../../engine/model/state.ts";

type AmendmentContext = AmendmentShapes["context"];

export type OrderEffect = (id: string, licenceOrders: ReadonlyMap<number, string>) => Effect;

/** Its success requires a licence order for each order record. */
export function prepareOrder<S extends Shapes>(
  { operation, wire }: Pick<Bound<S>, "operation" | "wire">,
  schema: z.ZodType<BatchOrderRequest>,
  of: (request: BatchOrderRequest, order: RecordKey) => { context: S["context"]; effectOf: OrderEffect },
): Prepared<S> | NotSendable {
  const checkedRequest = checked(schema, wire);
  if (!checkedRequest.success) return notSendable(checkedRequest.error.issues);
  const { data: request } = checkedRequest;
  const order = orderNamed(operation.records);
  if (order === undefined) return { code: "order.unnamed", reason: "the operation does not name its order" };
  const { context, effectOf } = of(request, order);
  return {
    context,
    send: async ({ orderService }, call) => {
      const outcome = await orderService.placeOrders(request, call);
      return {
        outcome,
        conclude: (id) => {
          if (isAsync(request)) return takenLater;
          if (outcome.kind !== "done") return { doubt: "no data" };
          const matched = matchBySequence(request, outcome.data);
          if (!matched.ok) {
            const doubt = matched.error.join("; ");
            return { doubt, met: otherSequences(request, outcome.data) };
          }
          const licenceOrders = [...matched.value].map(
            ([sequence, { licenseOrderId }]) => [sequence, licenseOrderId ?? ""] as const,
          );
          return { ...effectOf(id, new Map(licenceOrders)), refused: [] };
        },
      };
    },
  };
}

export function orderNamed([record]: readonly RecordKey[]): RecordKey | undefined {
  return record && { namespace: record.namespace, id: record.id };
}

/** Leaves out records without a known licence order: an empty number would later mean all orders of the customer. */
export function licenceOrdersOf({ records }: OrderContext, licenceOrders: ReadonlyMap<number, string>): LicenceOrder[] {
  return records.flatMap(({ sequence, licenseType, customerId }) => {
    const licenseOrderId = licenceOrders.get(sequence) ?? "";
    return licenseOrderId === "" ? [] : [{ sequence, licenseType, platformCustomerId: customerId, licenseOrderId }];
  });
}

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

/** Whether the platform shows a purchase. `stood`: numbers that may have existed before and so prove nothing. */
export async function readPurchase(
  snapshot: Snapshot,
  { id, context }: { id: string; context: OrderContext },
  stood: ReadonlySet<string>,
  effectOf: OrderEffect,
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
  // Earlier numbers prove nothing; pool numbers belong to this order alone.
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

/** A partial sight concerns A16 only if all asset numbers are shown: an incomplete list hides whole numbers. */
function metByPart({ records, shown: numbersShown, bare }: OrderSight): AssumptionMet[] {
  const numbers = records.reduce((sum, record) => sum + record.numbers, 0);
  if (new Set(numbersShown).size < numbers || bare.length > 0) return [];
  const evidence = "of an E5 some products were shown over the settle time, and others never";
  return [{ row: "A16", evidence }];
}

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

export function orderPlaced(
  operationId: string,
  customer: RecordKey,
  context: OrderContext,
  licenceOrders: ReadonlyMap<number, string>,
): Effect {
  const rows = licenceOrdersOf(context, licenceOrders);
  const changes: StateChange[] = [
    {
      type: "order-placed",
      order: context.order,
      customer,
      channelOrderId: context.channelOrderId,
      bodyHash: context.bodyHash,
      version: context.version,
      products: standingProducts(context),
      operationId,
      origin: "placed",
      licenceOrders: rows,
    },
    ...renewals(operationId, customer, context),
  ];
  if (context.secrets)
    changes.push({ type: "secrets-wiped", ref: `orders/${formatKey(context.order)}`, version: context.version });
  return { changes, audit: purchaseAudit(context, rows) };
}

/** Records the numbers of renewed units as a step that buys nothing more. */
function renewals(operationId: string, customer: RecordKey, context: OrderContext): StateChange[] {
  const { order, channelOrderId, version, bodyHash, renewed = [] } = context;
  if (renewed.length === 0) return [];
  const items = renewed.map((unit) => ({ ...unit, products: [], packages: [] }));
  const of = { order, customer, operationId, origin: "sent" } as const;
  return [
    { type: "order-bought", ...of, channelOrderId, version, items, licenceOrders: [], products: 0 },
    { type: "order-agreed", order, version, bodyHash },
  ];
}

export function amendmentContextOf(
  { after, payload }: Pick<Draft<AmendmentShapes>, "after" | "payload">,
  request: BatchOrderRequest,
  order: RecordKey,
): AmendmentContext {
  const numbers = numbersByUnit(payload, request);
  const renewed = renewedUnits(after.assets);
  const items = after.items.map(({ stood: _stood, ...item }) => {
    const name = unitKey(item.instanceId, item.unit);
    const earlier = renewed.get(name);
    if (earlier !== undefined) return { ...item, number: earlier.number, continues: earlier.continues };
    return { ...item, number: numbers.get(name) ?? null };
  });
  const stood = after.items.flatMap((item, index) => (item.stood ? [items[index]?.number ?? ""] : []));
  const { bodyHash, version, assets } = after;
  const secrets = payload.orderList.some(holdsPasswords);
  const common = orderContextOf(request, { order, bodyHash, version, secrets, assets });
  return { ...common, items, stood };
}

/** Asset numbers that may have existed before: of existing units, of earlier units, and from the CRM. */
export function stoodBefore({
  operation,
  context,
}: {
  operation: { after: AmendmentShapes["after"] };
  context: AmendmentContext;
}) {
  return [...context.stood, ...numbersThere(operation.after.assets)];
}

function renewedUnits(assets: readonly PlannedAsset[]): ReadonlyMap<string, RenewedUnit> {
  return new Map(
    assets.flatMap(({ id, renewed = [] }) => renewed.map((unit) => [unitKey(id, unit.unit), unit] as const)),
  );
}

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

export function orderBought(
  operationId: string,
  customer: RecordKey,
  context: AmendmentContext,
  licenceOrders: ReadonlyMap<number, string>,
): Effect {
  const rows = licenceOrdersOf(context, licenceOrders);
  return {
    changes: [
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
    audit: purchaseAudit(context, rows),
  };
}
