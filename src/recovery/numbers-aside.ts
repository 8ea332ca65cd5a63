import type { RecordKey } from "../crm/model.ts";
import type { EngineDependencies } from "../engine/customer.ts";
import type { EarlierUnit, FixedNumber } from "../engine/model/asset-numbers.ts";
import type { OrderWithTree } from "../engine/model/desired.ts";
import { isSameKey } from "../engine/model/state-part.ts";
import type { NumberAside } from "../ledger/gap/gap-statements.ts";
import type { SharedNumber } from "../ledger/gap/gap.ts";
import { orderOf } from "../resources/order/model.ts";
import { amendmentsOf } from "../resources/order/shown-orders.ts";
import { unitsNamed } from "../resources/order/state/asset-numbers.ts";

type Asset = OrderWithTree["tree"]["assets"][number];
type Dependencies = Pick<EngineDependencies, "ledger" | "settings">;

/** The numbers of earlier units, each with whether the order of such a unit is also shown under that number. */
export async function sharedNumbers(
  { ledger, settings }: Dependencies,
  customer: RecordKey,
  aside: readonly NumberAside[],
  wanted: readonly string[],
): Promise<SharedNumber[]> {
  const shared: SharedNumber[] = [];
  for (const number of new Set(wanted)) {
    let unitStands = false;
    for (const item of aside) {
      if (item.number !== number || item.continues !== undefined) continue;
      const { namespace, orderId: id, channelOrderId } = item;
      const nOf = amendmentsOf(settings, { order: { namespace, id }, channelOrderId });
      for (const shownUnder of await ledger.state.shownNumbers(customer)) {
        if (shownUnder !== channelOrderId && nOf(shownUnder) === undefined) continue;
        const shown = await ledger.state.shownOrder(customer, shownUnder);
        unitStands ||= [...(shown?.products.values() ?? [])].some((numbers) => numbers.includes(number));
      }
    }
    shared.push({ number, unitStands });
  }
  return shared;
}

/**
 * The earlier units, nearest first, with the same number as a unit of an asset. They follow from the CRM's links
 * (`continues`), also through ended assets, and from the units `known` to have had that number. Undefined if no such
 * unit had it.
 */
export function earlierUnits(
  orders: readonly OrderWithTree[],
  { order, asset, number }: { order: RecordKey; asset: Asset; number: string },
  known: readonly FixedNumber[],
): EarlierUnit[] | undefined {
  const had = known.filter((item) => item.number === number);
  const own = had.find((item) => item.continues !== undefined && isUnitOf(item, order, asset.id));
  if (own?.continues !== undefined) return [...own.continues];
  const passed: { from: RecordKey; instanceId: string }[] = [];
  for (let at = { order, asset }; at.asset.continues !== undefined;) {
    const from = orderOf(at.order, at.asset.continues);
    const { instanceId } = at.asset.continues;
    const earlier = had.find((item) => isUnitOf(item, from, instanceId));
    if (earlier !== undefined) {
      const { unit } = earlier;
      return [
        ...passed.map((one): EarlierUnit => {
          return { namespace: one.from.namespace, orderId: one.from.id, instanceId: one.instanceId, unit };
        }),
        ...unitsNamed(earlier),
      ];
    }
    if (passed.some((one) => one.instanceId === instanceId && isSameKey(one.from, from))) return undefined;
    passed.push({ from, instanceId });
    const next = orders.find(({ key }) => isSameKey(key, from))?.tree.assets.find(({ id }) => id === instanceId);
    if (next === undefined) return undefined;
    at = { order: from, asset: next };
  }
  return undefined;
}

function isUnitOf(item: FixedNumber, order: RecordKey, instanceId: string): boolean {
  return item.instanceId === instanceId && isSameKey({ namespace: item.namespace, id: item.orderId }, order);
}
