import type { RenewedUnit } from "../../engine/asset-numbers.ts";
import type { OrderWithTree } from "../../engine/desired.ts";
import type { DraftOperation } from "../../engine/operation.ts";
import type { StandingUnit } from "./order-standing.ts";
import { countedParts } from "./amendment-texts.ts";
import type { Block } from "../../engine/plan/block.ts";
import type { AddedPart, ReplacedPart } from "./order-difference.ts";
import type { PlannedPackage, PlannedProduct, PurchasedAsset } from "./order-records.ts";
import { renewedIn } from "./renewals.ts";

/** What an E5 says of a purchase, and the units of it that continue earlier ones, by asset instance. */
export interface MadePurchase {
  payload: Omit<DraftOperation<"place-order">["payload"], "channelOrderId">;
  renewed: ReadonlyMap<string, RenewedUnit[]>;
}

/** Makes what an E5 says of these assets of an order, or says why it cannot be made as it has to be. */
export type PurchaseMaker = (order: OrderWithTree, assets: readonly PurchasedAsset[]) => MadePurchase | Block;

/** What is bought under the number of one unit. */
export interface Purchase {
  part: Pick<AddedPart, "asset" | "unit" | "given">;
  standing: StandingUnit | undefined;
  products: PlannedProduct[];
  packages: PlannedPackage[];
}

/** What is bought under each number: what is added, and the new form of what is replaced. */
export function purchasesOf(added: readonly AddedPart[], replaced: readonly ReplacedPart[]): Purchase[] {
  const byUnit = new Map<string, Purchase>();
  const at = (part: Purchase["part"], standing: StandingUnit | undefined): Purchase => {
    const key = JSON.stringify([part.asset.id, part.unit]);
    const purchase = byUnit.get(key) ?? { part, standing, products: [], packages: [] };
    byUnit.set(key, purchase);
    return purchase;
  };
  for (const part of added) {
    const purchase = at(part, part.standing);
    purchase.products.push(...part.products);
    purchase.packages.push(...part.packages);
  }
  for (const { asset, unit, to } of replaced) {
    const purchase = at({ asset, unit: unit.unit, given: undefined }, unit);
    if ("product" in to) purchase.products.push(to.product);
    else purchase.packages.push(to.package);
  }
  return [...byUnit.values()];
}

/** How much is bought, in words. */
export function boughtText(purchases: readonly Purchase[]): string {
  const units = purchases.filter(({ standing }) => standing === undefined).length;
  const products = purchases.reduce((sum, item) => sum + item.products.length + item.packages.length, 0);
  return countedParts(units, products, "with");
}

/** Units of one asset that get the same things are one asset of the payload. */
export function purchasedAssets(purchases: readonly Purchase[]): PurchasedAsset[] {
  const groups = new Map<string, PurchasedAsset & { units: number[] }>();
  for (const { part, products, packages } of purchases) {
    const { asset, unit } = part;
    const key = JSON.stringify([asset.id, products.map(({ id }) => id), packages.map(({ id }) => id)]);
    const group = groups.get(key) ?? { ...asset, products, packages, quantity: 0, units: [] };
    group.units.push(unit);
    group.quantity = group.units.length;
    groups.set(key, group);
  }
  return [...groups.values()];
}

/** The asset instances whose new units need numbers; those that the CRM gave stand first. */
export function newAssets(
  purchases: readonly Purchase[],
  renewed: MadePurchase["renewed"],
): DraftOperation<"amend-order">["after"]["assets"] {
  const byAsset = new Map<string, Purchase[]>();
  for (const item of purchases) {
    if (item.standing !== undefined) continue;
    byAsset.set(item.part.asset.id, [...(byAsset.get(item.part.asset.id) ?? []), item]);
  }
  return [...byAsset].map(([id, items]) => {
    const sorted = items.toSorted(
      (one, other) => Number(one.part.given === undefined) - Number(other.part.given === undefined),
    );
    return {
      id,
      licenseType: items[0]?.part.asset.licenseType ?? "",
      quantity: items.length,
      given: sorted.flatMap(({ part }) => part.given ?? []),
      units: sorted.map(({ part }) => part.unit),
      ...renewedIn(renewed, id),
    };
  });
}
