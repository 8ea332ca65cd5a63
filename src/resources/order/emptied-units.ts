import type { OrderStanding, StandingUnit } from "./order-standing.ts";
import type { StateChange } from "../../engine/state.ts";
import { isShared } from "./state/asset-numbers.ts";
import type { FixedNumber } from "./state/asset-numbers.ts";
import type { RemovedItem } from "./state/order-steps.ts";

/**
 * Units that nobody wants any more and of which nothing is left stand no more: nothing is sent for them, their numbers
 * are used no more, and who holds one by our doing loses it as everything that the CRM gives nobody. `fixed`: a number
 * that another unit has too, by renewal, stays.
 */
export function unitsEnded(
  { order, customer }: OrderStanding,
  units: readonly StandingUnit[],
  fixed: readonly FixedNumber[],
): StateChange[] {
  if (units.length === 0) return [];
  const numbers = units.flatMap(({ number, instanceId, unit }) =>
    number === undefined || isShared(fixed, { order, instanceId, unit, number }) ? [] : [number],
  );
  const items = units.map(wholeUnit);
  return [
    { type: "order-removed", order, customer, operationId: null, origin: "found", products: 0, items },
    ...(numbers.length === 0 ? [] : [{ type: "numbers-ended" as const, numbers }]),
  ];
}

/** A unit that goes with all that it holds. */
export function wholeUnit({ instanceId, unit, number }: StandingUnit): RemovedItem {
  return { instanceId, unit, number: number ?? null, product: null, channelOrderId: null, licenseOrderId: null };
}
