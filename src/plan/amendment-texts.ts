import type { EndedPart, OrderDifference } from "./order-difference.ts";

/** How much goes: "1 asset(s) and 2 product(s)". */
export function partsText(parts: readonly Pick<EndedPart, "whole" | "products">[]): string {
  const products = parts.reduce((sum, part) => sum + part.products.length, 0);
  const units = parts.filter((part) => part.whole).length;
  return units === 0 ? `${products} product(s)` : `${units} asset(s) and ${products} product(s)`;
}

/** Names that changed, the first of them. */
export function wordingOf({ wording }: OrderDifference): string {
  const named = wording
    .slice(0, 3)
    .map(({ instanceId, field, from, to }) => `${field} of ${instanceId}: "${from}" is "${to}" now`);
  const more = wording.length > named.length ? `, and ${wording.length - named.length} more` : "";
  return `only words changed (${named.join("; ")}${more}), and no call changes them`;
}
