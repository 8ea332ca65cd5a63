import { counted } from "../../report/text.ts";
import type { RenewedUnit } from "../../engine/model/references.ts";
import type { OrderWithTree } from "../../engine/model/desired.ts";
import type { DraftOperation } from "../../engine/model/operation.ts";
import type { StandingUnit } from "./model.ts";
import type { Block } from "../../engine/plan/blocks.ts";
import { grouped } from "../../base/lists.ts";
import type { AddedPart, ReplacedPart } from "./difference.ts";
import { renewedIn, type PlannedPackage, type PlannedProduct, type PurchasedAsset } from "./payload.ts";
import type { Renewing } from "./renewals.ts";

export interface MadePurchase {
  payload: Omit<DraftOperation<"place-order">["payload"], "channelOrderId">;
  renewed: ReadonlyMap<string, RenewedUnit[]>;
}

/** `renewing` lists the earlier units even if the purchase is blocked. */
export interface Making {
  made: MadePurchase | Block;
  renewing: Renewing;
}

export type PurchaseMaker = (order: OrderWithTree, assets: readonly PurchasedAsset[]) => Making;

export interface Purchase {
  part: Pick<AddedPart, "asset" | "unit" | "given">;
  standing: StandingUnit | undefined;
  products: PlannedProduct[];
  packages: PlannedPackage[];
}

export function purchasesOf(added: readonly AddedPart[], replaced: readonly ReplacedPart[]): Purchase[] {
  const parts: Pick<AddedPart, "asset" | "unit" | "given" | "standing" | "products" | "packages">[] = [
    ...added,
    ...replaced.map(({ asset, unit, to }) => ({
      asset,
      unit: unit.unit,
      given: undefined,
      standing: unit,
      products: "product" in to ? [to.product] : [],
      packages: "package" in to ? [to.package] : [],
    })),
  ];
  return grouped(parts, ({ asset, unit }) => [asset.id, unit]).map(([part, same]) => ({
    part,
    standing: part.standing,
    products: same.flatMap(({ products }) => products),
    packages: same.flatMap(({ packages }) => packages),
  }));
}

/**
 * If not everything can be sent, buys what can be sent alone; a package alone in an asset cannot (A23). `rest`: why the
 * others wait.
 */
export function soldApart(
  purchases: readonly Purchase[],
  make: (some: readonly Purchase[]) => Making,
): { now: readonly Purchase[]; rest?: Block; renewing: Renewing[] } {
  const whole = make(purchases);
  const rest = notSendable(whole);
  if (rest === undefined) return { now: purchases, renewing: [whole.renewing] };
  const alone = purchases.map((one) => ({ one, making: make([one]) }));
  const now = alone.flatMap(({ one, making }) => (notSendable(making) === undefined ? [one] : []));
  const renewing = [whole, ...alone.map(({ making }) => making)].map((making) => making.renewing);
  return now.length === 0 ? { now: purchases, renewing } : { now, rest, renewing };
}

function notSendable({ made }: Making): Block | undefined {
  return "code" in made && made.code === "order.not-sendable" ? made : undefined;
}

export function countedParts(units: number, products: number, and = "and"): string {
  const some = counted(products, "product");
  return units === 0 ? some : `${counted(units, "asset")} ${and} ${some}`;
}

export function boughtText(purchases: readonly Purchase[]): string {
  const units = purchases.filter(({ standing }) => standing === undefined).length;
  const products = purchases.reduce((sum, item) => sum + item.products.length + item.packages.length, 0);
  return countedParts(units, products, "with");
}

export function purchasedAssets(purchases: readonly Purchase[]): PurchasedAsset[] {
  const idsOf = (items: readonly { id: string }[]): string[] => items.map(({ id }) => id);
  return grouped(purchases, ({ part, products, packages }) => [part.asset.id, idsOf(products), idsOf(packages)]).map(
    ([{ part, products, packages }, same]) => {
      return { ...part.asset, products, packages, quantity: same.length, units: same.map((one) => one.part.unit) };
    },
  );
}

/** New units with numbers from the CRM come first. */
export function newAssets(
  purchases: readonly Purchase[],
  renewed: MadePurchase["renewed"],
): DraftOperation<"amend-order">["after"]["assets"] {
  const fresh = purchases.filter(({ standing }) => standing === undefined);
  return grouped(fresh, ({ part }) => part.asset.id).map(
    ([
      {
        part: { asset },
      },
      items,
    ]) => {
      const sorted = items.toSorted(
        (one, other) => Number(one.part.given === undefined) - Number(other.part.given === undefined),
      );
      return {
        id: asset.id,
        licenseType: asset.licenseType,
        quantity: items.length,
        given: sorted.flatMap(({ part }) => part.given ?? []),
        units: sorted.map(({ part }) => part.unit),
        ...renewedIn(renewed, asset.id),
      };
    },
  );
}
