import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import type { EngineDependencies } from "../engine/customer.ts";
import { isShown } from "../engine/evidence.ts";
import type { EarlierUnit, FixedNumber } from "../engine/model/references.ts";
import type { OrderWithTree } from "../engine/model/desired.ts";
import { isSameKey } from "../engine/model/state.ts";
import type { NumberAside } from "../ledger/gap/gap-statements.ts";
import type { SharedNumber } from "../ledger/gap/gap.ts";
import type { ShownOrder } from "../ledger/state/observations.ts";
import type { SnapshotReader } from "../platform/snapshot.ts";
import { orderOf, type OrderStanding, unitsNamed } from "../resources/order/model.ts";
import { ifNotShown } from "../resources/order/not-shown.ts";
import { amendmentsOf, beginningOf } from "../resources/order/shown-orders.ts";

type Dependencies = Pick<EngineDependencies, "ledger" | "settings">;

interface BroughtBack {
  orders: number;
  /** Orders that no reading shows and that count as in the backup. */
  assumed: { record: string; why: string }[];
}

/** Brings back state that the platform shows unchanged. Differences stay set aside and are read again. */
export async function bringBack(
  deps: Dependencies & { reader: SnapshotReader },
  customer: RecordKey,
  signal: AbortSignal | undefined,
): Promise<BroughtBack> {
  const { ledger, settings, reader } = deps;
  const { link } = await ledger.state.known(customer);
  const back: BroughtBack = { orders: 0, assumed: [] };
  if (link === undefined) return back;
  const all = await shownOrders(deps, customer);
  const aside = await ledger.gap.numbersAside(customer);
  for (const { order, channelOrderId, agrees } of await ledger.gap.ordersAside(customer)) {
    const named = { order, channelOrderId };
    const nOf = amendmentsOf(settings, named);
    const isOfOrder = (number: string): boolean => number === channelOrderId || nOf(number) !== undefined;
    const elsewhere = await ledger.state.shownElsewhere(customer, {
      number: channelOrderId,
      beginning: beginningOf(settings, named),
    });
    if (elsewhere.some(({ number }) => isOfOrder(number))) continue;
    const shown = new Map([...all].filter(([number]) => isOfOrder(number)));
    const continuing = aside.filter(
      ({ namespace, orderId: id, continues }) => continues !== undefined && isSameKey({ namespace, id }, order),
    );
    const goesOn = continuing.map(({ number }) => number);
    const shared = sharedNumbers(deps, all, aside, goesOn);
    const types = new Set<string>();
    const isShownSo = ({ units }: OrderStanding): boolean => {
      for (const { licenseType, products } of units) if (products.length > 0) types.add(licenseType);
      return standsAsShown(units, shown);
    };
    const isBack = await ledger.gap.bringOrderBack(customer, order, isShownSo, shared);
    const isHidden =
      !isBack &&
      shown.size === 0 &&
      agrees &&
      (await ifNotShown.restore(types, async (type) => await isShown(deps, type))) &&
      (await ledger.gap.bringOrderBack(customer, order, () => true, shared));
    if (isBack || isHidden) back.orders += 1;
    if (isHidden)
      back.assumed.push({
        record: `order:${formatKey(order)}`,
        why: "no reading shows its licence types (A43): it counts as the backup has it, which is as the CRM has it now",
      });
  }
  const { enterpriseGlobalId } = link;
  const snapshot = reader.of(customer, signal);
  const members = (await snapshot.members(enterpriseGlobalId)).filter(({ deleted }) => !deleted);
  const assets = await snapshot.allAssets(enterpriseGlobalId);
  const holders = [...assets.values()].flatMap(({ assetNum, holder }) =>
    typeof holder === "string" ? [{ assetNumber: assetNum, memberGlobalId: holder }] : [],
  );
  const ids = members.map(({ globalId }) => globalId);
  await ledger.gap.bringPeopleBack(customer, { enterpriseGlobalId, members: ids, holders });
  return back;
}

/** By channel order number. */
export async function shownOrders({ ledger }: Dependencies, customer: RecordKey): Promise<Map<string, ShownOrder>> {
  const all = new Map<string, ShownOrder>();
  for (const number of await ledger.state.shownNumbers(customer)) {
    const shown = await ledger.state.shownOrder(customer, number);
    if (shown !== undefined) all.set(number, shown);
  }
  return all;
}

function standsAsShown(units: OrderStanding["units"], shown: ReadonlyMap<string, ShownOrder>): boolean {
  const stands = new Set<string>();
  for (const unit of units) {
    if (unit.products.length > 0 && unit.number === undefined) return false;
    for (const { product, channelOrderId } of unit.products)
      stands.add(JSON.stringify([channelOrderId, product.id, unit.number]));
  }
  const seen = new Set<string>();
  for (const [channelOrderId, { products }] of shown)
    for (const [product, numbers] of products)
      for (const number of numbers) seen.add(JSON.stringify([channelOrderId, product, number]));
  return stands.size === seen.size && [...stands].every((thing) => seen.has(thing));
}

type Asset = OrderWithTree["tree"]["assets"][number];

/** `unitStands`: M7 also shows the earlier unit's order under the number. */
export function sharedNumbers(
  { settings }: Dependencies,
  all: ReadonlyMap<string, ShownOrder>,
  aside: readonly NumberAside[],
  wanted: readonly string[],
): SharedNumber[] {
  return [...new Set(wanted)].map((number) => {
    const unitStands = aside.some((item) => {
      if (item.number !== number || item.continues !== undefined) return false;
      const { namespace, orderId: id, channelOrderId } = item;
      const nOf = amendmentsOf(settings, { order: { namespace, id }, channelOrderId });
      return [...all].some(
        ([under, { products }]) =>
          (under === channelOrderId || nOf(under) !== undefined) &&
          [...products.values()].some((numbers) => numbers.includes(number)),
      );
    });
    return { number, unitStands };
  });
}

/** By the CRM's `continues` and the `known` units, nearest first. Undefined: no such unit had the number. */
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
