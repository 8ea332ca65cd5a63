import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import { numbersOf } from "../../engine/model/registry.ts";
import { unitsOf as unitNumbersOf } from "../../engine/model/references.ts";
import type { EarlierUnit } from "../../engine/model/references.ts";
import type { Operation } from "../../engine/model/operation.ts";
import { assetNumberReference } from "../../engine/model/references.ts";
import type { Known } from "../../engine/model/state.ts";
import type { CustomerInput } from "../../engine/plan/input.ts";

/** One asset that a person can be given. */
export interface ClaimedAsset {
  /** The number if the CRM names it, else the unit of the asset instance: two claims with one token mean one asset. */
  token: string;
  /** Undefined before the purchase of it fixed a number. */
  number: string | undefined;
  payload: string | { $ref: "assetNumber"; of: string };
  /** Subject of the purchase in this plan that brings it; undefined if it is bought already. */
  purchase?: string;
}

/** What the units of orders are read from. */
export type UnitsGiven = Pick<CustomerInput, "standings" | "unbought"> & {
  known: Pick<Known, "numbers" | "placedOrders">;
};

interface Unit {
  order: RecordKey;
  instanceId: string;
  unit: number;
  number?: string | undefined;
  /** Units of earlier orders that it continues under the same number. */
  continues?: readonly EarlierUnit[] | undefined;
}

/** An asset instance by the namespace and the id that the CRM has for it. */
export function instanceToken(namespace: string, instanceId: string): string {
  return JSON.stringify([namespace, instanceId]);
}

/** The units of each asset instance: those that placed orders have, without `removed`, and those that this plan buys. */
export function unitsOf(
  given: UnitsGiven,
  purchases: readonly Operation[],
  removed: ReadonlySet<string>,
): ReadonlyMap<string, ClaimedAsset[]> {
  const purchaseOf = new Map<string, string>();
  const planned = purchases.flatMap((operation) => {
    const units = plannedUnits(operation);
    for (const unit of units) purchaseOf.set(referenceTo(unit).of, operation.subject);
    return units;
  });
  const fixed = given.known.numbers
    .map((item): Unit & { number: string } => ({ ...item, order: { namespace: item.namespace, id: item.orderId } }))
    .filter((unit) => !removed.has(unit.number) && (purchaseOf.has(referenceTo(unit).of) || wasBought(given, unit)));
  const byInstance = new Map<string, ClaimedAsset[]>();
  const continued = new Map<string, ClaimedAsset[]>();
  const seen = new Set<string>();
  for (const unit of [...fixed, ...planned]) {
    const payload = referenceTo(unit);
    if (seen.has(payload.of)) continue;
    seen.add(payload.of);
    const purchase = purchaseOf.get(payload.of);
    const asset = { token: payload.of, number: unit.number, payload, ...(purchase !== undefined && { purchase }) };
    push(byInstance, instanceToken(unit.order.namespace, unit.instanceId), asset);
    for (const { namespace, orderId, instanceId, unit: earlier } of unit.continues ?? []) {
      const { of: token } = assetNumberReference({ namespace, id: orderId }, instanceId, earlier);
      push(continued, instanceToken(namespace, instanceId), { ...asset, token });
    }
  }
  // A claim of the earlier instance means the unit that continues it.
  for (const [instance, assets] of continued) {
    const numbers = new Set(byInstance.get(instance)?.map(({ number }) => number));
    for (const asset of assets) if (!numbers.has(asset.number)) push(byInstance, instance, asset);
  }
  return byInstance;
}

function plannedUnits(operation: Operation): Unit[] {
  const [order] = operation.records;
  if (order === undefined) return [];
  return numbersOf(operation).flatMap((asset) =>
    unitNumbersOf(asset).map((unit): Unit => {
      const renewed = asset.renewed?.find((one) => one.unit === unit);
      return { order, instanceId: asset.id, unit, number: renewed?.number, continues: renewed?.continues };
    }),
  );
}

function referenceTo({ order, instanceId, unit }: Unit): { $ref: "assetNumber"; of: string } {
  return assetNumberReference(order, instanceId, unit);
}

/** Whether the unit exists: a number may be fixed to one whose purchase was rejected. */
function wasBought({ known, standings, unbought }: UnitsGiven, unit: Unit & { number: string }): boolean {
  const key = formatKey(unit.order);
  if (!known.placedOrders.has(key)) return false;
  const standing = standings?.get(key);
  if (standing === undefined || "lost" in standing) return unbought?.has(unit.number) !== true;
  return standing.units.some((item) => item.instanceId === unit.instanceId && item.unit === unit.unit);
}

export function push<Key, Value>(map: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}
