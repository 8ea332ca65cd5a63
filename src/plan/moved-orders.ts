import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import { hasProducts } from "../operation/order-standing.ts";
import type { OrderStanding, StandingUnit } from "../operation/order-standing.ts";
import type { PolicyName } from "../operation/policy.ts";
import type { Handover } from "../operation/shape.ts";
import type { Known, StateChange } from "../operation/state.ts";
import { wantedForm } from "../operation/state/order-steps.ts";
import { isSameKey } from "../operation/state/same-key.ts";
import type { Amendment, Placed } from "./amendments.ts";
import type { PurchaseMaker } from "./purchase-parts.ts";
import { planAmendment } from "./amendments.ts";
import type { Block, BlockedRecord } from "./block.ts";
import type { AwayOrder, LeftBehind, LoadedCustomer, Observed } from "./input.ts";
import type { PlanOptions } from "./options.ts";
import { differenceOf } from "./order-difference.ts";
import type { EndingPolicy, Endings, OrderDifference } from "./order-difference.ts";
import { consider } from "./policy.ts";
import type { Prepared } from "./prepared.ts";
import { Limits, sightOf } from "./removal-sight.ts";

/** What is planned of an order at the customer that it moved to. */
export interface Arrival extends Amendment {
  /** What stands here and has to be shown before anything goes where the order was before. */
  proof: readonly StandingUnit[];
}

type ArrivalGiven = Pick<Prepared, "customer" | "sealed" | "left"> & {
  known: Pick<Known, "assignments" | "numbers">;
  observed: Pick<Observed, "contents">;
};

const nothing: Amendment = { meant: [], changes: [], blocks: [], endings: [] };

/**
 * Plans an order that moved here in the CRM and stands for another customer still. With an overlap it is bought here
 * under a channel order number of its own, and stands for this customer once M7 shows all of it: what is left where it
 * was goes then. With a gap the same purchase is planned, and once neither a policy nor a person holds it the order
 * stands for this customer: it is bought once nothing is left there. What the CRM wants no more is only to be taken
 * away.
 */
export function planArrival(
  given: ArrivalGiven,
  of: Placed,
  options: Pick<PlanOptions, "settings" | "policies">,
  make: PurchaseMaker,
): Arrival {
  const { order, placed, standing } = of;
  const { policies } = options;
  const key = formatKey(order.key);
  const { customer } = given;
  const changes: StateChange[] = [{ type: "order-moved", order: order.key, from: placed.customer, customer }];
  const moved = { ...nothing, changes, proof: [] };
  if (!isWanted(order)) return moved;
  const where = formatKey(placed.customer);
  const said = consider(policies, "orders.moved", `the order ${key} moved here in the CRM and stands for ${where}`);
  if (said !== "act") return { ...nothing, blocks: said === "nothing" ? [] : [said], proof: [] };
  const held = new Set(given.known.assignments.map((item) => item.assetNumber));
  const wanted = { assets: order.tree.assets, amount: order.body.amount };
  const difference = differenceOf(standing, wanted, { held });
  if (order.tree.faults.length === 0 && !lacks(difference)) {
    const proof = standing.units.filter(({ products }) => products.length > 0);
    const unseen = notShown(proof, given.observed.contents, new Limits(options.settings), where);
    return unseen === undefined ? moved : { ...nothing, blocks: [unseen], proof };
  }
  const left = given.left?.get(key);
  const taken = numberElsewhere(difference, left);
  // Beside what stands here the rest is bought by more than one call: nothing makes room for the first of them.
  const hasGap = policies.replacement === "gap" && (taken !== undefined || !hasProducts(standing));
  if (taken !== undefined && !hasGap) return { ...nothing, blocks: [taken], proof: [] };
  const bought = planAmendment(given, of, options, make);
  if (hasGap) {
    const elsewhere = whereLeft(left) ?? placed.customer;
    return { ...afterHandover(bought, left, { order: order.key, elsewhere, isGiven: false }), proof: [] };
  }
  const meant = bought.meant.map((one) => ({ ...one, reason: arrivalText(one.reason, where) }));
  return { ...bought, meant, changes: [], proof: [] };
}

