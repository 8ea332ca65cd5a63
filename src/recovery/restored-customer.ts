import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import type { EngineDependencies } from "../engine/customer.ts";
import { isShown } from "../engine/evidence.ts";
import { isSameKey } from "../engine/model/state-part.ts";
import type { SharedNumber } from "../ledger/gap/gap.ts";
import type { ShownOrder } from "../ledger/state/observations.ts";
import type { SnapshotReader } from "../platform/snapshot.ts";
import type { OrderStanding } from "../resources/order/model.ts";
import { ifNotShown } from "../resources/order/not-shown.ts";
import { amendmentsOf, beginningOf } from "../resources/order/shown-orders.ts";
import { sharedNumbers } from "./numbers-aside.ts";

type Dependencies = Pick<EngineDependencies, "ledger" | "settings"> & { reader: SnapshotReader };

/** The restored parts of a customer of a restored ledger. */
interface BroughtBack {
  /** Orders that are unchanged since the backup. */
  orders: number;
  /** Orders that no reading shows, and that count as in the backup. */
  assumed: { record: string; why: string }[];
}

/**
 * Brings back a customer's state in a restored ledger if the platform shows it unchanged. An order needs every product
 * under the same numbers and purchases, and nothing else. Accounts must exist, and assets must have the same holders.
 * Everything that differs stays set aside and is read again. All customers have been looked at before.
 */
export async function bringBack(
  deps: Dependencies,
  customer: RecordKey,
  signal: AbortSignal | undefined,
): Promise<BroughtBack> {
  const { ledger, settings, reader } = deps;
  const { link } = await ledger.state.known(customer);
  const back: BroughtBack = { orders: 0, assumed: [] };
  if (link === undefined) return back;
  const numbers = await ledger.state.shownNumbers(customer);
  const aside = await ledger.gap.numbersAside(customer);
  for (const { order, channelOrderId, agrees } of (await ledger.gap.setAside(customer)).orders) {
    const named = { order, channelOrderId };
    const nOf = amendmentsOf(settings, named);
    const isOfOrder = (number: string): boolean => number === channelOrderId || nOf(number) !== undefined;
    const elsewhere = await ledger.state.shownElsewhere(customer, {
      number: channelOrderId,
      beginning: beginningOf(settings, named),
    });
    if (elsewhere.some(({ number }) => isOfOrder(number))) continue;
    const shown = new Map<string, ShownOrder>();
    for (const number of numbers.filter(isOfOrder)) {
      const own = await ledger.state.shownOrder(customer, number);
      if (own !== undefined) shown.set(number, own);
    }
    const continuing = aside.filter(
      ({ namespace, orderId: id, continues }) => continues !== undefined && isSameKey({ namespace, id }, order),
    );
    const goesOn = continuing.map(({ number }) => number);
    const shared = await sharedNumbers(deps, customer, aside, goesOn);
    if (await ledger.gap.bringOrderBack(customer, order, (standing) => standsAsShown(standing, shown), shared))
      back.orders += 1;
    else if (shown.size === 0 && agrees && (await bringHiddenBack(deps, customer, order, shared))) {
      back.orders += 1;
      back.assumed.push({
        record: `order:${formatKey(order)}`,
        why: "no reading shows its licence types (A43): it counts as the backup has it, which is as the CRM has it now",
      });
    }
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

/** Brings an order back if it only has licence types that the platform never shows. */
async function bringHiddenBack(
  deps: Pick<EngineDependencies, "ledger" | "settings">,
  customer: RecordKey,
  order: RecordKey,
  shared: readonly SharedNumber[],
): Promise<boolean> {
  const types = new Set<string>();
  await deps.ledger.gap.bringOrderBack(customer, order, ({ units }) => {
    for (const { licenseType, products } of units) if (products.length > 0) types.add(licenseType);
    return false;
  });
  if (!(await ifNotShown.restore(types, async (type) => await isShown(deps, type)))) return false;
  return await deps.ledger.gap.bringOrderBack(customer, order, () => true, shared);
}

/** Whether exactly the recorded units are shown: the same products, asset numbers and purchases. */
function standsAsShown({ units }: OrderStanding, shown: ReadonlyMap<string, ShownOrder>): boolean {
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
