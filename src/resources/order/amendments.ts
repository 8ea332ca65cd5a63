import { counted } from "../../report/text.ts";
import { formatKey } from "../../crm/keys.ts";
import type { OrderWithTree } from "../../engine/desired.ts";
import type { DraftOperation } from "../../engine/operation.ts";
import type { GoneItem } from "./order-payload.ts";
import type { OrderStanding, StandingUnit } from "./order-standing.ts";
import type { Need } from "../../engine/shape.ts";
import type { PolicyName } from "../../engine/policy.ts";
import { amendmentReference } from "../../engine/references.ts";
import type { Known, StateChange } from "../../engine/state.ts";
import type { PlacedOrder } from "./state/placed-orders.ts";
import type { Block } from "../../engine/plan/block.ts";
import type { PlanOptions } from "../../engine/plan/options.ts";
import { differenceOf, isEmpty } from "./order-difference.ts";
import { unitsEnded } from "./emptied-units.ts";
import { partsText, wordingOf } from "./amendment-texts.ts";
import { soldApart } from "./sold-apart.ts";
import type { EndedPart, EndingPolicy, Endings, OrderDifference, ReplacedPart } from "./order-difference.ts";
import { waitsForNeeds } from "../../engine/plan/needs-of-operations.ts";
import { consider } from "../../engine/plan/policy.ts";
import { boughtText, newAssets, purchasedAssets, purchasesOf } from "./purchase-parts.ts";
import type { Purchase, PurchaseMaker } from "./purchase-parts.ts";
import { wantedForm } from "./state/order-steps.ts";
import { passwordsWiped } from "../../engine/state/secrets.ts";

/** What is to be done so that a placed order stands as the CRM says. */
export interface Amendment {
  meant: DraftOperation<"amend-order">[];
  changes: StateChange[];
  blocks: Block[];
  endings: Endings[];
}

/** A placed order with what stands of it and what the CRM says of it now. */
export interface Placed {
  order: OrderWithTree;
  placed: PlacedOrder;
  standing: OrderStanding;
}

/**
 * Plans the changes that make a placed order agree with the CRM. New products are bought (E5) under a channel order
 * number of their own, replaced ones beside their old form, and ended ones go to the removals. An amount is recorded
 * without a call. If nothing differs any more, the form counts as agreed.
 */
export function planAmendment(
  given: {
    known: Pick<Known, "assignments" | "numbers">;
    sealed?: ReadonlySet<string> | undefined;
    /** Subjects of the purchases that are to take over an instance of the order and do not stand yet. */
    takersOf?: (instanceId: string) => readonly string[];
  },
  of: Placed,
  options: Pick<PlanOptions, "policies">,
  purchase: PurchaseMaker,
): Amendment {
  const { order, standing } = of;
  const { policies } = options;
  const amendment: Amendment = { meant: [], changes: [], blocks: [], endings: [] };
  const isWanted = order.state === "current" && !order.body.cancelled;
  const [fault] = isWanted ? order.tree.faults : [];
  if (fault !== undefined) {
    amendment.blocks.push({ code: `order.${fault.code}`, reason: fault.message, again: false });
    return amendment;
  }
  const held = new Set(given.known.assignments.map((item) => item.assetNumber));
  const wanted = isWanted ? { assets: order.tree.assets, amount: order.body.amount } : nothingWanted;
  const difference = differenceOf(standing, wanted, { held });
  const isSealed = given.sealed?.has(formatKey(order.key)) === true;
  const wiped = isSealed && !lacksSomething(difference) ? [passwordsWiped(order.key)] : [];
  if (isEmpty(difference)) {
    amendment.changes.push(agreed(order), ...wiped);
    return amendment;
  }
  const acts = (policy: PolicyName, what: string): boolean => {
    const considered = consider(policies, policy, what);
    if (typeof considered !== "string") amendment.blocks.push(considered);
    return considered === "act";
  };
  const isBuying = buyWhatIsLacking(amendment, of, difference, acts, purchase);
  endWhatGoes(amendment, of, difference, { isBuying, numbers: given.known.numbers, takersOf: given.takersOf }, acts);
  keepPrices(amendment, of, difference, acts);
  amendment.changes.push(...wiped);
  if (difference.wording.length > 0) acts("orders.wording", wordingOf(difference));
  return amendment;
}

const nothingWanted = { assets: [], amount: undefined };

/** What stands is what this form says. */
function agreed({ key, version, state, bodyHash }: OrderWithTree): StateChange {
  return { type: "order-agreed", order: key, version, bodyHash: wantedForm({ state, bodyHash }) };
}

/** Whether anything is wanted that does not stand, so that its licence passwords may be needed. */
function lacksSomething({ added, replaced, assetChanged }: OrderDifference): boolean {
  return added.length > 0 || replaced.length > 0 || assetChanged.length > 0;
}

type Acts = (policy: PolicyName, what: string) => boolean;

/**
 * Plans what is bought first; each purchase is planned on what stands, so what else there is comes once that is done.
 * Answers whether something has to be bought, whether it can be or not: what ends waits for all of that.
 */
