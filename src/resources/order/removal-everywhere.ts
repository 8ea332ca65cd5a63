import type { ProductInstance } from "../../contract/asset-contents.ts";
import type { DesiredCustomer } from "../../engine/desired.ts";
import type { Block } from "../../engine/plan/block.ts";
import type { GoingRow, Removal, RemovalPart, Removing } from "./removal-parts.ts";
import { customerFields, productsOf, removal } from "./removal-records.ts";

/** A product that M7 shows under an asset number. */
interface Shown {
  number: string;
  row: ProductInstance;
}

/**
 * A deletion out of all orders of the customer, since neither M7 nor the ledger knows the licence order: a person
 * approves this very one, and is told what else it would take; where it would take something else, or something that is
 * wanted, it is another one, or none. Never of a cloud type, whose deletion has to name its licence order (A19).
 */
export function everywhere(
  removing: Removing,
  body: DesiredCustomer,
  part: RemovalPart,
  item: GoingRow,
): Removal | Block {
  const { settings, limits } = removing;
  const { licenseType } = part.unit;
  const { id } = item.standing.product;
  const unknown = `the licence order of the product ${id} is not known, and the platform does not show it`;
  const blocked = notEverywhere(removing, licenseType, unknown);
  if (blocked !== undefined) return blocked;
  const others = othersLike(removing, item.row);
  const wanted = others.find((other) => isWanted(removing, other));
  if (wanted !== undefined) {
    const reason =
      `${unknown}. A deletion in all orders of the customer would also remove ${textOf(wanted)}, which must stay. ` +
      `Remove only ${id} under ${part.number} on the platform`;
    return { code: "order.twin-product", reason, again: true };
  }
  const named = others.map(textOf).sort();
  const also =
    named.length === 0 ? "M7 shows nothing else that this would delete" : `this would also delete ${named.join(", ")}`;
  const reason = `${unknown}, so crm-sync can only delete the product in all orders of the customer; ${also}`;
  const record = {
    sequence: settings.sequenceBase,
    ...customerFields(removing, body, licenseType),
    srcLicenseOrderId: "",
    licenseType,
    orderType: "delete_product" as const,
    assets: [{ assetNos: [part.number], products: productsOf([item], limits) }],
  };
  const batch = { ...part, rows: [item], asset: false, ends: false };
  const made = removal(removing, part.ending, "delete-everywhere", [batch], [record], reason);
  const { weight } = made;
  const nodes = others.reduce((sum, { row }) => sum + (row.limitConcurrent ?? 0), weight.nodes);
  const products = weight.products + others.length;
  return {
    ...made,
    before: { also: named },
    after: { ...made.after, counted: products },
    weight: { ...weight, products, nodes },
  };
}

/** Why nothing goes out of all orders now. */
function notEverywhere({ given, settings, buys }: Removing, licenseType: string, unknown: string): Block | undefined {
  if (settings.cloudTypes.some((type) => type === licenseType)) {
    const reason =
      `${unknown}, but a deletion of the licence type ${licenseType} must name the licence order (A19). A person must ` +
      "remove the product on the platform";
    return { code: "order.not-shown", reason, again: true };
  }
  const reason = given.observed.allContents === true ? undefined : `${unknown}, and crm-sync did not read all assets`;
  if (reason !== undefined) return { code: "order.contents-not-read", reason, again: true };
  if (!buys) return undefined;
  return {
    code: "order.contents-not-read",
    reason: `${unknown}. A purchase of this customer is in progress, and the deletion could also remove that purchase`,
    again: true,
  };
}

function othersLike({ given, limits }: Removing, row: ProductInstance): Shown[] {
  const matched = limits.matched(row);
  return [...(given.observed.contents ?? [])].flatMap(([number, { products }]) =>
    products
      .filter((other) => other !== row && limits.matched(other) === matched)
      .map((other) => ({ number, row: other })),
  );
}

/** Whether it stands by our doing, and nobody says that it is to go. */
function isWanted({ given: { known }, unwanted }: Removing, { number, row }: Shown): boolean {
  if (unwanted.has(unwantedName(number, row))) return false;
  const isOurs = known.numbers.some((fixed) => fixed.number === number);
  return isOurs || [...known.placedOrders.values()].some(({ channelOrderId }) => channelOrderId === row.channelOrderId);
}

/** Names a product by one purchase under an asset number. */
export function unwantedName(
  number: string,
  { crmProductId, channelOrderId }: Pick<ProductInstance, "crmProductId" | "channelOrderId">,
): string {
  return JSON.stringify([number, crmProductId ?? null, channelOrderId ?? null]);
}

function textOf({ number, row }: Shown): string {
  return `${row.crmProductId ?? "a product"} under ${number} (channel order ${row.channelOrderId ?? "unknown"})`;
}
