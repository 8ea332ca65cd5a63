import { type AssumptionSettings, missingAssumptions } from "../../contract/assumption-settings.ts";
import type { ProductInstance } from "../../contract/asset-contents.ts";
import { formatKey } from "../../crm/keys.ts";
import type { DesiredCustomer } from "../../engine/model/desired.ts";
import type { DeletedProduct, DeleteRecord, Going } from "./deletion.ts";
import type { Policies } from "../../engine/model/policy-settings.ts";
import { amendmentReference } from "../../engine/model/references.ts";
import type { Weight } from "../../engine/model/operation.ts";
import type { Block } from "../../engine/plan/blocks.ts";
import { grouped } from "../../base/lists.ts";
import { heldNumbers } from "./units-that-stay.ts";
import { assumptionMissing, unknownCustomer } from "./payload.ts";
import {
  callsOf,
  namedRows,
  weightOfRemoval,
  type RemovalCall,
  type Batch,
  type GoingRow,
  type Removal,
  type RemovalKind,
  type RemovalPart,
  type RemovalsGiven,
  type Removing,
} from "./removal-parts.ts";
import type { Limits } from "./terms.ts";

export function deletionsOf(
  removing: Removing,
  parts: readonly RemovalPart[],
  policies: Policies,
): { meant: Removal[]; blocks: Block[] } {
  const { given, settings, limits } = removing;
  if (parts.length === 0) return { meant: [], blocks: [] };
  const body = given.desiredCustomer?.body;
  const lacking = body === undefined ? unknownCustomer : lackingOf(body, settings);
  if (body === undefined || lacking !== undefined) return { meant: [], blocks: lacking === undefined ? [] : [lacking] };
  const everywheres = parts.flatMap((part) =>
    part.rows.filter((item) => !item.isOwned).map((item) => everywhere(removing, body, part, item)),
  );
  const calls = callsOf(parts, policies, limits).map((call) => deletion(removing, body, call));
  const [missing] = missingAssumptions(settings, "E5", limits.uses);
  if (missing !== undefined) return { meant: [], blocks: [assumptionMissing(missing)] };
  return {
    meant: [...everywheres.flatMap((made) => ("code" in made ? [] : made)), ...calls],
    blocks: everywheres.flatMap((made) => ("code" in made ? made : [])),
  };
}

const listedFields = ["adminName", "adminAccount", "adminEmail", "adminMobile"] as const;
const fullFields = [...listedFields, "purchaserMobile", "address"] as const;

function lackingOf(body: DesiredCustomer, { deleteShape }: AssumptionSettings): Block | undefined {
  const lacking = (deleteShape === "full" ? fullFields : listedFields).filter((field) => body[field] === undefined);
  if (lacking.length === 0) return undefined;
  const reason = `nothing can be deleted for the customer yet: the CRM gives no ${lacking.join(", ")}`;
  return { code: "customer.not-orderable", reason, again: true };
}

function deletion(removing: Removing, body: DesiredCustomer, { ending, packaged, batches }: RemovalCall): Removal {
  const { settings } = removing;
  const takesAssets = batches.some((batch) => batch.asset);
  const kind = packaged ? "delete-package-products" : takesAssets ? "delete-assets" : "delete-products";
  // A record names the asset number of two units only once.
  const named = grouped(batches, (batch) => batch.number).flatMap(([first, own]) => {
    const rows = own.flatMap((batch) => batch.rows);
    return recordsOf(removing, body, first, rows);
  });
  const nameOf = ({ orderType, licenseType, srcLicenseOrderId }: (typeof named)[number]): string =>
    JSON.stringify([orderType, licenseType, srcLicenseOrderId]);
  const orderList = grouped(named, nameOf)
    .map(([first, same]) => ({ ...first, assets: same.flatMap(({ assets }) => assets) }))
    .toSorted((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1))
    .map((record, index) => ({ ...record, sequence: settings.sequenceBase + index }));
  return removal(removing, { ending, kind, batches, orderList });
}

function recordsOf(
  removing: Removing,
  body: DesiredCustomer,
  { unit: { licenseType }, number, asset }: Batch,
  rows: readonly GoingRow[],
): Omit<DeleteRecord, "sequence">[] {
  return [...Map.groupBy(rows, ({ row }) => row.licenseOrderId ?? "")].map(([srcLicenseOrderId, own]) => ({
    ...customerFields(removing, body, licenseType),
    srcLicenseOrderId,
    licenseType,
    orderType: asset ? "delete_asset" : "delete_product",
    assets: [asset ? { assetNos: [number] } : { assetNos: [number], products: productsOf(own, removing.limits) }],
  }));
}

interface Deletion extends Pick<RemovalCall, "ending" | "batches"> {
  kind: RemovalKind;
  orderList: DeleteRecord[];
  reason?: string;
}

function removal(
  { given, settings, limits }: Removing,
  { ending, kind, batches, orderList, reason = ending.what }: Deletion,
): Removal & { weight: Weight } {
  const { order } = ending.order;
  const placed = given.known.placedOrders.get(formatKey(order));
  const weight = weightOfRemoval(batches, given, limits);
  return {
    kind,
    customer: given.customer,
    subject: `order:${formatKey(order)}`,
    records: [{ stream: "orders", ...order }],
    target: {},
    payload: {
      channelCode: settings.channelCode ?? "",
      channelOrderId: amendmentReference(order),
      syncMode: settings.syncMode,
      orderList,
    },
    reason,
    before: null,
    after: {
      ...goingOf(batches, given, limits),
      counted: weight.products,
      lastStep: ending.order.lastStep,
      agreed: placed?.agreedHash ?? null,
    },
    policy: ending.why,
    needs: ending.needs,
    weight,
  };
}

