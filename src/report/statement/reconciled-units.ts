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
  return parts.flatMap((row): Fitted[] => {
    if (row.level !== "product" || !row.inCrm) return [{ comparison: row, units: 0 }];
    const product = now?.products.get(row.item ?? "");
    const all = wanted.get(row.item ?? "") ?? [];
    if (product === undefined) return [{ comparison: row, units: 1 }];
    const { quantity } = product;
    const unnumbered = quantity - all.filter(({ assetNumber }) => (assetNumber ?? null) !== null).length;
    if ((row.assetNumber ?? null) === null) return [{ comparison: row, units: Math.max(1, unnumbered) }];
    const given = new Set(now?.assets.get(product.assetId)?.assetNumbers);
    const place = rankOf(row, all, given);
    if (place >= quantity) return notWanted(row, quantity, all.length);
    const own = { comparison: row, units: 1 };
    const isLast = row === all.at(-1) && all.every(({ assetNumber }) => (assetNumber ?? null) !== null);
    return isLast && unnumbered > 0 ? [own, lacking(row, quantity, unnumbered)] : [own];
  });
}

/** The place of a unit among those of its product: numbers that the CRM gives come first, then what is there. */
function rankOf(row: Comparison, all: readonly Comparison[], given: ReadonlySet<string>): number {
  const rank = ({ assetNumber, sent }: Comparison): number => (given.has(assetNumber ?? "") ? 0 : sent ? 1 : 2);
  return all.filter((one) => rank(one) < rank(row) || (rank(one) === rank(row) && all.indexOf(one) < all.indexOf(row)))
    .length;
}

function lacking(row: Comparison, quantity: number, units: number): Fitted {
  const details = [`the CRM wants ${quantity} of it, and ${units} have no asset number yet`];
  const comparison: Comparison = {
    ...row,
    verdict: "missing",
    licenseOrderId: undefined,
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
