import { formatKey } from "../../crm/keys.ts";
import type { Block } from "../../engine/plan/blocks.ts";
import { planInputOf, type PlanInput } from "../../engine/plan/input.ts";
import { restsOfOrder } from "./assumptions.ts";
import { blockedBy, type AwayOrder, type StandingUnit, type OrderPlan } from "./model.ts";
import type { OrderOptions, purchaseOf } from "./plan.ts";
import { type EndingPolicy, endingsOf } from "./removal-parts.ts";
import { policyOf, type PolicyName } from "../../engine/model/policy-settings.ts";
import { moveStopped } from "../../engine/plan/owner.ts";
import { consider, contradictedBlock } from "../../engine/plan/rejections.ts";
import { countedParts } from "./purchase-parts.ts";

interface Departure {
  key: string;
  plan: Partial<OrderPlan>;
  numbers: string[];
}

/** Removes the parts of an order that moved in the CRM. The new customer buys it after nothing is left here. */
export function planDeparture(
  given: PlanInput,
  away: AwayOrder,
  options: OrderOptions,
  purchase: typeof purchaseOf,
): Departure {
  const { customer, known } = given;
  const { order, owner, standing } = away;
  const key = formatKey(order.key);
  if (standing !== undefined && "lost" in standing) {
    const reason = `the present state of the order ${key} is not known: ${standing.lost}`;
    return { key, plan: blockedBy({ code: "order.form-lost", reason, again: true }), numbers: [] };
  }
  const units = standing?.units.filter(({ products }) => products.length > 0) ?? [];
  if (standing === undefined || units.length === 0)
    return { key, plan: { changes: [{ type: "order-left", order: order.key, customer }] }, numbers: [] };
  const numbers = units.flatMap(({ number }) => number ?? []);
  const planned = (plan: Partial<OrderPlan>): Departure => ({ key, plan, numbers });
  // The block makes the next runs look again: nothing else reports when the record becomes usable.
  if (order.state === "quarantined") return planned(blockedBy(stays(key, "its record is in quarantine")));
  const why = whyOf(order);
  const what = `the order ${key} ${wordsOf[why](formatKey(owner))}; this removes ${unitsText(units)} here`;
  const considered = consider(options.policies, why, what);
  if (considered === "nothing") return planned({});
  if (considered !== "act") return planned(blockedBy(considered));
  // Even an order that cannot be bought is still wanted, so its parts stay.
  const fault = why === "orders.moved" ? faultOf(given, away, options, purchase) : undefined;
  if (fault !== undefined)
    return planned(blockedBy(stays(key, `nothing can be bought for ${formatKey(owner)}: ${fault}`)));
  if (known.placedOrders.get(key)?.elsewhere === true) return planned(blockedBy(stoodElsewhere(key)));
  const parts = units.map((unit) => ({ unit, whole: true, products: unit.products, packages: unit.packages }));
  return planned({ endings: [endingsOf(standing, parts, { why, what, needs: [] })] });
}

/** What is known before the removal. The readings that a renewal needs come with the purchase. */
function faultOf(
  given: PlanInput,
  { order, owner, buyer, theirs, noEnterprise, taken, unclear }: AwayOrder,
  { settings, policies, contradicted = new Map() }: OrderOptions,
  purchase: typeof purchaseOf,
): string | undefined {
  if (unclear !== undefined) return unclear;
  const [number] = taken;
  if (number !== undefined)
    return `the CRM gives the order the asset number ${number}, which belongs to another asset or cannot be used again`;
  if (buyer?.state !== "current") return "the CRM has no usable record of that customer";
  if (noEnterprise !== undefined) return `that customer has no enterprise (${noEnterprise})`;
  if (consider(policies, "orders.added", "") !== "act")
    return `the setting policies.orders.added is ${policyOf(policies, "orders.added")}`;
  const observed = { ...given.observed, unread: undefined };
  const input = planInputOf({ ...given, ...theirs, customer: owner, desiredCustomer: buyer, observed }, settings);
  const assets = order.tree.assets.map((asset) => ({ ...asset, continues: undefined }));
  const { made } = purchase(input, order, assets, settings);
  if ("code" in made) return made.reason;
  return contradictedBlock([{ row: "A16" }, ...restsOfOrder(made.payload)], contradicted)?.reason;
}

type Departing = Extract<PolicyName & EndingPolicy, "orders.moved" | "orders.cancelled" | "orders.deleted">;

const wordsOf: Record<Departing, (owner: string) => string> = {
  "orders.moved": (owner) => `moved to ${owner} in the CRM: it is ordered for that customer once it is removed here`,
  "orders.cancelled": (owner) => `moved to ${owner} in the CRM and was cancelled`,
  "orders.deleted": (owner) => `moved to ${owner} and is gone from the CRM`,
};

function whyOf({ state, body }: AwayOrder["order"]): Departing {
  if (state === "absent") return "orders.deleted";
  return body.cancelled ? "orders.cancelled" : "orders.moved";
}

function stays(order: string, why: string): Block {
  const reason = `the order ${order} moved to another customer in the CRM, but its licences stay here for now: ${why}`;
  return { code: moveStopped, reason, again: true };
}

function stoodElsewhere(order: string): Block {
  const reason =
    `the order ${order} moved to another customer in the CRM. Its licences are in an enterprise that this customer ` +
    "was linked with earlier, and crm-sync removes nothing there";
  return { code: "order.elsewhere", reason, again: true };
}

function unitsText(units: readonly StandingUnit[]): string {
  const products = units.reduce((sum, { products: all }) => sum + all.length, 0);
  return countedParts(units.length, products);
}
