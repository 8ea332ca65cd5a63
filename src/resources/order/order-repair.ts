import { formatKey } from "../../crm/keys.ts";
import { policyOf, unproven } from "../../engine/policy.ts";
import { isShared } from "./state/asset-numbers.ts";
import type { Known } from "../../engine/state.ts";
import { buy } from "./amendments.ts";
import type { Amendment, Placed } from "./amendments.ts";
import type { Purchase, PurchaseMaker } from "./purchase-parts.ts";
import type { PlanOptions } from "../../engine/plan/options.ts";
import { differenceOf, isEmpty } from "./order-difference.ts";
import { lostOf, lostText, shownAgain, standingWithout } from "./order-drift.ts";
import type { RepairsGiven } from "./order-drift.ts";

/**
 * Plans what makes an order whole again of which the platform lost something or shows something again, where it stands
 * as the CRM says: what is lost is bought under a number of its own, and what had ended is taken away again.
 */
export function planRepair(
  given: RepairsGiven & { known: Pick<Known, "assignments" | "numbers"> },
  of: Placed,
  options: Pick<PlanOptions, "policies" | "repairs">,
  make: PurchaseMaker,
): Amendment {
  const { order, standing } = of;
  const amendment: Amendment = { meant: [], changes: [], blocks: [], endings: [] };
  const repairs = (name: "drift.missing" | "drift.extra"): boolean =>
    !["ignore", "report"].includes(policyOf(options.policies, name));
  if (repairs("drift.extra")) amendment.changes.push(...shownAgain(given, standing, options));
  const { gone, blocks } = lostOf(given, standing, options);
  const isWanted = order.state === "current" && !order.body.cancelled;
  if (!isWanted || amendment.changes.length > 0 || !repairs("drift.missing")) return amendment;
  amendment.blocks.push(...blocks);
  if (gone.length === 0) return amendment;
  const shared = gone.find((item) => isShared(given.known.numbers, { order: order.key, ...item }));
  if (shared !== undefined) {
    const reason =
      `the platform no longer shows a part of the order ${formatKey(order.key)}. crm-sync does not buy that part ` +
      `again: another order continues its asset number ${shared.number}`;
    amendment.blocks.push({ code: "order.not-repaired", reason, again: true });
    return amendment;
  }
  const held = new Set(given.known.assignments.map((item) => item.assetNumber));
  const wanted = { assets: order.tree.assets, amount: order.body.amount };
  const left = standingWithout(standing, gone);
  const { added, ...others } = differenceOf(left, wanted, { held, reserved: standing.units });
  const numbered = added.find((part) => part.given !== undefined);
  if (numbered !== undefined || !isEmpty({ ...others, added: [], emptied: [] })) {
    const why = numbered === undefined ? "" : `: the CRM gives its asset the number ${numbered.given}`;
    const reason =
      `the platform no longer shows a part of the order ${formatKey(order.key)}, and crm-sync does not buy it again ` +
      "by itself";
    amendment.blocks.push({ code: "order.not-repaired", reason: `${reason}${why}`, again: true });
    return amendment;
  }
  const purchases = added.map((part): Purchase => ({
    part,
    standing: part.standing,
    products: [...part.products],
    packages: [...part.packages],
  }));
  // Not being shown proves nothing: it may stand under another number, or be hidden from every reading alike.
  buy(amendment, of, purchases, { make, policy: unproven, gone, reason: lostText(order.key, gone) });
  return amendment;
}
