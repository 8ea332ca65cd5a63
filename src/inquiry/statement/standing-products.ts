import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import { foldOrder } from "../../resources/order/fold.ts";
import type { StandingUnit } from "../../resources/order/model.ts";
import type { OrderHistory } from "./order-history.ts";

/** Units of an order that stand for a customer at a moment. */
export interface StandingAt {
  customer: RecordKey;
  units: readonly StandingUnit[];
}

/**
 * What stood of an order before a moment, for each customer that it was ever for, as everything that amends orders sees
 * it. Nothing is known of a form that is not kept any more. Numbers are looked up where `withNumbers` says so.
 */
export function standingBefore(history: OrderHistory, moment: string, withNumbers: boolean): StandingAt[] {
  const { placing } = history;
  if (placing.at >= moment) return [];
  const steps = history.steps.filter(({ at }) => at < moment);
  const fold = foldOrder({ ...history, steps, ...(withNumbers ? {} : { numberOf: () => undefined }) });
  const customers = new Map([placing, ...steps].map(({ customer }) => [formatKey(customer), customer]));
  return [...customers.values()].flatMap((customer): StandingAt[] => {
    const standing = fold.standing(customer);
    return "lost" in standing ? [] : [{ customer, units: standing.units }];
  });
}
