import { z } from "zod";
import { compareBytes } from "./state-part.ts";

/** One unit of an asset instance. */
export const earlierUnit = z.object({
  namespace: z.string(),
  orderId: z.string(),
  instanceId: z.string(),
  unit: z.int(),
});
export type EarlierUnit = z.infer<typeof earlierUnit>;

/**
 * A unit that is bought again under the number of an existing unit. `continues`: that unit and its predecessors.
 * `shown`: the ledger does not know that unit's number yet, and M7 shows it.
 */
export const renewedUnit = z.object({
  unit: z.int(),
  number: z.string(),
  continues: z.array(earlierUnit),
  shown: z.literal(true).optional(),
});
export type RenewedUnit = z.infer<typeof renewedUnit>;

const plannedAsset = z.object({
  id: z.string(),
  licenseType: z.string(),
  quantity: z.int(),
  given: z.array(z.string()),
  /** Which units are bought; undefined: the first ones. */
  units: z.array(z.int()).optional(),
  /** Units that continue earlier ones; they need no new number. */
  renewed: z.array(renewedUnit).optional(),
});
/** An asset instance that an order brings: how many numbers it needs, and the numbers that the CRM gave. */
export type PlannedAsset = z.infer<typeof plannedAsset>;

/** The units of an asset instance that need numbers. */
export function unitsOf({ quantity, units }: Pick<PlannedAsset, "quantity" | "units">): number[] {
  return units ?? Array.from({ length: quantity }, (_, unit) => unit);
}

/** The units of an asset instance that get a new number. */
export function newUnitsOf(asset: Pick<PlannedAsset, "quantity" | "units" | "renewed">): number[] {
  const renewed = new Set(asset.renewed?.map(({ unit }) => unit));
  return unitsOf(asset).filter((unit) => !renewed.has(unit));
}

/** The numbers from the CRM for the units that get a new number, in order. */
export function givenToNew({ given, renewed = [] }: Pick<PlannedAsset, "given" | "renewed">): string[] {
  const taken = new Set(renewed.map(({ number }) => number));
  return given.filter((number) => !taken.has(number));
}

/** Numbers of planned assets that may exist before the purchase: from the CRM, and of earlier units. */
export function numbersThere(assets: readonly PlannedAsset[]): string[] {
  return assets.flatMap(({ given, renewed = [] }) => [...given, ...renewed.map(({ number }) => number)]);
}

/** The `after` of an order operation. */
export const plannedOrder = z.object({ version: z.int(), bodyHash: z.string(), assets: z.array(plannedAsset) });

/** A number that belongs to one unit of an asset instance permanently. */
export interface FixedNumber {
  number: string;
  orderId: string;
  namespace: string;
  instanceId: string;
  unit: number;
  /** The earlier units with the same number, nearest first; undefined if the number was first fixed to this unit. */
  continues?: readonly EarlierUnit[] | undefined;
}

/**
 * Known state after the ledger has chosen numbers for units of an order's assets. A new number replaces the number that
 * was fixed to the same unit before.
 */
export function withNumbers<Whole extends { numbers: FixedNumber[] }>(
  known: Whole,
  fixed: readonly FixedNumber[],
): Whole {
  if (fixed.length === 0) return known;
  const others = known.numbers.filter((before) => fixed.every((number) => byUnit(before, number) !== 0));
  return { ...known, numbers: [...others, ...fixed].toSorted(byUnit) };
}

/** Numbers in the order of the units that they are fixed to. */
export function byUnit(one: FixedNumber, other: FixedNumber): number {
  return (
    compareBytes(one.namespace, other.namespace) ||
    compareBytes(one.orderId, other.orderId) ||
    compareBytes(one.instanceId, other.instanceId) ||
    one.unit - other.unit
  );
}
