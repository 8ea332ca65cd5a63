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
 * A unit that is bought under the number of one that stands; `continues`: that unit, and those that it continues.
 * `shown`: the ledger does not know the number of that one yet, M7 shows it.
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
  /** Which units they are; the first ones where it is not said. */
  units: z.array(z.int()).optional(),
  /** Those of its units that continue earlier ones: no number is taken for them. */
  renewed: z.array(renewedUnit).optional(),
});
/** An asset instance that an order brings: how many numbers it needs, and those that the CRM gave. */
export type PlannedAsset = z.infer<typeof plannedAsset>;

/** The units of an asset instance that need numbers. */
export function unitsOf({ quantity, units }: Pick<PlannedAsset, "quantity" | "units">): number[] {
  return units ?? Array.from({ length: quantity }, (_, unit) => unit);
}

/** The units of an asset instance that get a number of their own. */
export function newUnitsOf(asset: Pick<PlannedAsset, "quantity" | "units" | "renewed">): number[] {
  const renewed = new Set(asset.renewed?.map(({ unit }) => unit));
  return unitsOf(asset).filter((unit) => !renewed.has(unit));
}

/** The numbers that the CRM gives to the units that get one of their own, in their order. */
export function givenToNew({ given, renewed = [] }: Pick<PlannedAsset, "given" | "renewed">): string[] {
  const taken = new Set(renewed.map(({ number }) => number));
  return given.filter((number) => !taken.has(number));
}

/** Numbers of planned assets that may be there before the purchase: those of the CRM, and those of earlier units. */
export function numbersThere(assets: readonly PlannedAsset[]): string[] {
  return assets.flatMap(({ given, renewed = [] }) => [...given, ...renewed.map(({ number }) => number)]);
}

/** What a plan says an order will be, in `after`. */
export const plannedOrder = z.object({ version: z.int(), bodyHash: z.string(), assets: z.array(plannedAsset) });

/** A number that is fixed to one unit of an asset instance, for good. */
export interface FixedNumber {
  number: string;
  orderId: string;
  namespace: string;
  instanceId: string;
  unit: number;
  /** The earlier units whose number it has, nearest first; undefined where the number was fixed to it. */
  continues?: readonly EarlierUnit[] | undefined;
}

/**
 * The same once the ledger has chosen numbers for units of an order's assets; one that was fixed to such a unit before
 * is not used any more.
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