/**
 * With a gap nothing of a purchase is made before what stands elsewhere went, and nothing goes for a part of it, nor
 * for one whose asset numbers cannot be had.
 */
function afterHandover(bought: Amendment, left: readonly LeftBehind[] | undefined, handover: Handover): Amendment {
  const { elsewhere } = handover;
  const given = bought.meant.flatMap(({ after }) => after.assets.flatMap((asset) => asset.given));
  const taken = given.find((number) => left?.some((place) => place.taken.includes(number)));
  if (taken !== undefined) return { ...nothing, blocks: [numberTaken(taken, elsewhere)] };
  const reason = (own: string): string =>
    `the order moved here from ${formatKey(elsewhere)} in the CRM: ${own}; before: ${goesFirst(elsewhere)}`;
  const meant = bought.meant.map((one) => ({ ...one, reason: reason(one.reason), handover }));
  return { ...bought, meant: bought.blocks.length > 0 ? [] : meant, changes: [] };
}

function numberTaken(number: string, elsewhere: RecordKey): Block {
  const reason =
    `the CRM gives the asset number ${number} to the order, and it is that of another asset, or was handed out by ` +
    "the order service for the one that goes and is used once; without the number in the CRM the order gets a new " +
    `one. Until then nothing of it is bought, and what stands of it for ${formatKey(elsewhere)} stays`;
  return { code: "asset.number-taken", reason, again: true };
}

function goesFirst(elsewhere: RecordKey): string {
  return `what stands of it for ${formatKey(elsewhere)} goes first (policies.replacement: gap)`;
}

/** Why a purchase that is released waits. */
export function awaitsLeaving({ elsewhere }: Handover): Block {
  const reason = `the order moved here in the CRM, and ${goesFirst(elsewhere)}`;
  return { code: "order.moving", reason, again: true };
}

function arrivalText(reason: string, where: string): string {
  return (
    `the order moved here from ${where} in the CRM: ${reason}; ` +
    `then: what stands of it for ${where} is taken away there, once M7 shows what was bought`
  );
}

function isWanted({ state, body }: Placed["order"]): boolean {
  return state === "current" && !body.cancelled;
}

function lacks({ added, replaced, assetChanged }: OrderDifference): boolean {
  return added.length > 0 || replaced.length > 0 || assetChanged.length > 0;
}

/** A number that the CRM gives to an asset which is to be bought here, and under which it stands elsewhere. */
function numberElsewhere(
  { added, assetChanged }: OrderDifference,
  left: readonly LeftBehind[] = [],
): Block | undefined {
  const given = [...added, ...assetChanged].flatMap(({ asset }) => asset.assetNumbers);
  for (const { customer, numbers } of left) {
    const number = given.find((one) => numbers.includes(one));
    if (number === undefined) continue;
    const reason =
      `the CRM gives the asset number ${number} to the order, and the asset with this number stands for ` +
      `${formatKey(customer)}; a number names one asset, so nothing is bought beside it, and the order stays there ` +
      "(policies.replacement: overlap)";
    return { code: "order.number-elsewhere", reason, again: true };
  }
  return undefined;
}

/** Nothing goes where the order was before M7 shows all of it here, as it was bought. */
function notShown(
  units: readonly StandingUnit[],
  contents: Observed["contents"],
  limits: Limits,
  where: string,
): Block | undefined {
  for (const unit of units) {
    const reading = contents?.get(unit.number ?? "");
    for (const standing of unit.products) {
      const sight = reading === undefined ? undefined : sightOf(reading, unit, standing, limits);
      if (sight?.is === "blocked") return sight.block;
      if (sight !== undefined && sight.is !== "gone") continue;
      const reason =
        `the order moved here and was bought as ${standing.channelOrderId}, and M7 does not show all of it under the ` +
        `asset number ${unit.number ?? "(not known)"} yet; what stands of it for ${where} stays until it does`;
      return { code: "order.overlap", reason, again: true };
    }
  }
  return undefined;
}

