import type { Desired, DesiredStaff } from "../../engine/model/desired.ts";
import type { Known } from "../../engine/model/state.ts";
import type { OrderStanding, StandingProduct, StandingUnit } from "./model.ts";

/** What decides which units of an asset stay if there are too many. */
interface Deciding {
  /** Asset numbers that the CRM gives the asset. */
  given: ReadonlySet<string>;
  /** Asset numbers that the CRM names for people. */
  named: ReadonlySet<string>;
  /** Asset numbers that somebody holds. */
  held: ReadonlySet<string>;
  /** Products of a unit that are as the CRM wants them, and how much it lacks. */
  contentsOf: (unit: StandingUnit) => { wanted: readonly StandingProduct[]; lacking: number };
  /** All that was ever bought in a unit, each as `boughtName` has it. */
  purchasesOf: (unit: StandingUnit) => ReadonlySet<string>;
}

/**
 * The units of an asset, first those that stay if there are too many: those whose number the CRM gives, those of unknown
 * number if it gives any, those whose number it names for a person, those into which something was bought that another
 * unit would need too (so that it is not bought again when somebody leaves), those that lack less, held ones, lower ones.
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

/** How many wanted products of each unit came by a purchase that left out another unit, which lacks them. */
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

/** The asset numbers that somebody holds by our doing. */
export function heldNumbers({ assignments }: Pick<Known, "assignments">): Set<string> {
  return new Set(assignments.map(({ assetNumber }) => assetNumber));
}

/** The asset numbers that the CRM names for people. */
export function namedNumbers(staff: readonly Desired<DesiredStaff>[]): Set<string> {
  const current = staff.filter(({ state }) => state !== "absent");
  return new Set(
    current.flatMap(({ body }) => body.assets.flatMap((claim) => ("assetNumber" in claim ? [claim.assetNumber] : []))),
  );
}

/** All that was ever bought in each unit, by its name; it may have ended. */
export function purchasesIn({ units, ended }: OrderStanding): ReadonlyMap<string, ReadonlySet<string>> {
  const all = [
    ...units.flatMap((unit) => unit.products.map((standing) => ({ unit, standing }))),
    ...ended.map(({ unit, standing }) => ({ unit, standing })),
  ];
  const byUnit = Map.groupBy(all, ({ unit }) => nameOf(unit));
  return new Map([...byUnit].map(([name, one]) => [name, new Set(one.map(({ standing }) => boughtName(standing)))]));
}

/** With its number: the index of a unit that ended is used again. */
export function nameOf({ instanceId, unit, number }: Pick<StandingUnit, "instanceId" | "unit" | "number">): string {
  return JSON.stringify([instanceId, unit, number ?? null]);
}
