import type { Comparison } from "../reconciliation/case.ts";
import type { OrderForm } from "./order-form.ts";

/** A comparison, and how many units of it the CRM wants. */
export interface Fitted {
  comparison: Comparison;
  units: number;
}

/**
 * The parts of an order, of each product as many as the CRM wants: those that have no asset number yet stand in one
 * row, and of more than it wants the last ones are not wanted. Which of them really go is decided when the order is
 * amended.
 */
export function fitted(parts: readonly Comparison[], now: OrderForm | undefined): Fitted[] {
  const wanted = Map.groupBy(
    parts.filter(({ level, inCrm }) => level === "product" && inCrm),
    ({ item }) => item ?? "",
  );
  const known = new Map<string, Known>();
  return parts.flatMap((row): Fitted[] => {
    if (row.level !== "product" || !row.inCrm) return [{ comparison: row, units: 0 }];
    const product = now?.products.get(row.item ?? "");
    const all = wanted.get(row.item ?? "") ?? [];
    if (product === undefined) return [{ comparison: row, units: 1 }];
    const { quantity } = product;
    const given = new Set(now?.assets.get(product.assetId)?.assetNumbers);
    const { places, numbered } = known.get(product.id) ?? knownOf(all, given);
    known.set(product.id, { places, numbered });
    const unnumbered = quantity - numbered;
    if ((row.assetNumber ?? null) === null) return [{ comparison: row, units: Math.max(1, unnumbered) }];
    if ((places.get(row) ?? 0) >= quantity) return notWanted(row, quantity, all.length);
    const own = { comparison: row, units: 1 };
    const isLast = row === all.at(-1) && numbered === all.length;
    return isLast && unnumbered > 0 ? [own, lacking(row, quantity, unnumbered)] : [own];
  });
}

/** What is known of all units of a product. */
interface Known {
  /** Numbers that the CRM gives come first, then what is there, each as it was bought. */
  places: ReadonlyMap<Comparison, number>;
  /** How many have an asset number. */
  numbered: number;
}

function knownOf(all: readonly Comparison[], given: ReadonlySet<string>): Known {
  const rank = ({ assetNumber, sent }: Comparison): number => (given.has(assetNumber ?? "") ? 0 : sent ? 1 : 2);
  return {
    places: new Map(asBought(all, (one) => one, rank).map((row, place) => [row, place])),
    numbered: all.filter(({ assetNumber }) => (assetNumber ?? null) !== null).length,
  };
}

/** Units as they were bought, whatever numbers they have; those without a place among them come last. */
export function asBought<Item>(
  items: readonly Item[],
  comparisonOf: (item: Item) => Comparison,
  rank: (row: Comparison) => number = () => 0,
): Item[] {
  const place = ({ unit }: Comparison): number => unit ?? Number.MAX_SAFE_INTEGER;
  return items.toSorted((one, other) => {
    const [left, right] = [comparisonOf(one), comparisonOf(other)];
    return rank(left) - rank(right) || place(left) - place(right);
  });
}

function lacking(row: Comparison, quantity: number, units: number): Fitted {
  const details = [`the CRM wants ${quantity} of it, and ${units} have no asset number yet`];
  const comparison: Comparison = {
    ...row,
    verdict: "missing",
    licenseOrderId: undefined,
    // It is bought after those that are there.
    unit: undefined,
    assetNumber: null,
    sent: false,
    shown: null,
    finding: undefined,
    details,
  };
  return { comparison, units };
}

/** A unit beyond those that the CRM wants; one that was never sent is nothing at all. */
function notWanted(row: Comparison, quantity: number, there: number): Fitted[] {
  if (!row.sent && row.shown !== true) return [];
  const details = [`the CRM wants ${quantity} of it, and there are ${there}`, ...row.details];
  const verdict = row.shown === true ? "extra" : row.verdict;
  return [{ comparison: { ...row, inCrm: false, verdict, details }, units: 0 }];
}
