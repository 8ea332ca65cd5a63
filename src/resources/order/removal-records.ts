import { formatKey } from "../../crm/keys.ts";
import type { DesiredCustomer } from "../../engine/desired.ts";
import type { DeletedProduct, DeleteRecord, Going } from "./deletion.ts";
import { amendmentReference } from "../../engine/references.ts";
import type { Endings } from "./order-difference.ts";
import { namedRows } from "./removal-calls.ts";
import type { Batch, GoingRow, Removal, RemovalKind, RemovalsGiven, Removing } from "./removal-parts.ts";
import type { Limits } from "./removal-sight.ts";
import type { Weight } from "../../engine/taking.ts";
import { weightOfRemoval } from "./removal-weight.ts";

/** An operation that takes these away by these records. */
export function removal(
  { given, settings, limits }: Removing,
  ending: Endings,
  kind: RemovalKind,
  batches: readonly Batch[],
  orderList: DeleteRecord[],
  reason = ending.what,
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

/** What counts as gone with the answer: what is named. What else of it goes along is seen by the next M7. */
function goingOf(batches: readonly Batch[], { known }: RemovalsGiven, limits: Limits): Going {
  const ours = new Set(known.assignments.map((item) => item.assetNumber));
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

/** What does not stand any more afterwards: of a unit of which nothing is wanted all that is left of it. */
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

/** The products of one asset number as a deletion names them: those that it cannot tell apart once. */
export function productsOf(rows: readonly GoingRow[], limits: Limits): DeletedProduct[] {
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

/** What a delete order says of the customer (A18). */
export function customerFields(
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
