import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { PlannedAsset } from "../../engine/model/references.ts";
import type { OrderWithTree } from "../../engine/model/desired.ts";
import type { Block } from "../../engine/plan/blocks.ts";
import type { CustomerInput, PlanInput } from "../../engine/plan/input.ts";
import type { Need } from "../../engine/model/resource.ts";
import type { Known } from "../../engine/model/state.ts";
import { orderOf, productsOf, takenOver } from "./model.ts";
import { type PlannedPackage, type PlannedProduct, type PurchasedAsset } from "./payload.ts";
import { type Endings } from "./removal-parts.ts";
import { unitsIn } from "./renewals.ts";
import { agreesWith } from "./state/changes.ts";

/**
 * Adds the source licence order of transferred products (E5: srcLicenseOrderId), unless the CRM gives it. Never
 * guessed.
 */
export function withTransfers(
  order: RecordKey,
  assets: readonly PurchasedAsset[],
  standings: CustomerInput["standings"],
): PurchasedAsset[] | Block {
  const named = (item: PlannedProduct): PlannedProduct => {
    const { transferredFrom: from, srcLicenseOrderId } = item;
    if (from === undefined || srcLicenseOrderId !== undefined) return item;
    return { ...item, srcLicenseOrderId: sourceOf(order, from, standings) };
  };
  const inside = (item: PlannedPackage): PlannedPackage => ({
    ...item,
    products: item.products.map(named),
    children: item.children.map(inside),
  });
  const resolved = assets.map((asset) => ({
    ...asset,
    products: asset.products.map(named),
    packages: asset.packages.map(inside),
  }));
  const products = resolved.flatMap(productsOf);
  for (const { id, transferredFrom: from, srcLicenseOrderId } of products) {
    if (from === undefined || srcLicenseOrderId !== undefined) continue;
    const earlier = `${from.instanceId} of the order ${formatKey(orderOf(order, from))}`;
    const reason = `the product ${id} is transferred from ${earlier}, but the licence order of that instance is not known`;
    return { code: "order.transfer-unknown", reason, again: true };
  }
  return resolved;
}

/** Undefined if units of the instance came from several licence orders. */
function sourceOf(
  order: RecordKey,
  from: NonNullable<PlannedProduct["transferredFrom"]>,
  standings: CustomerInput["standings"],
): string | undefined {
  const found = new Set(
    unitsIn({ standings }, orderOf(order, from)).flatMap(({ products }) =>
      products.filter((item) => item.product.id === from.instanceId).map((item) => item.licenseOrderId),
    ),
  );
  const [only] = found;
  return found.size === 1 ? only : undefined;
}

type Given = Pick<PlanInput, "orders" | "takers" | "standings"> & { known: Pick<Known, "placedOrders"> };

/** Endings wait for orders that take over a part: a transferred product, or a continued asset. */
export function awaitingTakeovers(given: Given, endings: readonly Endings[]): Endings[] {
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

/** Without the numbers that another order continues in this plan: their holders keep them. */
export function withoutRenewed(
  meant: readonly { after: { assets: readonly PlannedAsset[] } }[],
  endings: readonly Endings[],
): Endings[] {
  const renewed = new Set(
    meant.flatMap(({ after }) => after.assets.flatMap((asset) => asset.renewed?.map(({ number }) => number) ?? [])),
  );
  return endings.map((ending) => ({ ...ending, units: ending.units.difference(renewed) }));
}

export function takersOfInstance(given: Given, order: RecordKey, instanceId: string): string[] {
  return [...(takersOf(given).get(nameOf(formatKey(order), instanceId)) ?? [])];
}

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

function standingIn({ known, standings }: Given, order: OrderWithTree): ReadonlySet<string> | "all" {
  const key = formatKey(order.key);
  const placed = known.placedOrders.get(key);
  if (placed === undefined) return new Set();
  if (agreesWith(placed, order)) return "all";
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
