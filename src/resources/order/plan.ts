import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { Earlier, ResourcePlan } from "../../engine/model/resource.ts";
import {
  type BlockedRecord,
  type Block,
  missingRecord,
  goingWithout,
  waitsForNeeds,
} from "../../engine/plan/blocks.ts";
import {
  type PlanOptions,
  type PlanInput,
  type LoadedCustomer,
  selectionBlock,
  isGone,
} from "../../engine/plan/input.ts";
import { type LeftBehind, type OrderPlan, hasProducts, isWanted, productsOf, blockedBy, joinedPlans } from "./model.ts";
import { amendedNumbers, withoutThereAlready } from "./there-already.ts";
import { planRemovals, type RemovalStage } from "./removals.ts";
import { type AssumptionSettings, missingAssumptions } from "../../contract/assumption-settings.ts";
import { fillTemplate } from "../../contract/template.ts";
import type { Desired, DesiredCustomer, DesiredOrder, OrderWithTree } from "../../engine/model/desired.ts";
import type { DraftOperation } from "../../engine/model/operation.ts";
import { type PlacedOrder, agreesWith } from "./state/changes.ts";
import { planAmendment } from "./amendments.ts";
import { consider } from "../../engine/plan/rejections.ts";
import type { Making, PurchaseMaker } from "./purchase-parts.ts";
import { planDeparture } from "./moves.ts";
import { awaitingTakeovers, takersOfInstance, withoutRenewed, withTransfers } from "./transfers.ts";
import { orderMoving } from "../../engine/plan/owner.ts";
import { differenceOf, isEmpty, wantedOf } from "./difference.ts";
import { heldNumbers } from "./units-that-stay.ts";
import {
  assumptionMissing,
  checkPayload,
  newBuyRecords,
  orderableFields,
  renewedIn,
  renewedUnits,
  unknownCustomer,
  type PurchasedAsset,
} from "./payload.ts";
import { withRenewals, type RenewalsGiven, type Renewing } from "./renewals.ts";
import { instancesFault } from "../../engine/plan/validate.ts";
import { isSameKey, passwordsWiped } from "../../engine/model/state.ts";

const nothingRemoved: RemovalStage = { meant: [], blocks: [], changes: [], endingNumbers: new Set() };

export function plan(given: PlanInput, { make }: Earlier, options: PlanOptions): ResourcePlan {
  const read = withoutUnread(planOrders(given, options), given);
  // Only an order with a recorded state can have parts that exist already.
  const orders = given.standings?.size ? withoutThereAlready(read, given) : read;
  const { people, contents } = given.observed.unread ?? {};
  const removalsBlocked = options.removalsBlocked ?? people ?? contents;
  const removals =
    orders.endings.length === 0
      ? nothingRemoved
      : planRemovals(given, orders.endings, { ...options, removalsBlocked, buys: orders.meant.length > 0 });
  const made = make([...orders.meant, ...removals.meant]);
  const isNeedy = made.operations.some(({ needs }) => needs.length > 0);
  const operations = isNeedy ? goingWithout(made.operations, made.left) : made.operations;
  const waiting = made.operations.filter((operation) => !operations.includes(operation));
  const said = new Set([...orders.blocks, ...removals.blocks, ...made.refused].map(([key]) => key));
  const waits = waiting.flatMap((operation) => {
    const isOwn = operation.needs.every(({ subject }) => subject === operation.subject);
    return operation.records.map(formatKey).flatMap((key): BlockedRecord[] =>
      // Another block of the same order is more specific.
      isOwn && said.has(key) ? [] : [[key, waitsForNeeds(operation)]],
    );
  });
  return {
    records: "orders",
    operations,
    changes: [...orders.changes, ...removals.changes],
    blocks: [...orders.blocks, ...removals.blocks, ...made.refused, ...waits],
    endingNumbers:
      orders.leaving.length === 0 ? removals.endingNumbers : removals.endingNumbers.union(new Set(orders.leaving)),
  };
}

/** If M7 failed, orders that depend on it wait. Other orders go on. */
function withoutUnread(stage: OrderStage, given: PlanInput): OrderStage {
  const block = given.observed.unread?.contents;
  if (block === undefined) return stage;
  const waiting = ordersByContents(stage, given);
  const goesOn = (order: RecordKey): boolean => !waiting.has(formatKey(order));
  return {
    ...stage,
    meant: stage.meant.filter(({ records }) => records.every(goesOn)),
    changes: stage.changes.filter((change) => !("order" in change) || goesOn(change.order)),
    blocks: [...[...waiting].map((key): BlockedRecord => [key, block]), ...stage.blocks],
  };
}

