import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import { isSameKey } from "../../operation/state/same-key.ts";
import type { Measure } from "../../report/statement/entitlements.ts";
import { OrderLines } from "./order-lines.ts";
import type { OrderHistory, UnitProduct } from "./order-lines.ts";

/** An assignment of an asset number, from its beginning to its end. */
export interface Assignment {
  assetNumber: string;
  from: string;
  to: string | null;
  customer: RecordKey;
  /** Whether an operation of ours began it, and ended it. */
  isGranted: boolean;
  isRevoked: boolean;
}

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

/** A product in a unit for as long as it stood there. */
interface Life {
  of: UnitProduct;
  customer: RecordKey;
  begun: { at: string; isOurs: boolean };
  ended: { at: string; isOurs: boolean } | undefined;
}

/** The assignments of asset numbers to members of the customers that had them, by number. */
type AssignmentsOf = (owners: ReadonlyMap<string, ReadonlySet<string>>) => ReadonlyMap<string, readonly Assignment[]>;

/**
 * Everything that moved of an order: units and nodes by its events, and seats for as long as both the product and the
 * assignment of its number stood. The order counts as placed at `placedAt`, and nothing of it happens before.
 */
export function* movementsOf(
  history: OrderHistory,
  placedAt: string,
  assignmentsOf: AssignmentsOf,
): Generator<Movement, void, void> {
  const lives: Life[] = [];
  const open = new Map<string, Life>();
  for (const change of new OrderLines(history).changes()) {
    const { customer, moved } = change;
    const at = change.number === 0 ? placedAt : later(change.at, placedAt);
    const isOurs = change.origin === "sent";
    for (const { of, units } of moved) {
      if (units === 0) continue;
      const key = keyOf(customer, of.asset.licenseType, of.product);
      yield { key, measure: "units", at, isOurs, count: units };
      yield { key, measure: "nodes", at, isOurs, count: units * of.product.nodes };
      const place = placeOf(customer, of);
      if (units === 1) {
        const life: Life = { of, customer, begun: { at, isOurs }, ended: undefined };
        lives.push(life);
        open.set(place, life);
        continue;
      }
      const life = open.get(place);
      if (life !== undefined) life.ended = { at, isOurs };
      open.delete(place);
    }
  }
  yield* seatsOf(lives, assignmentsOf);
}

function* seatsOf(lives: readonly Life[], assignmentsOf: AssignmentsOf): Generator<Movement, void, void> {
  const owners = new Map<string, Set<string>>();
  for (const { of, customer } of lives) {
    if (of.unit.number === undefined) continue;
    const known = owners.get(of.unit.number) ?? new Set();
    owners.set(of.unit.number, known.add(formatKey(customer)));
  }
  const assignments = assignmentsOf(owners);
  if (assignments.size === 0) return;
  for (const { of, customer, begun, ended } of lives) {
    const key = keyOf(customer, of.asset.licenseType, of.product);
    for (const one of assignments.get(of.unit.number ?? "") ?? []) {
      if (!isSameKey(one.customer, customer)) continue;
      const from = one.from >= begun.at ? { at: one.from, isOurs: one.isGranted } : begun;
      const own = one.to === null ? undefined : { at: one.to, isOurs: one.isRevoked };
      const to = own === undefined || (ended !== undefined && ended.at < own.at) ? ended : own;
      if (to !== undefined && to.at <= from.at) continue;
      yield { key, measure: "seats", ...from, count: 1 };
      if (to !== undefined) yield { key, measure: "seats", ...to, count: -1 };
    }
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

/** The later one of two instants. */
function later(one: string, other: string): string {
  return one < other ? other : one;
}

function placeOf(customer: RecordKey, { unit, product, channelOrderId }: UnitProduct): string {
  return JSON.stringify([formatKey(customer), unit.instanceId, unit.unit, product.id, channelOrderId]);
}
