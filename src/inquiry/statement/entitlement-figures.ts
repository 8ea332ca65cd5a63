import type { RecordKey } from "../../crm/model.ts";
import type { Measure } from "../../report/statement/entitlements.ts";
import { statedOrder } from "./amounts.ts";
import type { OrderHistory } from "./order-history.ts";
import { countedAt, livesOf, seatsOf } from "./product-lives.ts";
import type { AssignmentsOf } from "./product-lives.ts";

/** What a figure is of. Seats of a number that no known order brought are of no product. */
export interface EntitlementKey {
  customer: RecordKey;
  licenseType: string | null;
  gmsPid: string | null;
  appKey: string | null;
  product: string | null;
}

/** So many came (above 0) or went (below 0) at a time, by an operation of ours or without one. */
export interface Movement {
  key: EntitlementKey;
  measure: Measure;
  at: string;
  isOurs: boolean;
  count: number;
}

/**
 * Everything that moved of an order: units and nodes by its events, and seats for as long as both the product and the
 * assignment of its number stood. The order counts as placed at `placedAt`, and nothing of it happens before.
 */
export function* movementsOf(
  history: OrderHistory,
  placedAt: string,
  assignmentsOf: AssignmentsOf,
): Generator<Movement, void, void> {
  const { changes } = statedOrder(history);
  for (const change of changes) {
    const { customer, moved, origin } = change;
    const at = countedAt(change, placedAt);
    const isOurs = origin === "sent";
    for (const { of, units } of moved) {
      if (units === 0) continue;
      const key = keyOf(customer, of.asset.licenseType, of.product);
      yield { key, measure: "units", at, isOurs, count: units };
      yield { key, measure: "nodes", at, isOurs, count: units * of.product.nodes };
    }
  }
  for (const { life, begun, ended } of seatsOf(livesOf(changes, placedAt), assignmentsOf)) {
    const key = keyOf(life.customer, life.of.asset.licenseType, life.of.product);
    yield { key, measure: "seats", ...begun, count: 1 };
    if (ended !== undefined) yield { key, measure: "seats", ...ended, count: -1 };
  }
}

/** What a product of a customer counts under. */
export function keyOf(
  customer: RecordKey,
  licenseType: string,
  { gmsPid, appKey, name }: { gmsPid?: string | undefined; appKey?: string | undefined; name: string },
): EntitlementKey {
  return { customer, licenseType, gmsPid: gmsPid ?? null, appKey: appKey ?? null, product: name };
}