/** Orders with planned removals, or with purchases under existing numbers. */
function ordersByContents(
  { meant, endings }: Pick<OrderStage, "meant" | "endings">,
  input: Pick<LoadedCustomer, "standings">,
): Set<string> {
  const bought = meant.filter((one) => amendedNumbers({ meant: [one] }, input).length > 0);
  return new Set([
    ...bought.flatMap(({ records }) => records.map(formatKey)),
    ...endings.map(({ order }) => formatKey(order.order)),
  ]);
}

export type OrdersGiven = PlanInput & Pick<RenewalsGiven, "taken">;

export type OrderOptions = Pick<PlanOptions, "settings" | "policies"> & Partial<Pick<PlanOptions, "contradicted">>;

export interface OrderStage extends Pick<OrderPlan, "meant" | "changes" | "endings"> {
  blocks: BlockedRecord[];
  /** Of orders that moved away. Nobody is assigned these any more. */
  leaving: readonly string[];
  /** Only a full reading of the enterprise can show a number that a renewal needs. */
  readsAll: boolean;
}

/**
 * Decides each pending order: place it (E5), amend it, leave it, or say why it waits. An order whose record is in
 * quarantine is skipped completely, and its last good form is not used.
 */
export function planOrders(given: OrdersGiven, options: OrderOptions): OrderStage {
  const departures = (given.away ?? []).map((away) => planDeparture(given, away, options, purchaseOf));
  const orders = given.orders.filter(({ state }) => state !== "quarantined");
  const own = withoutSharedNumbers(planEach(given, orders, options), given.known.placedOrders);
  const planned: PlannedOrder[] = [...departures, ...own];
  const { meant, endings, ...plan } = joinedPlans(planned.map((one) => one.plan));
  return {
    meant,
    changes: plan.changes,
    blocks: planned.flatMap(({ key, plan: { blocks = [] } }) => blocks.map((block): BlockedRecord => [key, block])),
    endings: endings.length === 0 ? endings : withoutRenewed(meant, awaitingTakeovers(given, endings)),
    leaving: withoutStaying(
      departures.flatMap(({ numbers }) => numbers),
      given,
    ),
    readsAll: plan.renewing.some(({ isUnnumbered }) => isUnnumbered),
  };
}

type PlannedOrder = { key: string; plan: Partial<OrderPlan> };

/** In sequence, because a unit that one order renews is not available to the next. */
function planEach(given: OrdersGiven, orders: readonly OrderWithTree[], options: OrderOptions): PlannedOrder[] {
  const planned: PlannedOrder[] = [];
  let { taken } = given;
  for (const order of orders) {
    const plan = planOrder({ ...given, taken }, order, options);
    const names = (plan.renewing ?? []).flatMap((one) => one.taken);
    if (names.length > 0) taken = new Map([...(taken ?? []), ...names.map((name) => [name, order.key] as const)]);
    planned.push({ key: formatKey(order.key), plan });
  }
  return planned;
}

function planOrder(given: OrdersGiven, order: OrderWithTree, options: OrderOptions): Partial<OrderPlan> {
  const key = formatKey(order.key);
  const placed = given.known.placedOrders.get(key);
  if (placed !== undefined) return planPlaced(given, order, placed, options);
  const unclear = given.observed.unclearOrders?.get(key);
  if (unclear !== undefined) return blockedBy(unclear);
  return isWanted(order) ? place(given, order, options.settings) : {};
}

/** If several orders have one channel order number, the placed order keeps it; otherwise the first one. */
function withoutSharedNumbers(
  planned: readonly PlannedOrder[],
  placedOrders: ReadonlyMap<string, PlacedOrder>,
): PlannedOrder[] {
  const owners = new Map([...placedOrders].map(([key, { channelOrderId }]) => [channelOrderId, key]));
  return planned.map(({ key, plan }) => {
    const placement = plan.meant?.find((one) => one.kind === "place-order");
    if (placement === undefined) return { key, plan };
    const { channelOrderId } = placement.payload;
    const owner = owners.get(channelOrderId);
    owners.set(channelOrderId, owner ?? key);
    const blocked = owner === undefined ? {} : { meant: [], ...blockedBy(sameChannelNumber(channelOrderId, owner)) };
    return { key, plan: { ...plan, ...blocked } };
  });
}

