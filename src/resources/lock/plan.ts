import { lockProblem } from "../../contract/limits.ts";
import { formatKey } from "../../crm/keys.ts";
import type { EarlierUnit, PrivateMarker } from "../../engine/model/references.ts";
import type { Asset } from "../../crm/model.ts";
import type { OrderWithTree } from "../../engine/model/desired.ts";
import { theCrm, only } from "../../engine/model/requests.ts";
import type { Policies } from "../../engine/model/policy-settings.ts";
import type { Known, StateChange } from "../../engine/model/state.ts";
import type { ResourcePlan } from "../../engine/model/resource.ts";
import type { Block } from "../../engine/plan/blocks.ts";
import type { PlanOptions, PlanInput } from "../../engine/plan/input.ts";
import { consider } from "../../engine/plan/rejections.ts";

type Given = Pick<PlanInput, "customer" | "orders" | "standings"> & {
  known: Pick<Known, "placedOrders" | "numbers" | "requests" | "crmAsked">;
};
type Options = Pick<PlanOptions, "policies" | "removalsBlocked">;

/** A person's request after the order's last change counts until the CRM's flag changes again. */
export function plan(given: Given, _: unknown, options: Options): ResourcePlan {
  const wishes: ResourcePlan = { records: "orders", operations: [], changes: [], blocks: [] };
  for (const order of given.orders) {
    const key = formatKey(order.key);
    const placed = given.known.placedOrders.get(key);
    if (placed === undefined || order.state !== "current" || order.body.cancelled) continue;
    if (formatKey(placed.customer) !== formatKey(given.customer)) continue;
    for (const asset of order.tree.assets) {
      const wished = wishedOf(given, order, asset, options);
      if ("code" in wished) wishes.blocks.push([key, wished]);
      else wishes.changes.push(...wished);
    }
  }
  return wishes;
}

/** After a rebuild the CRM's flags count as requested and nothing is sent, because no reading shows a lock's state. */
export function assume(given: Given, policies: Policies): { changes: StateChange[]; told: string[] } {
  const asking: Policies = { ...policies, locks: { ...policies.locks, locked: "apply" } };
  const { changes } = plan(given, undefined, { policies: asking, removalsBlocked: undefined });
  const made = changes.flatMap((change) => (change.type === "request-made" ? [change] : []));
  return {
    changes: made.flatMap((change): StateChange[] => {
      const { of, about } = change.request;
      return [change, { type: "request-withdrawn", customer: given.customer, of, about }];
    }),
    told: made.map(
      ({ request: { about, reason } }) =>
        `the CRM wants the lock ${about} disabled (${reason}); whether it is, nothing shows`,
    ),
  };
}

function wishedOf(
  given: Given,
  order: OrderWithTree,
  asset: Asset<PrivateMarker>,
  { policies, removalsBlocked }: Options,
): StateChange[] | Block {
  if (asset.locked === undefined) return [];
  const wanted = asset.locked ? "locked" : "unlocked";
  const own = numbersOf(given, order, asset);
  const numbers = own.numbers.filter((number) => isNew(given, order, number, wanted));
  if (numbers.length === 0) return [];
  if ("lost" in own) return own.lost;
  const named = `the asset instance ${asset.id}`;
  for (const assetNum of numbers) {
    const problem = lockProblem({ assetNum, licenseType: asset.licenseType, largeCustomer: false });
    if (problem !== undefined)
      return { code: "asset.wrong-type", reason: `the CRM wants ${named} ${wanted}: ${problem}`, again: false };
  }
  const ruled = consider(policies, `locks.${wanted}`, `the CRM wants ${named} ${wanted}`);
  if (ruled === "nothing") return [];
  if (ruled !== "act") return ruled;
  if (wanted === "locked" && removalsBlocked !== undefined) return removalsBlocked;
  const details = { licenseType: asset.licenseType, largeCustomer: false };
  const common = { of: "lock" as const, wanted, details, by: theCrm, askedAt: order.since } as const;
  return numbers.map((about) => ({
    type: "request-made",
    customer: given.customer,
    request: { ...common, about, reason: `order ${formatKey(order.key)}` },
  }));
}

/** Only numbers that this ledger fixed to this order: a CRM number may belong to another order or customer. */
function numbersOf(
  { known, standings }: Given,
  { key }: OrderWithTree,
  asset: Asset<PrivateMarker>,
): { numbers: string[]; lost?: Block } {
  const isOwn = (item: EarlierUnit): boolean =>
    item.instanceId === asset.id && item.orderId === key.id && item.namespace === key.namespace;
  // A lock that another order continues gets its flag from that order.
  const renewed = new Set(known.numbers.flatMap((item) => (item.continues?.some(isOwn) === true ? [item.number] : [])));
  const fixed = known.numbers.filter((item) => isOwn(item) && !renewed.has(item.number));
  const numbers = fixed.map(({ number }) => number);
  const standing = standings?.get(formatKey(key));
  if (standing !== undefined && !("lost" in standing)) {
    const stand = new Set(standing.units.flatMap((unit) => (unit.instanceId === asset.id ? [unit.number] : [])));
    return { numbers: numbers.filter((number) => stand.has(number)) };
  }
  // A rejected purchase leaves its numbers fixed but unused.
  if (fixed.length <= asset.quantity) return { numbers };
  const reason =
    `the CRM wants the asset instance ${asset.id} locked or unlocked, but crm-sync does not know which of its ` +
    `${fixed.length} asset numbers still exist${standing === undefined ? "" : `: ${standing.lost}`}`;
  return { numbers, lost: { code: "order.form-lost", reason, again: true } };
}

function isNew({ known }: Given, { since }: OrderWithTree, number: string, wanted: "locked" | "unlocked"): boolean {
  const last = known.crmAsked.find((asked) => asked.of === "lock" && asked.about === number);
  const isAsked = last?.gone === true && wanted === "locked" ? false : (last?.wanted ?? "unlocked") === wanted;
  if (isAsked) return false;
  const live = only(known.requests, "lock").find(({ about }) => about === number);
  return live === undefined || live.by === theCrm || live.askedAt <= since;
}