function buyWhatIsLacking(
  amendment: Amendment,
  of: Placed,
  difference: OrderDifference,
  acts: Acts,
  make: PurchaseMaker,
): boolean | "in part" {
  const replaced = replacedNow(of, difference, acts);
  const purchases = purchasesOf(difference.added, replaced);
  if (purchases.length > 0) {
    const old = `the old form of ${counted(replaced.length, "product")}`;
    const { now, rest } = soldApart(purchases, (some) => make(of.order, purchasedAssets(some)));
    buy(amendment, of, now, { make, later: thenGone(replaced, "delete_product", old) });
    if (rest === undefined) return true;
    amendment.blocks.push(rest);
    return "in part";
  }
  const changed = assetsChanged(amendment, difference, acts);
  if (changed === "blocked") return true;
  if (changed.length > 0) {
    const later = thenGone(changed, "delete_asset", `the ${counted(changed.length, "asset")} that they replace`);
    buy(amendment, of, changed, { make, policy: "orders.assetChanged", later });
  }
  return changed.length > 0;
}

/** What a purchase is the first step of: the second one is planned once the platform shows that it was done. */
function thenGone(bought: readonly unknown[], orderType: string, old: string): string {
  return bought.length === 0 ? "" : `; then: E5 ${orderType} of ${old}, once M7 shows what was bought`;
}

function subjectOf({ key }: OrderWithTree): string {
  return `order:${formatKey(key)}`;
}

/** What no operation of this plan buys. */
function restOf(order: OrderWithTree): string {
  return `the rest of ${subjectOf(order)}`;
}

function endWhatGoes(
  amendment: Amendment,
  of: Placed,
  { ended, superseded, emptied }: OrderDifference,
  {
    isBuying,
    numbers,
    takersOf = () => [],
  }: {
    isBuying: boolean | "in part";
    numbers: Known["numbers"];
    takersOf: ((instanceId: string) => readonly string[]) | undefined;
  },
  acts: Acts,
): void {
  const { order } = of;
  // What is bought may take the place of what ends: a line that got another id, a number that was exchanged.
  const subjects = isBuying === false ? [] : [subjectOf(order), ...(isBuying === true ? [] : [restOf(order)])];
  const needs = subjects.map((subject): Need => ({ stage: "orders", subject }));
  const found = ended.filter((part) => part.products.every((item) => item.found === true));
  const others = ended.filter((part) => !found.includes(part));
  if (found.length > 0) {
    const what = `${partsText(found)} of the order ${formatKey(order.key)} had ended and M7 shows them again`;
    if (acts("drift.extra", what)) amendment.endings.push(endingsOf(of, found, "drift.extra", what, needs));
  }
  if (others.length > 0 || emptied.length > 0) {
    const why: EndingPolicy =
      order.state === "absent" ? "orders.deleted" : order.body.cancelled ? "orders.cancelled" : "orders.ended";
    const words = { "orders.deleted": "is gone from the CRM", "orders.cancelled": "was cancelled", "orders.ended": "" }[
      why
    ];
    const parts = partsText([...others, ...emptied.map((unit) => ({ whole: true, products: unit.products }))]);
    const what =
      words === ""
        ? `the order ${formatKey(order.key)} has ${parts} less`
        : `the order ${formatKey(order.key)} ${words}: this removes ${parts}`;
    const goes = acts(why, what);
    if (goes && others.length > 0) amendment.endings.push(endingsOf(of, others, why, what, needs));
    if (goes) endEmptied(amendment, of, emptied, { numbers, takersOf });
  }
  for (const why of ["orders.replaced", "orders.assetChanged"] as const) {
    const parts = superseded.filter(({ whole }) => whole === (why === "orders.assetChanged"));
    if (parts.length === 0) continue;
    const what = `this removes the old form of ${partsText(parts)} of the order ${formatKey(order.key)}`;
    if (acts(why, what)) amendment.endings.push(endingsOf(of, parts, why, what, []));
  }
}

/** Nothing is sent for a unit of which nothing is left; it stays while something else is to go on under its number. */
function endEmptied(
  { changes, blocks }: Amendment,
  { standing }: Placed,
  emptied: readonly StandingUnit[],
  { numbers, takersOf }: { numbers: Known["numbers"]; takersOf: (instanceId: string) => readonly string[] },
): void {
  const waiting = emptied.filter(({ instanceId }) => takersOf(instanceId).length > 0);
  const ends = emptied.filter((unit) => !waiting.includes(unit));
  changes.push(...unitsEnded(standing, ends, numbers));
  if (waiting.length === 0) return;
  const subjects = waiting.flatMap(({ instanceId }) => takersOf(instanceId));
  blocks.push(waitsForNeeds({ needs: subjects.map((subject): Need => ({ stage: "orders", subject })) }));
}

