import type { ShownForm, ShownOrder } from "../../ledger/state/observations.ts";
import type { AssumptionSettings } from "../../contract/assumption-settings.ts";
import type { OrderWithTree } from "../../engine/desired.ts";
import { productsUnder } from "./order-standing.ts";
import type { PlannedProduct } from "./order-records.ts";
import { observedTerms } from "./order-terms.ts";
import { Limits } from "./removal-sight.ts";

/**
 * What the platform shows under the numbers of an order otherwise than its form in the CRM says, each in words: a
 * product in another form, under more asset numbers, or one that the order does not have. What M7 leaves empty, and a
 * limit of an unknown unit (A20), says nothing.
 */
export function otherThanWanted(
  { tree }: Pick<OrderWithTree, "tree">,
  shown: ShownOrder,
  settings: AssumptionSettings,
): string[] {
  const limits = new Limits(settings);
  const otherwise: string[] = [];
  const wanted = new Set<string>();
  for (const asset of tree.assets)
    for (const product of [...asset.products, ...asset.packages.flatMap(productsUnder)]) {
      wanted.add(product.id);
      const times = new Set(shown.products.get(product.id)).size;
      if (times > asset.quantity)
        otherwise.push(`the product ${product.id} is shown under ${times} asset numbers and not ${asset.quantity}`);
      for (const form of shown.forms.get(product.id) ?? []) {
        const fields = otherFields(form, product, limits);
        if (fields.length > 0) otherwise.push(`the product ${product.id} is shown with another ${fields.join(", ")}`);
      }
    }
  for (const id of shown.products.keys())
    if (!wanted.has(id)) otherwise.push(`the product ${id} is shown, and the order does not have it`);
  return otherwise;
}

/**
 * Products that are shown under one asset number by several purchases of an order, each in words. A unit has a product
 * once: the one is to be taken away still, and nobody knows which.
 */
export function shownTwice(purchases: readonly ShownOrder[]): string[] {
  const seen = new Set<string>();
  const twice = new Set<string>();
  for (const { products } of purchases)
    for (const [id, numbers] of products)
      for (const number of new Set(numbers)) {
        const named = `the product ${id} is shown more than once under the asset number ${number}`;
        if (seen.has(named)) twice.add(named);
        seen.add(named);
      }
  return [...twice];
}

/** What a person calls the terms that M7 shows, where that is not their name. */
const words: Readonly<Record<string, string>> = {
  uri: "product",
  nodes: "number of nodes",
  limitStart: "start",
  limitEnd: "end",
  trial: "trial mark",
};

function otherFields(form: ShownForm, product: PlannedProduct, limits: Limits): string[] {
  const terms = Object.entries(observedTerms(form, product, limits));
  return terms.flatMap(([name, is]) => (is === "other" || is === "unreadable" ? [words[name] ?? name] : []));
}
