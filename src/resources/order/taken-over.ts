import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { PlannedAsset } from "../../engine/asset-numbers.ts";
import type { OrderWithTree } from "../../engine/desired.ts";
import { takenOver } from "./order-standing.ts";
import type { Need } from "../../engine/shape.ts";
import type { Known } from "../../engine/state.ts";
import { wantedForm } from "./state/order-steps.ts";
import type { Endings } from "./removal-parts.ts";
import type { Prepared } from "../../engine/plan/prepared.ts";

type Given = Pick<Prepared, "orders" | "takers" | "standings"> & { known: Pick<Known, "placedOrders"> };

/**
 * Endings that wait for the orders that take over something of what ends: a transferred product, an asset that goes on
 * under another order. While that is not bought, what it comes from stays.
 */
export function awaitingTakeovers(given: Given, endings: readonly Endings[]): Endings[] {
  if (endings.length === 0) return [];
  const takers = takersOf(given);
  return endings.map((ending) => {
    const key = formatKey(ending.order.order);
    const ids = ending.parts.flatMap(({ unit, products }) => [
      unit.instanceId,
      ...products.map(({ product }) => product.id),
    ]);
    const own = new Set(ending.needs.map(({ subject }) => subject));
    const subjects = new Set(ids.flatMap((id) => [...(takers.get(nameOf(key, id)) ?? [])]));
    const needs = [...subjects.difference(own)].map((subject): Need => ({ stage: "orders", subject }));
    return needs.length === 0 ? ending : { ...ending, needs: [...ending.needs, ...needs] };
  });
}

/** Endings without the numbers that go on under another order by this plan: who holds one of them keeps it. */
export function withoutRenewed(
  meant: readonly { after: { assets: readonly PlannedAsset[] } }[],
  endings: readonly Endings[],
): Endings[] {
  const renewed = new Set(
    meant.flatMap(({ after }) => after.assets.flatMap((asset) => asset.renewed?.map(({ number }) => number) ?? [])),
  );
  return endings.map((ending) => ({ ...ending, units: ending.units.difference(renewed) }));
}

/** Subjects of the purchases that are to take over an instance of an order and do not stand yet. */
export function takersOfInstance(given: Given, order: RecordKey, instanceId: string): string[] {
  return [...(takersOf(given).get(nameOf(formatKey(order), instanceId)) ?? [])];
}

/** Subjects of the purchases that are to take over an instance and do not stand yet, by order and instance. */
function takersOf(given: Given): ReadonlyMap<string, ReadonlySet<string>> {
  const takers = new Map<string, Set<string>>();
  for (const order of [...given.orders, ...(given.takers ?? [])]) {
    if (order.state !== "current" || order.body.cancelled) continue;
    const stands = standingIn(given, order);
    for (const { instanceId, from, earlier } of takenOver(order.key, order.body.instances)) {
      if (stands === "all" || stands.has(instanceId)) continue;
      const name = nameOf(formatKey(from), earlier);
      takers.set(name, (takers.get(name) ?? new Set()).add(`order:${formatKey(order.key)}`));
    }
  }
  return takers;
}

/** Ids of what of an order stands, in as many units as it is wanted in. */
function standingIn({ known, standings }: Given, order: OrderWithTree): ReadonlySet<string> | "all" {
  const key = formatKey(order.key);
  const placed = known.placedOrders.get(key);
  if (placed === undefined) return new Set();
  if ((placed.agreedHash ?? placed.bodyHash) === wantedForm(order)) return "all";
  const standing = standings?.get(key);
  if (standing === undefined || "lost" in standing) return new Set();
  return new Set(
    order.tree.assets.flatMap(({ id, quantity }) => {
      const units = standing.units.filter((unit) => unit.instanceId === id && unit.products.length > 0);
      const held = units.map(({ products }) => new Set(products.map(({ product }) => product.id)));
      const ids = new Set(held.flatMap((own) => [...own]));
      const whole = [...ids].filter((product) => held.filter((own) => own.has(product)).length >= quantity);
      return units.length < quantity ? [] : [id, ...whole];
    }),
  );
}

function nameOf(order: string, instanceId: string): string {
  return JSON.stringify([order, instanceId]);
}
