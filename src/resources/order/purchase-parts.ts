import { counted } from "../../report/text.ts";
import type { RenewedUnit } from "../../engine/model/references.ts";
import type { OrderWithTree } from "../../engine/model/desired.ts";
import type { DraftOperation } from "../../engine/model/operation.ts";
import type { StandingUnit } from "./model.ts";
import type { Block } from "../../engine/plan/records.ts";
import { grouped } from "../../base/lists.ts";
import type { AddedPart, ReplacedPart } from "./difference.ts";
import { renewedIn, type PlannedPackage, type PlannedProduct, type PurchasedAsset } from "./records.ts";
import type { Renewing } from "./renewals.ts";

/** What an E5 says of a purchase, and the units of it that continue earlier ones, by asset instance. */
export interface MadePurchase {
  payload: Omit<DraftOperation<"place-order">["payload"], "channelOrderId">;
  renewed: ReadonlyMap<string, RenewedUnit[]>;
}

/** What an E5 says, or why it cannot be made as it has to be; and what of earlier units it takes either way. */
export interface Making {
  made: MadePurchase | Block;
  renewing: Renewing;
}

/** Makes what an E5 says of these assets of an order. */
export type PurchaseMaker = (order: OrderWithTree, assets: readonly PurchasedAsset[]) => Making;

/** What is bought under the number of one unit. */
export interface Purchase {
  part: Pick<AddedPart, "asset" | "unit" | "given">;
  standing: StandingUnit | undefined;
  products: PlannedProduct[];
  packages: PlannedPackage[];
}

/** What is bought under each number: what is added, and the new form of what is replaced. */
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
 * What of several purchases is bought now, where not all of it can be sent as it has to be, such as a package that
 * would go alone into an asset (A23): all that can be by itself. `rest`: why the others are not. Where nothing can be,
 * or something else keeps it, all of it goes as one.
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

/** "1 asset and 2 products", or the products alone. */
export function countedParts(units: number, products: number, and = "and"): string {
  const some = counted(products, "product");
  return units === 0 ? some : `${counted(units, "asset")} ${and} ${some}`;
}

/** How much is bought, in words. */
export function boughtText(purchases: readonly Purchase[]): string {
  const units = purchases.filter(({ standing }) => standing === undefined).length;
  const products = purchases.reduce((sum, item) => sum + item.products.length + item.packages.length, 0);
  return countedParts(units, products, "with");
}

/** Units of one asset that get the same things are one asset of the payload. */
export function purchasedAssets(purchases: readonly Purchase[]): PurchasedAsset[] {
  const idsOf = (items: readonly { id: string }[]): string[] => items.map(({ id }) => id);
  return grouped(purchases, ({ part, products, packages }) => [part.asset.id, idsOf(products), idsOf(packages)]).map(
    ([{ part, products, packages }, same]) => {
      return { ...part.asset, products, packages, quantity: same.length, units: same.map((one) => one.part.unit) };
    },
  );
}

/** The asset instances whose new units need numbers; those that the CRM gave stand first. */
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
