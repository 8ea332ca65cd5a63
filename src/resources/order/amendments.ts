import { blockedBy, joinedPlans, isWanted, type OrderPlan, type OrderStanding } from "./model.ts";
import type { LoadedCustomer, PlanOptions } from "../../engine/plan/input.ts";
import { counted } from "../../report/text.ts";
import { formatKey } from "../../crm/keys.ts";
import type { OrderWithTree } from "../../engine/model/desired.ts";
import type { DraftOperation } from "../../engine/model/operation.ts";
import type { Need } from "../../engine/model/resource.ts";
import type { PolicyName } from "../../engine/model/policy-settings.ts";
import { amendmentReference } from "../../engine/model/references.ts";
import { type Known, type StateChange, passwordsWiped } from "../../engine/model/state.ts";
import { type PlacedOrder, agreed } from "./state/changes.ts";
import { differenceOf, isEmpty, wantedOf, type EndedPart, type OrderDifference } from "./difference.ts";
import { heldNumbers, namedNumbers } from "./units-that-stay.ts";
import { waitsForNeeds } from "../../engine/plan/blocks.ts";
import { consider } from "../../engine/plan/rejections.ts";
import {
  boughtText,
  countedParts,
  newAssets,
  purchasedAssets,
  purchasesOf,
  soldApart,
  type Purchase,
  type PurchaseMaker,
} from "./purchase-parts.ts";
import { endingsOf, removedWithoutCall, wholeUnit, type EndingPolicy } from "./removal-parts.ts";

interface Placed {
  order: OrderWithTree;
  placed: PlacedOrder;
  standing: OrderStanding;
}

interface AmendmentGiven {
  known: Pick<Known, "assignments" | "numbers">;
  staff: LoadedCustomer["staff"];
  sealed?: ReadonlySet<string> | undefined;
  /** Unfinished purchases that will take over an instance of this order. */
  takersOf?: (instanceId: string) => readonly string[];
}

interface Amending extends Placed, Pick<PlanOptions, "policies"> {
  given: AmendmentGiven;
  difference: OrderDifference;
  make: PurchaseMaker;
}

/**
 * Plans the changes that make a placed order agree with the CRM. Purchases (E5) get a new channel order number, and
 * replacements are bought before the old form is removed. Without differences the form counts as agreed.
 */
export function planAmendment(
  given: AmendmentGiven,
  of: Placed,
  { policies }: Pick<PlanOptions, "policies">,
  make: PurchaseMaker,
): Partial<OrderPlan> {
  const { order, standing } = of;
  const [fault] = isWanted(order) ? order.tree.faults : [];
  if (fault !== undefined) return blockedBy({ code: `order.${fault.code}`, reason: fault.message, again: false });
  const difference = differenceOf(standing, wantedOf(order), {
    held: heldNumbers(given.known),
    named: namedNumbers(given.staff),
  });
  const isSealed = given.sealed?.has(formatKey(order.key)) === true;
  const wiped = isSealed && !lacksSomething(difference) ? [passwordsWiped(order.key)] : [];
  if (isEmpty(difference)) return { changes: [agreed(order), ...wiped] };
  const amending = { ...of, given, policies, difference, make };
  const { plan, needs } = buyWhatIsLacking(amending);
  const named = difference.wording.length > 0 && consider(policies, "orders.wording", wordingOf(difference));
  return joinedPlans([
    plan,
    endUnwanted(amending, needs),
    endSuperseded(amending, "orders.replaced"),
    endSuperseded(amending, "orders.assetChanged"),
    keepPrices(amending),
    { changes: wiped },
    typeof named === "object" ? blockedBy(named) : {},
  ]);
}

function underPolicy(
  { policies }: Amending,
  policy: PolicyName,
  what: string,
  plan: () => Partial<OrderPlan>,
): Partial<OrderPlan> {
  const considered = consider(policies, policy, what);
  if (considered === "act") return plan();
  return considered === "nothing" ? {} : blockedBy(considered);
}

function lacksSomething({ added, replaced, assetChanged }: OrderDifference): boolean {
  return added.length > 0 || replaced.length > 0 || assetChanged.length > 0;
}

/** `needs`: the purchases that removals wait for, even if those cannot be made now. */
interface Buying {
  plan: Partial<OrderPlan>;
  needs: Need[];
}