/** With a gap an order that was given over is bought once nothing of it is left where it was. */
export function withHandover(
  bought: Amendment,
  { order, standing }: Pick<Placed, "order" | "standing">,
  left: readonly LeftBehind[] = [],
  { replacement }: PlanOptions["policies"],
): Amendment {
  const elsewhere = whereLeft(left);
  if (replacement !== "gap" || elsewhere === undefined || hasProducts(standing) || !isWanted(order)) return bought;
  return afterHandover(bought, left, { order: order.key, elsewhere, isGiven: true });
}

/** Where something of an order stands beside its customer; it may have been given over to others on its way. */
function whereLeft(left: readonly LeftBehind[] = []): RecordKey | undefined {
  return (left.find(({ numbers }) => numbers.length > 0) ?? left[0])?.customer;
}

type Given = Pick<LoadedCustomer, "customer" | "orders" | "standings" | "left"> & {
  known: Pick<Known, "placedOrders">;
};

/**
 * Takes back orders that moved here and were given over, of which nothing stands here yet, and which cannot be bought
 * now (`isBought` says which can): what stands of them elsewhere stays.
 */
export function takenBack(given: Given, isBought: (order: RecordKey) => boolean = () => false): StateChange[] {
  // Most customers have nothing that moved.
  if (given.left === undefined || given.left.size === 0) return [];
  return given.orders.flatMap((order): StateChange[] => {
    const key = formatKey(order.key);
    const elsewhere = whereLeft(given.left?.get(key));
    const placed = given.known.placedOrders.get(key);
    const standing = given.standings?.get(key);
    if (elsewhere === undefined || placed === undefined || standing === undefined || "lost" in standing) return [];
    if (!isSameKey(placed.customer, given.customer) || hasProducts(standing)) return [];
    const agrees = (placed.agreedHash ?? placed.bodyHash) === wantedForm(order);
    if (agrees || !isWanted(order) || isBought(order.key)) return [];
    return [backTo(given.customer, { order: order.key, elsewhere })];
  });
}

/** An order that was given over stands for whom it stood again. */
export function backTo(from: RecordKey, { order, elsewhere }: Pick<Handover, "order" | "elsewhere">): StateChange {
  return { type: "order-moved", order, from, customer: elsewhere };
}

/** What is planned of orders at the customer that they moved away from. */
export interface Departures {
  changes: StateChange[];
  blocks: BlockedRecord[];
  endings: Endings[];
  /** Asset numbers of them, which nobody is given any more. */
  numbers: string[];
}

/**
 * Plans what becomes of what stands here of orders that moved away in the CRM: it stays until the order stands for the
 * customer that it moved to, and then it is taken away.
 */
export function planDepartures(
  given: Pick<Prepared, "customer" | "away"> & { known: Pick<Known, "placedOrders"> },
  options: Pick<PlanOptions, "policies" | "looksAt">,
): Departures {
  const departures: Departures = { changes: [], blocks: [], endings: [], numbers: [] };
  for (const away of given.away ?? []) depart(departures, given, away, options);
  return departures;
}

