import { counted } from "../../report/text.ts";
import type { StandingUnit } from "./model.ts";
import type { AssetReading } from "../../platform/snapshot.ts";
import { pairs } from "./grouped.ts";
import { isRowOf } from "./terms.ts";

/**
 * The asset numbers of units of one instance whose numbers the ledger does not know, by what M7 shows of the whole
 * enterprise ((M6 ∪ E8) → M7): so many numbers that no other unit has hold all that was bought of such a unit as there
 * are units, and nothing of it is shown under any other. Which unit has which of them makes no difference, since all of
 * them hold the same. `doubt`: why that is not so, in words.
 */
export function numbersShown(
  units: readonly StandingUnit[],
  taken: ReadonlySet<string>,
  contents: ReadonlyMap<string, AssetReading>,
): { numbers: ReadonlyMap<StandingUnit, string> } | { doubt: string } {
  const [first] = units;
  if (first === undefined || first.products.length === 0) return { doubt: "it has no product left that M7 could show" };
  const names = namesOf(first);
  if (units.some((unit) => namesOf(unit) !== names)) return { doubt: "its units do not hold the same" };
  const showing = [...contents].filter(
    ([number, { products }]) =>
      !taken.has(number) && first.products.some((standing) => products.some((row) => isRowOf(row, standing))),
  );
  const whole = showing
    .filter(([, { products }]) => first.products.every((standing) => products.some((row) => isRowOf(row, standing))))
    .map(([number]) => number)
    .toSorted();
  if (whole.length !== showing.length || whole.length !== units.length) {
    const doubt =
      `${counted(units.length, "unit")} should exist, and M7 shows all of one under ` +
      `${counted(whole.length, "asset number")} and a part under ${counted(showing.length - whole.length, "other")}`;
    return { doubt };
  }
  return { numbers: new Map(pairs(units, whole)) };
}

function namesOf({ products }: StandingUnit): string {
  return products
    .map(({ product, channelOrderId }) => JSON.stringify([product.id, channelOrderId]))
    .toSorted()
    .join();
}