function withoutStaying(numbers: readonly string[], { away = [], known }: OrdersGiven): readonly string[] {
  if (numbers.length === 0) return numbers;
  const moving = new Set(away.map(({ order }) => formatKey(order.key)));
  const staying = new Set(
    known.numbers.flatMap(({ number, namespace, orderId: id }) =>
      moving.has(formatKey({ namespace, id })) ? [] : [number],
    ),
  );
  return numbers.filter((number) => !staying.has(number));
}

function planPlaced(
  given: OrdersGiven,
  order: OrderWithTree,
  placed: PlacedOrder,
  options: OrderOptions,
): Partial<OrderPlan> {
  const key = formatKey(order.key);
  const { customer } = given;
  const isHere = isSameKey(placed.customer, customer);
  const agrees = isHere && agreesWith(placed, order);
  if (placed.elsewhere === true && !agrees) return blockedBy(standsElsewhere);
  if (agrees) return given.sealed?.has(key) === true ? { changes: [passwordsWiped(order.key)] } : {};
  const standing = given.standings?.get(key);
  if (standing === undefined || "lost" in standing)
    return formLost(standing?.lost ?? `the present state of the order ${key} was not read`);
  const left = isHere && hasProducts(standing) ? undefined : given.left?.get(key);
  if (left !== undefined && isWanted(order)) return planArrival(given, order, left, options);
  if (!isHere) {
    if (left !== undefined) return {};
    return { changes: [{ type: "order-moved", order: order.key, from: placed.customer, customer }] };
  }
  const make: PurchaseMaker = (own, assets) => purchaseOf(given, own, assets, options.settings);
  const takersOf = (instanceId: string): string[] => takersOfInstance(given, order.key, instanceId);
  return planAmendment({ ...given, takersOf }, { order, placed, standing }, options, make);
}

function formLost(lost: string): Partial<OrderPlan> {
  const reason = `the present state of the order is not known: ${lost}`;
  return blockedBy({ code: "order.form-lost", reason, again: true });
}

/** An order that moved here waits until all its parts are removed at the previous customer. */
function planArrival(
  given: OrdersGiven,
  order: OrderWithTree,
  left: LeftBehind,
  { policies }: OrderOptions,
): Partial<OrderPlan> {
  const what = `the order ${formatKey(order.key)} moved here from ${formatKey(left.customer)} in the CRM`;
  const considered = consider(policies, "orders.moved", what);
  if (considered === "nothing") return isAsLeft(given, order, left) ? {} : blockedBy(ignoredChange(left.customer));
  const reason = `${what}; the order is placed here after the removal there`;
  return blockedBy(considered === "act" ? { code: orderMoving, reason, again: true } : considered);
}

function isAsLeft({ known }: OrdersGiven, order: OrderWithTree, { standing }: LeftBehind): boolean {
  return !("lost" in standing) && isEmpty(differenceOf(standing, wantedOf(order), { held: heldNumbers(known) }));
}

function ignoredChange(left: RecordKey): Block {
  const reason =
    `the setting policies.orders.moved is ignore, so the order stays with ${formatKey(left)} although it moved to ` +
    "this customer in the CRM. Since then the CRM changed the order, and crm-sync does not carry out that change";
  return { code: "order.moved-changed", reason, again: false };
}

const standsElsewhere: Block = {
  code: "order.elsewhere",
  reason:
    "the order is still in an enterprise that the customer was linked with earlier. crm-sync does not buy, change or " +
    "remove any part of it in the enterprise that the customer is linked with now",
  again: true,
};

/** From the CRM, or made from the template (A16). */
function channelOrderIdOf(order: Desired<DesiredOrder>, settings: AssumptionSettings): string {
  const { namespace, id } = order.key;
  return order.body.channelOrderId ?? fillTemplate(settings.channelOrderIdTemplate, { id, namespace });
}

function sameChannelNumber(channelOrderId: string, owner: string): Block {
  const reason =
    `the order ${owner} has the channel order number ${channelOrderId} already; two orders cannot have the same ` +
    "number";
  return { code: "order.same-channel-number", reason, again: true };
}