function depart(
  departures: Departures,
  { customer, known }: Pick<Prepared, "customer"> & { known: Pick<Known, "placedOrders"> },
  { order, owner, standing, standsThere }: AwayOrder,
  { policies, looksAt }: Pick<PlanOptions, "policies" | "looksAt">,
): void {
  const key = formatKey(order.key);
  const tell = (block: Block): void => void departures.blocks.push([key, block]);
  if (standing !== undefined && "lost" in standing)
    return tell({ code: "order.form-lost", reason: `nobody knows what stands: ${standing.lost}`, again: true });
  const units = standing?.units.filter(({ products }) => products.length > 0) ?? [];
  if (standing === undefined || units.length === 0) {
    departures.changes.push({ type: "order-left", order: order.key, customer });
    return;
  }
  departures.numbers.push(...units.flatMap(({ number }) => number ?? []));
  // The customer keeps it in mind: nothing else tells it when the record can be used again.
  if (order.state === "quarantined") return tell(unreadable(key));
  const why = whyOf(order);
  const what = `the order ${key} ${wordsOf[why](formatKey(owner))}: ${unitsText(units)} would be taken away here`;
  const said = consider(policies, why, what);
  if (said === "nothing") return;
  if (said !== "act") return tell(said);
  // A record that cannot be bought from wants something, whatever it names.
  const [fault] = why === "orders.moved" ? order.tree.faults : [];
  if (fault !== undefined) return tell(notBuyable(key, fault.message));
  const placed = known.placedOrders.get(key);
  if (placed?.elsewhere === true) return tell(stoodElsewhere(key));
  // An overlap: what takes its place stood and may have gone since, as with an order that was cancelled and restored.
  const hasGap = policies.replacement === "gap";
  const isGivenOver = placed !== undefined && isSameKey(placed.customer, owner);
  // What is wanted nowhere waits for nobody: the other customer may have been looked at before this one had it.
  const isReady = why !== "orders.moved" || (isGivenOver && (hasGap || standsThere));
  if (!isReady) return tell(waits(key, formatKey(owner)));
  const isWhole = hasGap && why === "orders.moved";
  // What keeps the purchase there now is found by who looks.
  if (isWhole && !standsThere && looksAt?.(owner) === false) return tell(notLookedAt(key, formatKey(owner)));
  departures.endings.push({ ...endingsOf(standing, units, why, what), isWhole });
}

type Departing = Extract<PolicyName & EndingPolicy, "orders.moved" | "orders.cancelled" | "orders.gone">;

const wordsOf: Record<Departing, (owner: string) => string> = {
  "orders.moved": (owner) => `moved to ${owner} in the CRM`,
  "orders.cancelled": (owner) => `moved to ${owner} in the CRM and was cancelled`,
  "orders.gone": (owner) => `moved to ${owner} and is gone from the CRM`,
};

function whyOf({ state, body }: AwayOrder["order"]): Departing {
  if (state === "absent") return "orders.gone";
  return body.cancelled ? "orders.cancelled" : "orders.moved";
}

function waits(order: string, owner: string): Block {
  const reason =
    `the order ${order} moved to ${owner} in the CRM and does not stand there yet; what stands of it here stays ` +
    "until it does";
  return { code: "order.moving", reason, again: true };
}

function notLookedAt(order: string, owner: string): Block {
  const reason =
    `the order ${order} moved to ${owner} in the CRM and is bought there once nothing of it is left here; this run ` +
    `does not look at ${owner}, so what stands of it here stays until a run that does`;
  return { code: "order.moving", reason, again: true };
}

function stoodElsewhere(order: string): Block {
  const reason =
    `the order ${order} moved to another customer in the CRM; what was bought of it here stands in an enterprise ` +
    "that the customer was linked with before, and nothing of it is taken away in the one that it is linked with now";
  return { code: "order.elsewhere", reason, again: true };
}

function unreadable(order: string): Block {
  const reason =
    `the order ${order} moved to another customer in the CRM, and its record waits in quarantine; what stands of it ` +
    "here stays until the record can be used again";
  return { code: "order.moving", reason, again: true };
}

function notBuyable(order: string, fault: string): Block {
  const reason =
    `the order ${order} moved to another customer in the CRM, and nothing can be bought there as its record is now: ` +
    `${fault}; what stands of it here stays until the record is corrected in the CRM`;
  return { code: "order.moving", reason, again: true };
}

function unitsText(units: readonly StandingUnit[]): string {
  const products = units.reduce((sum, { products: all }) => sum + all.length, 0);
  return `${units.length} asset(s) and ${products} product(s)`;
}

function endingsOf(standing: OrderStanding, units: readonly StandingUnit[], why: EndingPolicy, what: string): Endings {
  const numbers = new Set(units.flatMap(({ number }) => number ?? []));
  const parts = units.map((unit) => ({ unit, whole: true, products: unit.products, packages: unit.packages }));
  return { order: standing, parts, units: numbers, why, what, needs: [], isGap: false, isWhole: false };
}
