import type { AwayOrder } from "./given.ts";
import { formatKey } from "../../crm/keys.ts";
import type { OrderStanding, StandingUnit } from "./order-standing.ts";
import type { PolicyName } from "../../engine/policy.ts";
import type { Known, StateChange } from "../../engine/state.ts";
import type { Block, BlockedRecord } from "../../engine/plan/block.ts";
import { countedParts } from "./amendment-texts.ts";
import type { PlanOptions } from "../../engine/plan/options.ts";
import type { EndingPolicy, Endings } from "./order-difference.ts";
import { orderableFields } from "./order-records.ts";
import { consider } from "../../engine/plan/policy.ts";
import type { Prepared } from "../../engine/plan/prepared.ts";

/** The code of an order that moved and waits until nothing of it is left at its old customer. */
export const orderMoving = "order.moving";

/** What is planned of orders at the customer that they moved away from. */
export interface Departures {
  changes: StateChange[];
  blocks: BlockedRecord[];
  endings: Endings[];
  /** Asset numbers of them, which nobody is given any more. */
  numbers: string[];
}

type Given = Pick<Prepared, "customer" | "away"> & { known: Pick<Known, "placedOrders"> };

/**
 * Plans what becomes of what exists here of orders that moved away in the CRM: it is removed, as anything else that
 * nobody wants. Its new customer buys it in full once nothing is left.
 */
export function planDepartures(given: Given, { policies }: Pick<PlanOptions, "policies">): Departures {
  const departures: Departures = { changes: [], blocks: [], endings: [], numbers: [] };
  for (const away of given.away ?? []) depart(departures, given, away, policies);
  return departures;
}

function depart(
  departures: Departures,
  { customer, known }: Given,
  away: AwayOrder,
  policies: PlanOptions["policies"],
): void {
  const { order, owner, standing } = away;
  const key = formatKey(order.key);
  const tell = (block: Block): void => void departures.blocks.push([key, block]);
  if (standing !== undefined && "lost" in standing)
    return tell({
      code: "order.form-lost",
      reason: `the present state of the order ${key} is not known: ${standing.lost}`,
      again: true,
    });
  const placed = known.placedOrders.get(key);
  const units = standing?.units.filter(({ products }) => products.length > 0) ?? [];
  if (standing === undefined || units.length === 0) {
    departures.changes.push({ type: "order-left", order: order.key, customer });
    return;
  }
  departures.numbers.push(...units.flatMap(({ number }) => number ?? []));
  // The customer keeps it in mind: nothing else tells it when the record can be used again.
  if (order.state === "quarantined") return tell(stays(key, "its record is in quarantine"));
  const why = whyOf(order);
  const what = `the order ${key} ${wordsOf[why](formatKey(owner))}; this removes ${unitsText(units)} here`;
  const said = consider(policies, why, what);
  if (said === "nothing") return;
  if (said !== "act") return tell(said);
  // A record that cannot be bought from wants something, whatever it names.
  const fault = why === "orders.moved" ? faultOf(away) : undefined;
  if (fault !== undefined) return tell(stays(key, `nothing can be bought for ${formatKey(owner)}: ${fault}`));
  if (placed?.elsewhere === true) return tell(stoodElsewhere(key));
  departures.endings.push(endingsOf(standing, units, why, what));
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

function endingsOf(standing: OrderStanding, units: readonly StandingUnit[], why: EndingPolicy, what: string): Endings {
  const numbers = new Set(units.flatMap(({ number }) => number ?? []));
  const parts = units.map((unit) => ({ unit, whole: true, products: unit.products, packages: unit.packages }));
  return { order: standing, parts, units: numbers, why, what, needs: [] };
}
