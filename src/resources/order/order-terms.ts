import { canonicalJson, toJson } from "../../base/canonical-json.ts";
import { productsUnder } from "./order-standing.ts";
import type { PlannedPackage, PlannedProduct } from "./order-records.ts";

/** What a product is: two that differ in none of it are the same one, whatever they are called and cost. */
export function productTerms({ name: _name, amount: _amount, passwords, features, ...terms }: PlannedProduct): object {
  return {
    ...terms,
    // Which version of the record holds them says nothing about what they are.
    passwords: passwords?.commitment,
    features: features.map(({ name: _called, ...feature }) => feature),
  };
}

/**
 * The products of a package that stand and that the wanted one has no more, with those of lower packages; undefined
 * where anything else differs. Products can be taken out of a package (A42), and nothing can be put into it.
 */
export function endedIn(
  { name: _name, products, children, ...terms }: PlannedPackage,
  wanted: PlannedPackage,
  stands: ReadonlySet<string>,
): string[] | undefined {
  const { name: _called, products: wantedProducts, children: wantedChildren, ...wantedTerms } = wanted;
  if (!isSame(terms, wantedTerms)) return undefined;
  const isHere = (product: PlannedProduct): boolean =>
    stands.has(product.id) &&
    products.some((one) => one.id === product.id && isSame(productTerms(one), productTerms(product)));
  if (!wantedProducts.every(isHere)) return undefined;
  const inChildren = wantedChildren.map((child) => {
    const stood = children.find(({ id }) => id === child.id);
    return stood === undefined ? undefined : endedIn(stood, child, stands);
  });
  if (inChildren.includes(undefined)) return undefined;
  const gone = children.filter(({ id }) => !wantedChildren.some((child) => child.id === id));
  const ended = [...products, ...gone.flatMap(productsUnder)].filter(
    ({ id }) => stands.has(id) && !wantedProducts.some((product) => product.id === id),
  );
  return [...ended.map(({ id }) => id), ...inChildren.flatMap((ids) => ids ?? [])];
}

/** Names of the fields that differ. */
export function changedFields(before: object, after: object): string[] {
  const one = new Map(Object.entries(before));
  const other = new Map(Object.entries(after));
  return [...new Set([...one.keys(), ...other.keys()])].filter((name) => !isSame(one.get(name), other.get(name)));
}

/** Whether two values are the same as JSON. */
export function isSame(one: unknown, other: unknown): boolean {
  return one === undefined || other === undefined
    ? one === other
    : canonicalJson(toJson(one)) === canonicalJson(toJson(other));
}
