import type { LeftBehind } from "./given.ts";
import type { AssumptionSettings } from "../../contract/assumption-settings.ts";
import { missingAssumptions } from "../../contract/assumptions/missing.ts";
import { fillTemplate } from "../../contract/template.ts";
import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { RenewedUnit } from "../../engine/asset-numbers.ts";
import type { Desired, DesiredCustomer, DesiredOrder, OrderWithTree } from "../../engine/desired.ts";
import type { DraftOperation } from "../../engine/operation.ts";
import { hasProducts } from "./order-standing.ts";
import type { Known, StateChange } from "../../engine/state.ts";
import type { PlacedOrder } from "./state/placed-orders.ts";
import { missingRecord } from "../../engine/plan/block.ts";
import type { Block, BlockedRecord } from "../../engine/plan/block.ts";
import type { Observed } from "../../engine/plan/input.ts";
import { planAmendment } from "./amendments.ts";
import { consider } from "../../engine/plan/policy.ts";
import { planRepair } from "./order-repair.ts";
import type { PurchaseMaker } from "./purchase-parts.ts";
import { orderMoving, planDepartures } from "./moved-orders.ts";
import type { PlanOptions } from "../../engine/plan/options.ts";
import { differenceOf, isEmpty } from "./order-difference.ts";
import type { Endings } from "./order-difference.ts";
import { newBuyRecords, orderableFields, PayloadBuild } from "./order-records.ts";
import type { PurchasedAsset } from "./order-records.ts";
import { renewedIn, withRenewals } from "./renewals.ts";
import type { RenewalsGiven } from "./renewals.ts";
import { selectionBlock } from "../enterprise/index.ts";
import { isGone } from "../../engine/plan/prepared.ts";
import type { Prepared } from "../../engine/plan/prepared.ts";
import { awaitingTakeovers, takersOfInstance, withoutRenewed } from "./taken-over.ts";
import { withTransfers } from "./transfers.ts";
import { instancesFault } from "../../engine/plan/validate.ts";
import { isSameKey } from "../../engine/state/same-key.ts";
import { wantedForm } from "./state/order-steps.ts";
import { passwordsWiped } from "../../engine/state/secrets.ts";

/** What the orders stage looks at. */
export type OrdersGiven = Pick<
  Prepared,
  | "customer"
  | "desiredCustomer"
  | "orders"
  | "takers"
  | "sealed"
  | "numbers"
  | "renumbered"
  | "standings"
  | "drift"
  | "left"
  | "away"
  | "earlierOwners"
  | "earlier"
> & {
  known: Pick<Known, "link" | "placedOrders" | "platformCustomers" | "assignments" | "numbers">;
  taken?: RenewalsGiven["taken"];
  unnumbered?: RenewalsGiven["unnumbered"];
  observed: Pick<Observed, "unclearOrders" | "contents" | "allContents" | "goneAssets" | "assets" | "unread">;
};

type OrderOptions = Pick<PlanOptions, "settings" | "policies" | "repairs">;

type Placement = DraftOperation<"place-order">;

/** What the orders stage comes to. An order of which nothing is said here leaves nothing to do. */
export interface OrderStage {
  meant: DraftOperation<"place-order" | "amend-order">[];
  changes: StateChange[];
  blocks: BlockedRecord[];
  /** What of placed orders is to be taken away. */
  endings: Endings[];
  /** Asset numbers of orders that moved away: nobody is given them any more. */
  leaving: readonly string[];
  /** Only a reading of everything may tell the number that something goes on under. */
  readsAll: boolean;
}

/**
 * Decides each pending order of a customer: place it (E5), amend it, leave it, or say why it waits. An order whose
 * record waits in quarantine is not decided at all: nothing of it is sent, and its last good form stands for nothing.
 */