function place(given: OrdersGiven, order: OrderWithTree, settings: AssumptionSettings): Partial<OrderPlan> {
  const { made, renewing } = purchaseOf(given, order, order.tree.assets, settings);
  if ("code" in made) return { ...blockedBy(made), renewing: [renewing] };
  const placement: DraftOperation<"place-order"> = {
    kind: "place-order",
    customer: given.customer,
    subject: `order:${formatKey(order.key)}`,
    records: [{ stream: "orders", ...order.key }],
    target: {},
    payload: { ...made.payload, channelOrderId: channelOrderIdOf(order, settings) },
    reason: "the order is new in the CRM",
    before: null,
    after: {
      version: order.version,
      bodyHash: order.bodyHash,
      assets: order.tree.assets.map((asset) => ({
        id: asset.id,
        licenseType: asset.licenseType,
        quantity: asset.quantity,
        given: asset.assetNumbers,
        ...renewedIn(made.renewed, asset.id),
      })),
    },
  };
  return { meant: [placement], renewing: [renewing] };
}

const nothingRenewed: Renewing = { taken: [], isUnnumbered: false };

export function purchaseOf(
  given: OrdersGiven,
  order: OrderWithTree,
  assets: readonly PurchasedAsset[],
  settings: AssumptionSettings,
): Making {
  const orderable = orderableCustomer(given, order);
  if ("code" in orderable) return { made: orderable, renewing: nothingRenewed };
  const transferred = assets.some(isTransferred) ? withTransfers(order.key, assets, given.standings) : assets;
  if ("code" in transferred) return { made: transferred, renewing: nothingRenewed };
  const { assets: resolved, renewing } = assets.some(({ continues }) => continues !== undefined)
    ? withRenewals(given, order.key, transferred)
    : { assets: transferred, renewing: nothingRenewed };
  if ("code" in resolved) return { made: resolved, renewing };
  const { numbers, known } = given;
  const orderList = newBuyRecords(settings, { order: order.key, numbers, body: orderable.body, assets: resolved });
  const types = orderList.map((record) => record.licenseType);
  const unfit = notSendable(order, resolved, settings) ?? selectionBlock(known, types, settings);
  if (unfit !== undefined) return { made: unfit, renewing };
  const { channelCode = "", syncMode } = settings;
  return { made: { payload: { channelCode, syncMode, orderList }, renewed: renewedUnits(resolved) }, renewing };
}

function isTransferred(asset: PurchasedAsset): boolean {
  return productsOf(asset).some(({ transferredFrom }) => transferredFrom !== undefined);
}

function orderableCustomer(given: OrdersGiven, order: OrderWithTree): { body: DesiredCustomer } | Block {
  const { desiredCustomer } = given;
  if (desiredCustomer === undefined) return unknownCustomer;
  if (isGone(given))
    return { code: "customer.gone", reason: "the customer of the order was deleted in the CRM", again: false };
  const waits = (order.missing && missingRecord) ?? given.renumbered ?? given.observed.unread?.customers;
  if (waits !== undefined) return waits;
  const { body } = desiredCustomer;
  const lacking = orderableFields.filter((field) => body[field] === undefined);
  if (lacking.length > 0) {
    const reason = `nothing can be ordered for the customer yet: the CRM gives no ${lacking.join(", ")}`;
    return { code: "customer.not-orderable", reason, again: true };
  }
  const [fault] = order.tree.faults;
  return fault === undefined ? { body } : { code: `order.${fault.code}`, reason: fault.message, again: false };
}

function notSendable(
  order: OrderWithTree,
  assets: readonly PurchasedAsset[],
  settings: AssumptionSettings,
): Block | undefined {
  const { uses, faults } = checkPayload(settings, assets);
  const [missing] = missingAssumptions(settings, "E5", uses);
  if (missing !== undefined) return assumptionMissing(missing);
  const unfit = instancesFault(order.body.instances, settings);
  if (unfit !== undefined) return { code: `order.${unfit.code}`, reason: unfit.message, again: true };
  const [wrong] = faults;
  if (wrong === undefined) return undefined;
  const reason = `instance ${wrong.instanceId}, ${wrong.field}: ${wrong.message}`;
  return { code: "order.not-sendable", reason, again: true };
}
