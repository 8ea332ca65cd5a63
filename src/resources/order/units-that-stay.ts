import type { Desired, DesiredStaff } from "../../engine/model/desired.ts";
import type { Known } from "../../engine/model/state.ts";
import type { OrderStanding, StandingProduct, StandingUnit } from "./model.ts";

interface Deciding {
  given: ReadonlySet<string>;
  named: ReadonlySet<string>;
  held: ReadonlySet<string>;
  /** `wanted`: products that match the CRM; `lacking`: how many are missing. */
  contentsOf: (unit: StandingUnit) => { wanted: readonly StandingProduct[]; lacking: number };
  /** Everything ever bought in the unit, by `boughtName`. */
  purchasesOf: (unit: StandingUnit) => ReadonlySet<string>;
}

/**
 * Sorts the units of an asset: if there are too many, the first ones stay. The first rule that decides counts:
 * 1. The CRM gives the number. 2. The CRM gives numbers, and this unit's number is unknown.
 * 3. The CRM names the number for a person. 4. Something was bought for this unit alone; another unit would need it
 * again, and it must not be bought twice because a person leaves. 5. Less is missing. 6. It is held. 7. Lower index.
 */
export function inOrderToStay(units: readonly StandingUnit[], deciding: Deciding): StandingUnit[] {
  const { given, named, held } = deciding;
  const contents = new Map(units.map((unit) => [unit, deciding.contentsOf(unit)]));
  const bought = boughtForOne(contents, deciding);
  const ranks = new Map(
    units.map((unit) => {
      const { number } = unit;
      const isIn = (numbers: ReadonlySet<string>): boolean => number !== undefined && numbers.has(number);
      const places = [isIn(given), number === undefined && given.size > 0, isIn(named), true];
      const lacking = contents.get(unit)?.lacking ?? 0;
      return [unit, [places.indexOf(true), -(bought.get(unit) ?? 0), lacking, isIn(held) ? 0 : 1, unit.unit]];
    }),
  );
  const rankOf = (unit: StandingUnit): readonly number[] => ranks.get(unit) ?? [];
  return units.toSorted((one, other) => compareRanks(rankOf(one), rankOf(other)));
}

function compareRanks(one: readonly number[], other: readonly number[]): number {
  const at = one.findIndex((rank, index) => rank !== other[index]);
  return at < 0 ? 0 : (one[at] ?? 0) - (other[at] ?? 0);
}

/** For each unit: how many of its wanted products another unit lacks and did not get by the same purchase. */
function boughtForOne(
  contents: ReadonlyMap<StandingUnit, { wanted: readonly StandingProduct[] }>,
  { purchasesOf }: Pick<Deciding, "purchasesOf">,
): ReadonlyMap<StandingUnit, number> {
  const units = [...contents].map(([unit, { wanted }]) => {
    return { bought: purchasesOf(unit), ids: new Set(wanted.map(({ product }) => product.id)) };
  });
  const leftOut = new Map<string, boolean>();
  const leavesOneOut = (one: StandingProduct): boolean => {
    const name = boughtName(one);
    const found = leftOut.get(name) ?? units.some(({ bought, ids }) => !ids.has(one.product.id) && !bought.has(name));
    leftOut.set(name, found);
    return found;
  };
  return new Map([...contents].map(([unit, { wanted }]) => [unit, wanted.filter(leavesOneOut).length]));
}

function boughtName({ product, channelOrderId }: StandingProduct): string {
  return JSON.stringify([channelOrderId, product.id]);
}

export function heldNumbers({ assignments }: Pick<Known, "assignments">): Set<string> {
  return new Set(assignments.map(({ assetNumber }) => assetNumber));
}

export function namedNumbers(staff: readonly Desired<DesiredStaff>[]): Set<string> {
  const current = staff.filter(({ state }) => state !== "absent");
  return new Set(
    current.flatMap(({ body }) => body.assets.flatMap((claim) => ("assetNumber" in claim ? [claim.assetNumber] : []))),
  );
}

export function purchasesIn({ units, ended }: OrderStanding): ReadonlyMap<string, ReadonlySet<string>> {
  const all = [
    ...units.flatMap((unit) => unit.products.map((standing) => ({ unit, standing }))),
    ...ended.map(({ unit, standing }) => ({ unit, standing })),
  ];
  const byUnit = Map.groupBy(all, ({ unit }) => nameOf(unit));
  return new Map([...byUnit].map(([name, one]) => [name, new Set(one.map(({ standing }) => boughtName(standing)))]));
}

/** Includes the number, because the index of an ended unit is used again. */
export function nameOf({ instanceId, unit, number }: Pick<StandingUnit, "instanceId" | "unit" | "number">): string {
  return JSON.stringify([instanceId, unit, number ?? null]);
}