function endingsOf(
  { standing }: Placed,
  parts: readonly EndedPart[],
  why: EndingPolicy,
  what: string,
  needs: Need[],
): Endings {
  const numbers = parts.flatMap(({ unit, whole }) => (whole && unit.number !== undefined ? [unit.number] : []));
  return { order: standing, parts, units: new Set(numbers), why, what, needs };
}

function replacedText(of: Placed, replaced: readonly ReplacedPart[]): string {
  const fields = [...new Set(replaced.flatMap((part) => part.fields))].join(", ");
  return `${counted(replaced.length, "product")} of the order ${formatKey(of.order.key)} with other terms: ${fields}`;
}

function replacedNow(of: Placed, { replaced }: OrderDifference, acts: Acts): readonly ReplacedPart[] {
  return replaced.length > 0 && acts("orders.replaced", replacedText(of, replaced)) ? replaced : [];
}

/** Units that take the place of those whose asset is wanted otherwise: no call changes an asset. */
function assetsChanged(amendment: Amendment, { assetChanged }: OrderDifference, acts: Acts): Purchase[] | "blocked" {
  const [first] = assetChanged;
  if (first === undefined) return [];
  const fields = [...new Set(assetChanged.flatMap((part) => part.fields))].join(", ");
  if (!acts("orders.assetChanged", `other values for ${counted(assetChanged.length, "asset")}: ${fields}`)) return [];
  const kept = assetChanged.find(({ asset, unit }) => asset.assetNumbers.some((number) => number === unit.number));
  if (kept !== undefined) {
    const reason =
      `the CRM gives the asset ${kept.asset.id} another ${fields} with the same asset number ${kept.unit.number}. ` +
      "No call can change an asset: the changed asset needs another number";
    amendment.blocks.push({ code: "order.asset-changed", reason, again: false });
    return "blocked";
  }
  return assetChanged.map(({ asset, newUnit }) => ({
    part: { asset, unit: newUnit, given: undefined },
    standing: undefined,
    products: asset.products,
    packages: asset.packages,
  }));
}

/** How something is bought. `gone`: what it takes the place of; `reason`: why, unless the order has more. */
interface Purchasing {
  make: PurchaseMaker;
  policy?: PolicyName;
  gone?: GoneItem[];
  reason?: string;
  /** What goes after it. */
  later?: string;
}

/** Plans the E5 of what is bought for an order that is placed, or says why it cannot be made. */
export function buy(
  amendment: Amendment,
  { order, placed, standing }: Placed,
  purchases: readonly Purchase[],
  { make, policy, later = "", gone, reason }: Purchasing,
): void {
  const unknown = purchases.find((item) => item.standing !== undefined && item.standing.number === undefined);
  if (unknown !== undefined) {
    const reason =
      `the asset number of unit ${unknown.part.unit + 1} of the asset ${unknown.part.asset.id} is not known, so ` +
      "crm-sync can buy nothing for this unit";
    amendment.blocks.push({ code: "order.number-unknown", reason, again: true });
    return;
  }
  const made = make(order, purchasedAssets(purchases));
  if ("code" in made) {
    amendment.blocks.push(made);
    return;
  }
  amendment.meant.push({
    kind: "amend-order",
    customer: standing.customer,
    subject: subjectOf(order),
    records: [{ stream: "orders", ...order.key }],
    target: {},
    payload: { ...made.payload, channelOrderId: amendmentReference(order.key) },
    reason: reason ?? `the order has ${boughtText(purchases)} more in the CRM than on the platform${later}`,
    before: null,
    after: {
      lastStep: standing.lastStep,
      agreed: placed.agreedHash ?? null,
      version: order.version,
      bodyHash: order.bodyHash,
      assets: newAssets(purchases, made.renewed),
      items: purchases.map(({ part, standing: stood, products, packages }) => ({
        instanceId: part.asset.id,
        unit: part.unit,
        stood: stood !== undefined,
        products: products.map(({ id }) => id),
        packages: packages.map(({ id }) => id),
      })),
      ...(gone === undefined ? {} : { gone }),
    },
    policy,
  });
}

/**
 * Records amounts, which go to no service. The CRM's new amounts leave out what is to end: while that is still on the
 * platform, the old amounts of these products are the true ones. That of the whole order is, while anything of it is to
 * be bought or to end.
 */
function keepPrices(amendment: Amendment, { order, standing }: Placed, difference: OrderDifference, acts: Acts): void {
  const { price: all, wording: _, ...others } = difference;
  const isWhole = Object.values(others).every((parts: readonly unknown[]) => parts.length === 0);
  const ending = new Set(others.ended.flatMap(({ products }) => products.map(({ product }) => product.id)));
  const price = all.filter(({ product }) => (product === null ? isWhole : !ending.has(product)));
  if (price.length === 0 || !acts("orders.price", `${counted(price.length, "amount")} changed`)) return;
  const items = price.map((item) => ({ product: item.product, from: item.from ?? null, to: item.to ?? null }));
  const { version } = order;
  amendment.changes.push({ type: "order-priced", order: order.key, customer: standing.customer, version, items });
  if (isWhole && difference.wording.length === 0) amendment.changes.push(agreed(order));
}