/** Counts only named products as removed. The next M7 shows what else went. */
function goingOf(batches: readonly Batch[], { known }: RemovalsGiven, limits: Limits): Going {
  const ours = heldNumbers(known);
  return {
    items: batches.flatMap((batch) => itemsOf(batch, limits)),
    products: batches.flatMap(({ reading, rows, asset }) =>
      (asset ? rows.filter((item) => item.isRepeated !== true) : namedRows(rows, limits)).map(({ row, standing }) => ({
        assetId: reading.asset.assetId,
        crmProductId: standing.product.id,
        licenseOrderId: row.licenseOrderId,
      })),
    ),
    held: batches.flatMap(({ asset, number }) => (asset && ours.has(number) ? [number] : [])),
  };
}

function itemsOf(
  { unit: { instanceId, unit }, number, shared, asset, reading, rows, ends }: Batch,
  limits: Limits,
): Going["items"] {
  const where = { instanceId, unit, number, assetId: reading.asset.assetId };
  if (asset || ends) {
    const whole = { ...where, product: null, channelOrderId: null, licenseOrderId: null };
    return [shared ? { ...whole, shared } : whole];
  }
  return namedRows(rows, limits).map(({ row, standing }) => ({
    ...where,
    product: standing.product.id,
    channelOrderId: standing.channelOrderId,
    licenseOrderId: row.licenseOrderId,
  }));
}

function productsOf(rows: readonly GoingRow[], limits: Limits): DeletedProduct[] {
  return namedRows(rows, limits).map(({ row, standing }) => {
    const start = limits.shown(row.limitStartTime);
    const end = limits.shown(row.limitEndTime);
    const product: DeletedProduct = {
      crmProductId: standing.product.id,
      productUri: row.productUri ?? "",
      limitConcurrent: row.limitConcurrent ?? 0,
      strictMatchWhenDelete: true,
    };
    if ("wire" in start && start.wire !== undefined) product.limitStartDate = start.wire;
    if ("wire" in end && end.wire !== undefined) product.limitEndDate = end.wire;
    return product;
  });
}

function customerFields(
  { given: { numbers, known }, settings }: Removing,
  body: DesiredCustomer,
  licenseType: string,
): Omit<DeleteRecord, "sequence" | "srcLicenseOrderId" | "licenseType" | "orderType" | "assets"> {
  const full =
    settings.deleteShape === "full"
      ? {
          customerId: { $ref: "customerId" as const, of: licenseType },
          crmCustomerId: numbers.crmCustomerId,
          passwordMobile: body.purchaserMobile,
          address: body.address,
        }
      : {};
  return {
    ...full,
    customerName: body.name,
    channelCustomerId: known.link?.channelCustomerId ?? numbers.channelCustomerId,
    adminName: body.adminName,
    adminAccount: body.adminAccount,
    adminEmail: body.adminEmail,
    adminCellNumber: body.adminMobile,
    customerType: body.customerType,
    branchCode: body.branchCode,
    branchName: body.branchName,
    enterpriseGlobalId: { $ref: "enterpriseGlobalId" },
  };
}

interface Shown {
  number: string;
  row: ProductInstance;
}

/**
 * A deletion from all orders of the customer, because nobody knows the licence order. A person approves it and sees
 * what
 * else it removes. Never for a cloud type (A19), and never if it would remove a wanted product.
 */
function everywhere(removing: Removing, body: DesiredCustomer, part: RemovalPart, item: GoingRow): Removal | Block {
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
  const { ending } = part;
  const kind = "delete-everywhere";
  const made = removal(removing, { ending, kind, batches: [batch], orderList: [record], reason });
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

function notEverywhere({ given, settings, buys }: Removing, licenseType: string, unknown: string): Block | undefined {
  if (settings.cloudTypes.some((type) => type === licenseType)) {
    const reason =
      `${unknown}, but a deletion of the licence type ${licenseType} must name the licence order (A19). A person must ` +
      "remove the product on the platform";
    return { code: "order.not-shown", reason, again: true };
  }
  const why =
    given.observed.allContents !== true
      ? ", and crm-sync did not read all assets"
      : buys
        ? ". A purchase of this customer is in progress, and the deletion could also remove that purchase"
        : undefined;
  return why === undefined ? undefined : { code: "order.contents-not-read", reason: `${unknown}${why}`, again: true };
}

function othersLike({ given, limits }: Removing, row: ProductInstance): Shown[] {
  const matched = limits.matched(row);
  return [...(given.observed.contents ?? [])].flatMap(([number, { products }]) =>
    products
      .filter((other) => other !== row && limits.matched(other) === matched)
      .map((other) => ({ number, row: other })),
  );
}

function isWanted({ given: { known }, unwanted }: Removing, { number, row }: Shown): boolean {
  if (unwanted.has(unwantedName(number, row))) return false;
  const isOurs = known.numbers.some((fixed) => fixed.number === number);
  return isOurs || [...known.placedOrders.values()].some(({ channelOrderId }) => channelOrderId === row.channelOrderId);
}

export function unwantedName(
  number: string,
  { crmProductId, channelOrderId }: Pick<ProductInstance, "crmProductId" | "channelOrderId">,
): string {
  return JSON.stringify([number, crmProductId ?? null, channelOrderId ?? null]);
}

function textOf({ number, row }: Shown): string {
  return `${row.crmProductId ?? "a product"} under ${number} (channel order ${row.channelOrderId ?? "unknown"})`;
}