/** Each purchase is planned on the existing state, so further purchases follow after it. */
function buyWhatIsLacking(of: Amending): Buying {
  const { order, policies, make } = of;
  const { added, replaced: all } = of.difference;
  const considered = all.length === 0 ? "nothing" : consider(policies, "orders.replaced", replacedText(of));
  const reported = typeof considered === "string" ? {} : blockedBy(considered);
  const replaced = considered === "act" ? all : [];
  const purchases = purchasesOf(added, replaced);
  if (purchases.length === 0) {
    const { plan, needs } = replaceAssets(of);
    return { plan: joinedPlans([reported, plan]), needs };
  }
  const { now, rest, renewing } = soldApart(purchases, (some) => make(order, purchasedAssets(some)));
  const later = thenGone(replaced, "delete_product", `the old form of ${counted(replaced.length, "product")}`);
  const plan = joinedPlans([
    reported,
    { renewing },
    buy(of, now, { make, later }),
    rest === undefined ? {} : blockedBy(rest),
  ]);
  // No operation of this plan buys the rest, so this need stays open.
  const rests = rest === undefined ? [] : [`the rest of ${subjectOf(order)}`];
  return { plan, needs: ordersNeeded([subjectOf(order), ...rests]) };
}

function ordersNeeded(subjects: readonly string[]): Need[] {
  return subjects.map((subject) => ({ stage: "orders", subject }));
}

function thenGone(bought: readonly unknown[], orderType: string, old: string): string {
  return bought.length === 0 ? "" : `; then: E5 ${orderType} of ${old}, once M7 shows what was bought`;
}

function subjectOf({ key }: OrderWithTree): string {
  return `order:${formatKey(key)}`;
}

function replacedText({ order, difference: { replaced } }: Amending): string {
  const fields = [...new Set(replaced.flatMap((part) => part.fields))].join(", ");
  return `${counted(replaced.length, "product")} of the order ${formatKey(order.key)} with other terms: ${fields}`;
}

/** No call can change an asset, so units with other terms are bought again. */
function replaceAssets(of: Amending): Buying {
  const { assetChanged } = of.difference;
  if (assetChanged.length === 0) return { plan: {}, needs: [] };
  const fields = [...new Set(assetChanged.flatMap((part) => part.fields))].join(", ");
  const assets = counted(assetChanged.length, "asset");
  const considered = consider(of.policies, "orders.assetChanged", `other values for ${assets}: ${fields}`);
  if (considered !== "act") return { plan: considered === "nothing" ? {} : blockedBy(considered), needs: [] };
  const needs = ordersNeeded([subjectOf(of.order)]);
  const kept = assetChanged.find(({ asset, unit }) => asset.assetNumbers.some((number) => number === unit.number));
  if (kept !== undefined) {
    const reason =
      `the CRM gives the asset ${kept.asset.id} another ${fields} with the same asset number ${kept.unit.number}. ` +
      "No call can change an asset: the changed asset needs another number";
    return { plan: blockedBy({ code: "order.asset-changed", reason, again: false }), needs };
  }
  const purchases = assetChanged.map(({ asset, newUnit }) => ({
    part: { asset, unit: newUnit, given: undefined },
    standing: undefined,
    products: asset.products,
    packages: asset.packages,
  }));
  const later = thenGone(purchases, "delete_asset", `the ${assets} that they replace`);
  return { plan: buy(of, purchases, { make: of.make, policy: "orders.assetChanged", later }), needs };
}

/** `needs`: purchases may replace removed parts, such as a line with a new id or an exchanged number. */
function endUnwanted(of: Amending, needs: Need[]): Partial<OrderPlan> {
  const { order, standing, difference } = of;
  const { emptied, ended } = difference;
  if (ended.length === 0 && emptied.length === 0) return {};
  const parts = partsText([...ended, ...emptied.map(({ products }) => ({ whole: true, products }))]);
  const key = formatKey(order.key);
  const [why, what]: [EndingPolicy, string] =
    order.state === "absent"
      ? ["orders.deleted", `the order ${key} is gone from the CRM: this removes ${parts}`]
      : order.body.cancelled
        ? ["orders.cancelled", `the order ${key} was cancelled: this removes ${parts}`]
        : ["orders.ended", `the order ${key} has ${parts} less`];
  const endings = ended.length > 0 ? [endingsOf(standing, ended, { why, what, needs })] : [];
  return underPolicy(of, why, what, () => ({ endings, ...endEmptied(of) }));
}