export function planOrders(of: OrdersGiven, options: OrderOptions): OrderStage {
  const { settings } = options;
  const unnumbered = new Set<string>();
  const given: OrdersGiven = { ...of, taken: new Map(), unnumbered };
  const owners = new Map<string, string>();
  for (const [key, placed] of given.known.placedOrders) owners.set(placed.channelOrderId, key);
  const departures = planDepartures(given, options);
  const { changes, blocks, endings } = departures;
  const leaving = withoutStaying(departures.numbers, given);
  const stage: OrderStage = { meant: [], changes, blocks, endings, leaving, readsAll: false };
  for (const order of given.orders) {
    if (order.state === "quarantined") continue;
    const key = formatKey(order.key);
    const placed = given.known.placedOrders.get(key);
    if (placed !== undefined) {
      amend(stage, given, order, placed, options);
      continue;
    }
    const decided = decide(given, order, settings);
    if (decided === "nothing-to-do") continue;
    if (!("kind" in decided)) {
      stage.blocks.push([key, decided]);
      continue;
    }
    const { channelOrderId } = decided.payload;
    const owner = owners.get(channelOrderId);
    if (owner !== undefined) stage.blocks.push([key, sameChannelNumber(channelOrderId, owner)]);
    else {
      owners.set(channelOrderId, key);
      stage.meant.push(decided);
    }
  }
  const readsAll = unnumbered.size > 0;
  return { ...stage, readsAll, endings: withoutRenewed(stage.meant, awaitingTakeovers(given, stage.endings)) };
}

/** Numbers of orders that moved away and that no order which stays has: what goes on under one does not leave. */
function withoutStaying(numbers: readonly string[], { away = [], known }: OrdersGiven): string[] {
  const moving = new Set(away.map(({ order }) => formatKey(order.key)));
  const staying = new Set(
    known.numbers.flatMap(({ number, namespace, orderId: id }) =>
      moving.has(formatKey({ namespace, id })) ? [] : [number],
    ),
  );
  return numbers.filter((number) => !staying.has(number));
}

/** An order that is placed: what stands of it is compared where the CRM says something else than it agreed to last. */
function amend(
  stage: OrderStage,
  given: OrdersGiven,
  order: OrderWithTree,
  placed: PlacedOrder,
  options: OrderOptions,
): void {
  const key = formatKey(order.key);
  const waits = (block: Block): void => void stage.blocks.push([key, block]);
  const isHere = isSameKey(placed.customer, given.customer);
  const agrees = isHere && (placed.agreedHash ?? placed.bodyHash) === wantedForm(order);
  if (placed.elsewhere === true && !agrees) return waits(standsElsewhere);
  if (agrees && (given.drift === undefined || placed.elsewhere === true)) {
    if (given.sealed?.has(key) === true) stage.changes.push(passwordsWiped(order.key));
    return;
  }
  const standing = given.standings?.get(key);
  if (standing === undefined || "lost" in standing) {
    if (agrees) return;
    const lost = standing?.lost ?? `the present state of the order ${key} was not read`;
    return waits({
      code: "order.form-lost",
      reason: `the present state of the order is not known: ${lost}`,
      again: true,
    });
  }
  const elsewhere = isHere && hasProducts(standing) ? undefined : given.left?.get(key);
  if (elsewhere !== undefined && isWanted(order)) {
    const { customer } = elsewhere;
    const what = `the order ${key} moved here from ${formatKey(customer)} in the CRM`;
    const said = consider(options.policies, "orders.moved", what);
    if (said === "nothing") return isAsLeft(given, order, elsewhere) ? undefined : waits(ignoredChange(customer));
    const reason = `${what}; the order is placed here after the removal there`;
    return waits(said === "act" ? { code: orderMoving, reason, again: true } : said);
  }
  if (!isHere) {
    const { customer } = given;
    if (elsewhere === undefined)
      stage.changes.push({ type: "order-moved", order: order.key, from: placed.customer, customer });
    return;
  }
  const of = { order, placed, standing };
  const make: PurchaseMaker = (own, assets) => purchaseOf(given, own, assets, options.settings);
  const takers = (instanceId: string): string[] => takersOfInstance(given, order.key, instanceId);
  const plan = agrees ? planRepair : planAmendment;
  const { meant, changes, blocks, endings } = plan({ ...given, takersOf: takers }, of, options, make);
  stage.meant.push(...meant);
  stage.changes.push(...changes);
  stage.blocks.push(...blocks.map((block): BlockedRecord => [key, block]));
  stage.endings.push(...endings);
}

