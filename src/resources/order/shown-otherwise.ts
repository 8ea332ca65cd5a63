import type { ShownForm, ShownOrder } from "../../ledger/state/observations.ts";
import type { AssumptionSettings } from "../../contract/assumption-settings.ts";
import type { OrderWithTree } from "../../engine/desired.ts";
import { productsUnder } from "./order-standing.ts";
import type { PlannedProduct } from "./order-records.ts";
import { Limits, otherLimit } from "./removal-sight.ts";

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

function otherFields(form: ShownForm, product: PlannedProduct, limits: Limits): string[] {
  const uri = product.gmsPid ?? product.appKey;
  const uris = [form.productUri, form.gmsPid, form.appKey].filter((text) => text !== null && text !== "");
  const { term } = product;
  const differs: readonly (readonly [string, boolean])[] = [
    ["product", uri !== undefined && uris.length > 0 && !uris.includes(uri)],
    ["number of nodes", form.limitConcurrent !== null && form.limitConcurrent !== product.nodes],
    ["start", otherLimit("limitStartTime", form.limitStartTime, product.limitStart, limits) !== undefined],
    ["end", otherLimit("limitEndTime", form.limitEndTime, product.limitEnd, limits) !== undefined],
    ["trial mark", form.trial !== null && (form.trial === 1) !== product.trial],
    ["term", (form.timeDurationExpression ?? "") !== "" && form.timeDurationExpression !== term],
  ];
  return differs.flatMap(([name, is]) => (is ? [name] : []));
}