/** Sends nothing for an empty unit. It stays while another purchase will continue its number. */
function endEmptied({ standing, difference, given }: Amending): Pick<OrderPlan, "changes" | "blocks"> {
  const { takersOf = () => [], known } = given;
  const subjects = difference.emptied.map(({ instanceId }) => takersOf(instanceId));
  const waiting = subjects.flat();
  const items = difference.emptied.filter((_, index) => subjects[index]?.length === 0).map(wholeUnit);
  return {
    changes:
      items.length === 0 ? [] : removedWithoutCall(standing, { items, products: 0, origin: "found" }, known.numbers),
    blocks: waiting.length === 0 ? [] : [waitsForNeeds({ needs: ordersNeeded(waiting) })],
  };
}

function endSuperseded(of: Amending, why: "orders.replaced" | "orders.assetChanged"): Partial<OrderPlan> {
  const { order, standing, difference } = of;
  const parts = difference.superseded.filter(({ whole }) => whole === (why === "orders.assetChanged"));
  if (parts.length === 0) return {};
  const what = `this removes the old form of ${partsText(parts)} of the order ${formatKey(order.key)}`;
  return underPolicy(of, why, what, () => ({ endings: [endingsOf(standing, parts, { why, what, needs: [] })] }));
}

/**
 * Records amounts; no service gets them. The CRM's new amounts leave out parts that end, so old amounts stay valid
 * while those exist. The order's own amount waits until nothing is left to buy or remove.
 */
function keepPrices(of: Amending): Partial<OrderPlan> {
  const { order, standing, difference } = of;
  const isWhole = isEmpty({ ...difference, price: [], wording: [] });
  const ending = new Set(difference.ended.flatMap(({ products }) => products.map(({ product }) => product.id)));
  const price = difference.price.filter(({ product }) => (product === null ? isWhole : !ending.has(product)));
  if (price.length === 0) return {};
  return underPolicy(of, "orders.price", `${counted(price.length, "amount")} changed`, () => {
    const items = price.map((item) => ({ product: item.product, from: item.from ?? null, to: item.to ?? null }));
    const { key, version } = order;
    const priced: StateChange = { type: "order-priced", order: key, customer: standing.customer, version, items };
    return { changes: isWhole && difference.wording.length === 0 ? [priced, agreed(order)] : [priced] };
  });
}

function partsText(parts: readonly Pick<EndedPart, "whole" | "products">[]): string {
  const products = parts.reduce((sum, part) => sum + part.products.length, 0);
  return countedParts(parts.filter((part) => part.whole).length, products);
}

function wordingOf({ wording }: OrderDifference): string {
  const named = wording
    .slice(0, 3)
    .map(({ instanceId, field, from, to }) => `${field} of ${instanceId}: "${from}" is "${to}" now`);
  const more = wording.length > named.length ? `, and ${wording.length - named.length} more` : "";
  return `only words changed (${named.join("; ")}${more}), and no call changes them`;
}

interface Purchasing {
  make: PurchaseMaker;
  policy?: PolicyName;
  later?: string;
}

export function buy(
  { order, placed, standing }: Placed,
  purchases: readonly Purchase[],
  { make, policy, later = "" }: Purchasing,
): Partial<OrderPlan> {
  const unknown = purchases.find((item) => item.standing !== undefined && item.standing.number === undefined);
  if (unknown !== undefined) {
    const reason =
      `the asset number of unit ${unknown.part.unit + 1} of the asset ${unknown.part.asset.id} is not known, so ` +
      "crm-sync can buy nothing for this unit";
    return blockedBy({ code: "order.number-unknown", reason, again: true });
  }
  const { made, renewing } = make(order, purchasedAssets(purchases));
  if ("code" in made) return { blocks: [made], renewing: [renewing] };
  const amendment: DraftOperation<"amend-order"> = {
    kind: "amend-order",
    customer: standing.customer,
    subject: subjectOf(order),
    records: [{ stream: "orders", ...order.key }],
    target: {},
    payload: { ...made.payload, channelOrderId: amendmentReference(order.key) },
    reason: `the order has ${boughtText(purchases)} more in the CRM than on the platform${later}`,
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
    },
    policy,
  };
  return { meant: [amendment], renewing: [renewing] };
}