/** Whether what an order left at the customer that it moved away from is what the CRM wants of it now. */
function isAsLeft({ known }: OrdersGiven, order: OrderWithTree, { standing }: LeftBehind): boolean {
  if ("lost" in standing) return false;
  const held = new Set(known.assignments.map((item) => item.assetNumber));
  return isEmpty(differenceOf(standing, { assets: order.tree.assets, amount: order.body.amount }, { held }));
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

/** The channel order number of an order: the CRM's own, or the one the template makes (A16). */
function channelOrderIdOf(order: Desired<DesiredOrder>, settings: AssumptionSettings): string {
  const { namespace, id } = order.key;
  return order.body.channelOrderId ?? fillTemplate(settings.channelOrderIdTemplate, { id, namespace });
}

function sameChannelNumber(channelOrderId: string, owner: string): Block {
  return {
    code: "order.same-channel-number",
    reason:
      `the order ${owner} has the channel order number ${channelOrderId} already; two orders cannot have the same ` +
      "number",
    again: true,
  };
}

function decide(
  given: OrdersGiven,
  order: OrderWithTree,
  settings: AssumptionSettings,
): Placement | Block | "nothing-to-do" {
  const unclear = given.observed.unclearOrders?.get(formatKey(order.key));
  if (unclear !== undefined) return unclear;
  return isWanted(order) ? placement(given, order, settings) : "nothing-to-do";
}

function isWanted({ state, body }: OrderWithTree): boolean {
  return state !== "absent" && !body.cancelled;
}

function placement(given: OrdersGiven, order: OrderWithTree, settings: AssumptionSettings): Placement | Block {
  const made = purchaseOf(given, order, order.tree.assets, settings);
  if ("code" in made) return made;
  return {
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
}

/** What an E5 says of a purchase for the customer as it is now, or why nothing can be bought. */
export function purchaseOf(
  given: OrdersGiven,
  order: OrderWithTree,
  assets: readonly PurchasedAsset[],
  settings: AssumptionSettings,
): ReturnType<PurchaseMaker> {
  const { desiredCustomer } = given;
  if (desiredCustomer === undefined)
    return { code: "customer.unknown", reason: "no source has given the customer of the order yet", again: true };
  if (isGone(given))
    return { code: "customer.gone", reason: "the customer of the order was deleted in the CRM", again: false };
  const waits = (order.missing && missingRecord) ?? given.renumbered ?? given.observed.unread?.customers;
  if (waits !== undefined) return waits;
  const made = orderRecords(given, desiredCustomer.body, order, assets, settings);
  if ("code" in made) return made;
  const { channelCode = "", syncMode } = settings;
  const renewed = new Map<string, RenewedUnit[]>();
  for (const asset of made.assets)
    if (asset.renewed !== undefined) renewed.set(asset.id, [...(renewed.get(asset.id) ?? []), ...asset.renewed]);
  return { payload: { channelCode, syncMode, orderList: made.records.map(({ record }) => record) }, renewed };
}

/** The order records of a purchase, or why they cannot be made as they have to be. */
function orderRecords(
  given: OrdersGiven,
  body: DesiredCustomer,
  order: OrderWithTree,
  assets: readonly PurchasedAsset[],
  settings: AssumptionSettings,
): { records: ReturnType<typeof newBuyRecords>; assets: PurchasedAsset[] } | Block {
  const { numbers, known } = given;
  const lacking = orderableFields.filter((field) => body[field] === undefined);
  if (lacking.length > 0) {
    return {
      code: "customer.not-orderable",
      reason: `nothing can be ordered for the customer yet: the CRM gives no ${lacking.join(", ")}`,
      again: true,
    };
  }
  const [fault] = order.tree.faults;
  if (fault !== undefined) return { code: `order.${fault.code}`, reason: fault.message, again: false };
  const transferred = withTransfers(order.key, assets, given.standings);
  if ("code" in transferred) return transferred;
  const resolved = withRenewals(given, order.key, transferred);
  if ("code" in resolved) return resolved;
  const build = new PayloadBuild(settings);
  const records = newBuyRecords(build, { order: order.key, numbers, body, assets: resolved });
  const [missing] = missingAssumptions(settings, "E5", build.uses);
  if (missing !== undefined) {
    return {
      code: "assumption.missing",
      reason: `the setting assumptions.${missing.key} (${missing.row}) has no value; choose ${missing.choices.join(" or ")}`,
      again: true,
    };
  }
  const unfit = instancesFault(order.body.instances, settings);
  if (unfit !== undefined) return { code: `order.${unfit.code}`, reason: unfit.message, again: true };
  const [wrong] = build.faults;
  if (wrong !== undefined) {
    const reason = `instance ${wrong.instanceId}, ${wrong.field}: ${wrong.message}`;
    return { code: "order.not-sendable", reason, again: true };
  }
  const types = records.map((record) => record.licenseType);
  return selectionBlock(known, types, settings) ?? { records, assets: resolved };
}
