import type { AssumptionSettings } from "../../contract/assumption-settings.ts";
import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { Desired, DesiredOrder, OrderWithTree } from "../../engine/model/desired.ts";
import type { Block } from "../../engine/plan/blocks.ts";
import type { ShownForm, ShownOrder } from "../../ledger/state/observations.ts";
import { productsOf } from "./model.ts";
import type { PlannedProduct } from "./payload.ts";
import { Limits, observedTerms } from "./terms.ts";

const mostNamed = 5;

function some(texts: readonly string[], between: "; " | ", "): string {
  const more = texts.length - mostNamed;
  return `${texts.slice(0, mostNamed).join(between)}${more > 0 ? `${between === "; " ? ";" : ""} and ${more} more` : ""}`;
}

/** Products that M7 does not show under as many asset numbers as wanted, in words; [] if it shows all. */
export function notShown(order: OrderWithTree, shown: ShownOrder): string[] {
  const { assets, faults } = order.tree;
  const [fault] = faults;
  if (fault !== undefined) return [`its lines cannot be compared: ${fault.message}`];
  const missing = assets.flatMap((asset) => {
    return productsOf(asset).flatMap(({ id }) => {
      const times = new Set(shown.products.get(id)).size;
      if (times >= asset.quantity) return [];
      return [asset.quantity === 1 ? id : `${id} (under ${times} of ${asset.quantity} asset numbers)`];
    });
  });
  const some = assets.some((asset) => asset.products.length + asset.packages.length > 0);
  return some ? missing : ["it has no product that could be compared"];
}

export function shownInPart(order: Desired<DesiredOrder>, channelOrderId: string, missing: readonly string[]): Block {
  const reason =
    `the platform shows only a part of the order ${formatKey(order.key)} (channel order number ${channelOrderId}), ` +
    "in an enterprise that crm-sync did not create, so crm-sync does not place the order again. Missing or not " +
    `comparable: ${some(missing, ", ")}`;
  return { code: "order.shown-in-part", reason, again: true };
}

export function shownInOtherForm(
  order: Desired<DesiredOrder>,
  channelOrderId: string,
  otherwise: readonly string[],
): Block {
  const reason =
    `the platform shows the order ${formatKey(order.key)} (channel order number ${channelOrderId}) in another form ` +
    "than the CRM, and this ledger did not place the order, so crm-sync does not place or amend it. " +
    `Differences: ${some(otherwise, "; ")}`;
  return { code: "order.shown-otherwise", reason, again: true };
}

export function amendedElsewhere(
  order: Desired<DesiredOrder>,
  channelOrderId: string,
  amendments: readonly { channelOrderId: string }[],
): Block {
  const numbers = amendments.slice(0, mostNamed).map((item) => item.channelOrderId);
  const reason =
    `the platform shows amendments of the order ${formatKey(order.key)} (channel order number ${channelOrderId}) ` +
    `that this ledger did not make: ${numbers.join(", ")}. Only \`crm-sync rebuild\` with a new, empty ledger ` +
    "reads the order and its amendments from the platform";
  return { code: "order.amended-elsewhere", reason, again: true };
}

export function shownAtAnother(
  order: Desired<DesiredOrder>,
  places: readonly { customer: RecordKey }[],
  otherwise: readonly string[],
): Block {
  const where = places.map(({ customer }) => formatKey(customer)).join(", ");
  const why =
    otherwise.length === 0
      ? "Only `crm-sync rebuild` with a new, empty ledger records that the order moved"
      : `The platform shows a difference there: ${some(otherwise, "; ")}. Change the order there to agree with the CRM, or ` +
        "remove it there; then rebuild again";
  const reason =
    `the platform shows the order ${formatKey(order.key)} in the enterprise of ${where}: it was placed there and ` +
    `then moved in the CRM. crm-sync does not place it a second time, even if somebody approves that. ${why}`;
  return { code: "order.shown-elsewhere", reason, again: true };
}

export function placedBefore(order: Desired<DesiredOrder>): Block {
  const reason =
    `the restored backup contains the order ${formatKey(order.key)} as placed, but the platform does not show the ` +
    "order now. crm-sync does not place it a second time";
  return { code: "order.placed-before-restore", reason, again: true };
}

export function maybeMoved(
  order: Desired<DesiredOrder>,
  { customer, why, count }: { customer: RecordKey; why: string; count: number },
): Block {
  const who = customer.namespace === "" ? "" : ` ${formatKey(customer)}`;
  const more = count > 1 ? ` (and ${count - 1} more)` : "";
  const reason =
    "the platform has licences that this ledger did not make, and crm-sync could not read all of them:" +
    `${who} ${why}${more}. The order ${formatKey(order.key)} may be placed there already, so crm-sync does not ` +
    "place it before it has read them, even if somebody approves that";
  return { code: "order.maybe-moved", reason, again: true };
}

export function maybeThere(
  order: Desired<DesiredOrder>,
  why: { bareAssets: readonly string[]; hiddenType: string | undefined; isMade: boolean },
): Block | undefined {
  const key = formatKey(order.key);
  const [bare] = why.bareAssets;
  if (bare !== undefined) {
    const { length } = why.bareAssets;
    const assets = length === 1 ? `the asset ${bare}` : `${length} assets (the first is ${bare})`;
    const reason =
      `crm-sync did not create this enterprise, and M7 shows ${assets} in it without any product or package. The ` +
      `order ${key} may be there already, so crm-sync does not place it (assumptions.emptyAssets, A43)`;
    return { code: "order.assets-ambiguous", reason, again: true };
  }
  if (why.hiddenType === undefined) return undefined;
  const reason =
    `${why.isMade ? "the ledger was rebuilt" : "crm-sync did not create this enterprise"}, and it is not known ` +
    `whether the platform shows licences of the type ${why.hiddenType}. The order ${key} may be there already, so ` +
    "crm-sync does not place it (assumptions.visibleLicenseTypes, A43)";
  return { code: "order.not-observable", reason, again: true };
}

/**
 * How M7 shows an order differently than the CRM, in words. Empty values and limits of unknown unit (A20) are skipped.
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
    for (const product of productsOf(asset)) {
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

/** Products that several purchases show under one asset number, in words. Nobody knows which one should go. */
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
