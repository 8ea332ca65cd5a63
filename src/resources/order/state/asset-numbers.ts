import type { FixedNumber, EarlierUnit } from "../../../engine/model/references.ts";
import type { RecordKey } from "../../../crm/model.ts";
import { notOfCustomers } from "../../../engine/model/state-part.ts";

type NumbersTakens = { [One in NumbersTaken as One["type"]]: One };
declare module "../../../engine/model/resource.ts" {
  interface ChangeShapes extends NumbersTakens {}
}
declare module "../../../engine/model/state.ts" {
  interface Known extends KnownAssetNumbers {}
}

export interface KnownAssetNumbers {
  numbers: FixedNumber[];
}

/** Numbers of the pool, which belong to no customer before they are fixed. */
export interface NumbersTaken {
  type: "numbers-taken";
  numbers: string[];
  operationId: string;
}

export const assetNumbersParts = { "numbers-taken": notOfCustomers };

/** The units that a number is the number of: its own, and those that this one continues. */
export function unitsNamed({ namespace, orderId, instanceId, unit, continues = [] }: FixedNumber): EarlierUnit[] {
  return [{ namespace, orderId, instanceId, unit }, ...continues];
}

/** The numbers of an asset instance: of its units, and of those that continue them. */
export function numbersOfInstance(numbers: readonly FixedNumber[], { namespace, id }: RecordKey): string[] {
  const own = numbers.filter((item) =>
    unitsNamed(item).some((unit) => unit.instanceId === id && unit.namespace === namespace),
  );
  return [...new Set(own.map(({ number }) => number))];
}

/** The other orders of which a unit has a number that one of this order has too. */
export function sharingOrders(numbers: readonly FixedNumber[], { namespace, id }: RecordKey): RecordKey[] {
  if (numbers.every(({ continues }) => continues === undefined)) return [];
  const isOwn = (item: FixedNumber): boolean => item.orderId === id && item.namespace === namespace;
  const own = new Set(numbers.filter(isOwn).map(({ number }) => number));
  return numbers.flatMap((item) =>
    own.has(item.number) && !isOwn(item) ? [{ namespace: item.namespace, id: item.orderId }] : [],
  );
}

/** Whether another unit than this one has a number too: then it stays when this one ends. */
export function isShared(
  numbers: readonly FixedNumber[],
  { order, instanceId, unit, number }: { order: RecordKey; instanceId: string; unit: number; number: string | null },
): boolean {
  return numbers.some(
    (item) =>
      item.number === number &&
      (item.unit !== unit ||
        item.instanceId !== instanceId ||
        item.orderId !== order.id ||
        item.namespace !== order.namespace),
  );
}
