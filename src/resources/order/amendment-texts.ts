import { counted } from "../../report/text.ts";
import type { EndedPart, OrderDifference } from "./order-difference.ts";

/** "1 asset and 2 products", or the products alone. */
export function countedParts(units: number, products: number, and = "and"): string {
  const some = counted(products, "product");
  return units === 0 ? some : `${counted(units, "asset")} ${and} ${some}`;
}

/** How much goes: "1 asset and 2 products". */
export function partsText(parts: readonly Pick<EndedPart, "whole" | "products">[]): string {
  const products = parts.reduce((sum, part) => sum + part.products.length, 0);
  const units = parts.filter((part) => part.whole).length;
  return countedParts(units, products);
}

/** Names that changed, the first of them. */
export function wordingOf({ wording }: OrderDifference): string {
  const named = wording
    .slice(0, 3)
    .map(({ instanceId, field, from, to }) => `${field} of ${instanceId}: "${from}" is "${to}" now`);
  const more = wording.length > named.length ? `, and ${wording.length - named.length} more` : "";
  return `only words changed (${named.join("; ")}${more}), and no call changes them`;
}
