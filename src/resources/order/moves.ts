import type { AwayOrder, StandingUnit } from "./model.ts";
import { formatKey } from "../../crm/keys.ts";
import type { PolicyName } from "../../engine/model/policy.ts";
import type { Known } from "../../engine/model/state.ts";
import type { OrderPlan } from "./amendments.ts";
import type { Block, BlockedRecord } from "../../engine/plan/records.ts";
import type { PlanOptions, Prepared } from "../../engine/plan/input.ts";
import { orderableFields } from "./records.ts";
import { consider } from "../../engine/plan/rejections.ts";
import { countedParts } from "./purchase-parts.ts";
import { endingsOf } from "./removal-parts.ts";
import type { EndingPolicy } from "./removal-parts.ts";

/** What is planned of orders at the customer that they moved away from. */
export interface Departures extends Pick<OrderPlan, "changes" | "endings"> {
  blocks: BlockedRecord[];
  /** Asset numbers of them, which nobody is given any more. */
  numbers: string[];
}

type Given = Pick<Prepared, "customer" | "away"> & { known: Pick<Known, "placedOrders"> };

/**
 * Plans what becomes of what exists here of orders that moved away in the CRM: it is removed, as anything else that
 * nobody wants. Its new customer buys it in full once nothing is left.
 */
export function planDepartures(given: Given, { policies }: Pick<PlanOptions, "policies">): Departures {
  const planned = (given.away ?? []).map((away) => planDeparture(given, away, policies));
  return {
    changes: planned.flatMap(({ changes = [] }) => changes),
    blocks: planned.flatMap(({ blocks = [] }) => blocks),
    endings: planned.flatMap(({ endings = [] }) => endings),
    numbers: planned.flatMap(({ numbers = [] }) => numbers),
  };
}

function planDeparture(
  { customer, known }: Given,
  away: AwayOrder,
  policies: PlanOptions["policies"],
): Partial<Departures> {
  const { order, owner, standing } = away;
  const key = formatKey(order.key);
  if (standing !== undefined && "lost" in standing) {
    const reason = `the present state of the order ${key} is not known: ${standing.lost}`;
    return { blocks: [[key, { code: "order.form-lost", reason, again: true }]] };
  }
  const units = standing?.units.filter(({ products }) => products.length > 0) ?? [];
  if (standing === undefined || units.length === 0)
    return { changes: [{ type: "order-left", order: order.key, customer }] };
  const numbers = units.flatMap(({ number }) => number ?? []);
  const stopped = (block: Block): Partial<Departures> => ({ numbers, blocks: [[key, block]] });
  // The customer keeps it in mind: nothing else tells it when the record can be used again.
  if (order.state === "quarantined") return stopped(stays(key, "its record is in quarantine"));
  const why = whyOf(order);
  const what = `the order ${key} ${wordsOf[why](formatKey(owner))}; this removes ${unitsText(units)} here`;
  const considered = consider(policies, why, what);
  if (considered === "nothing") return { numbers };
  if (considered !== "act") return stopped(considered);
  // A record that cannot be bought from wants something, whatever it names.
  const fault = why === "orders.moved" ? faultOf(away) : undefined;
  if (fault !== undefined) return stopped(stays(key, `nothing can be bought for ${formatKey(owner)}: ${fault}`));
  if (known.placedOrders.get(key)?.elsewhere === true) return stopped(stoodElsewhere(key));
  const parts = units.map((unit) => ({ unit, whole: true, products: unit.products, packages: unit.packages }));
  return { numbers, endings: [endingsOf(standing, parts, { why, what, needs: [] })] };
}

/** Why an order cannot be bought for its new customer, as the CRM has both now. */
function faultOf({ order, buyer, taken, unclear }: AwayOrder): string | undefined {
  const [fault] = order.tree.faults;
  if (fault !== undefined || unclear !== undefined) return fault?.message ?? unclear;
  const [number] = taken;
  if (number !== undefined)
    return `the CRM gives the order the asset number ${number}, which belongs to another asset or cannot be used again`;
  if (buyer?.state !== "current") return "the CRM has no usable record of that customer";
  const lacking = orderableFields.filter((field) => buyer.body[field] === undefined);
  return lacking.length === 0 ? undefined : `the CRM gives no ${lacking.join(", ")} of that customer`;
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
  return { code: "order.move-stopped", reason, again: true };
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
