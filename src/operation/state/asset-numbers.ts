import { notOfCustomers } from "./part.ts";
import { compareBytes } from "./row-order.ts";

export interface FixedNumber {
  number: string;
  orderId: string;
  namespace: string;
  instanceId: string;
  unit: number;
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

/**
 * The same once the ledger has chosen numbers for units of an order's assets; one that was fixed to such a unit before
 * is not used any more.
 */
export function withNumbers<Whole extends KnownAssetNumbers>(known: Whole, fixed: readonly FixedNumber[]): Whole {
  if (fixed.length === 0) return known;
  const others = known.numbers.filter((before) => fixed.every((number) => byUnit(before, number) !== 0));
  return { ...known, numbers: [...others, ...fixed].toSorted(byUnit) };
}

function byUnit(one: FixedNumber, other: FixedNumber): number {
  return (
    compareBytes(one.namespace, other.namespace) ||
    compareBytes(one.orderId, other.orderId) ||
    compareBytes(one.instanceId, other.instanceId) ||
    one.unit - other.unit
  );
}
