import { isAsync, productsInAsset, type AssetRecord, type OrderShapes, type ProductRecord } from "./shapes.ts";
import type { AssumptionMet, Resting } from "../../engine/model/assumptions-met.ts";

/** The contract calls the authorization of these licence types a cloud one (A39). */
const cloudPrefix = "cloud_";

export function restsOfOrder({
  orderList,
  syncMode,
}: Pick<OrderShapes["payload"], "orderList" | "syncMode">): Resting[] {
  const rests = new Map<string, Resting>();
  const add = (rest: Resting): void => void rests.set(`${rest.row} ${rest.about ?? ""}`, rest);
  if (isAsync({ syncMode })) add({ row: "A15" });
  add({ row: "A17" });
  if (orderList.length > 1) add({ row: "A16" });
  for (const { licenseType, assets } of orderList) {
    add({ row: "A12", about: licenseType, fields: ["customerId"] });
    if (licenseType.startsWith(cloudPrefix)) add({ row: "A39", about: licenseType, fields: ["srcLicenseOrderId"] });
    for (const asset of assets) for (const rest of restsOfAsset(asset)) add(rest);
  }
  return [...rests.values()];
}

/** Fields in rejections of packages (A23) and of their parents (A24). */
const packageFields = ["products", "merchandises", "licenseOrderProductList"];
const parentFields = ["parentCrmProductId", "parentMerchandiseNum"];

function restsOfAsset(asset: AssetRecord): Resting[] {
  const packages = [
    { row: "A23" as const, fields: packageFields },
    { row: "A24" as const, fields: parentFields },
  ];
  return [
    ...((asset.merchandises ?? []).length === 0 ? [] : packages),
    ...restsOfLimits("assets", asset),
    ...productsInAsset(asset).flatMap(restsOfProduct),
  ];
}

export function restsOfLimits(
  of: "assets" | "products",
  { limitStartDate, limitEndDate }: Pick<ProductRecord, "limitStartDate" | "limitEndDate">,
): Resting[] {
  if (limitStartDate === undefined && limitEndDate === undefined) return [];
  return [{ row: "A20", about: `limits of ${of}`, fields: ["limitStartDate", "limitEndDate"] }];
}

function restsOfProduct(product: ProductRecord): Resting[] {
  const { trial, timeUnit, productType } = product;
  return [
    { row: "A22", about: `timeUnit ${timeUnit}`, fields: ["timeUnit"] },
    { row: "A22", about: `productType ${productType}`, fields: ["productType"] },
    { row: "A21", about: "limitTimeDuration", fields: ["limitTimeDuration"] },
    ...(trial === 0
      ? [{ row: "A21" as const, about: "trialEndDate", fields: ["trialEndDate"] }]
      : [{ row: "A20" as const, about: "end of a trial", fields: ["trialEndDate"] }]),
    ...restsOfLimits("products", product),
  ];
}

/** Sequences that differ from the sent ones (A17). An incomplete or repeating answer proves nothing. */
export function otherSequences(
  sent: { orderList: readonly { sequence: number }[] },
  answered: readonly { sequence?: number | null | undefined }[],
): AssumptionMet[] {
  const came = new Set(answered.map((row) => row.sequence));
  const isComplete = came.size === sent.orderList.length && answered.length === sent.orderList.length;
  if (!isComplete || sent.orderList.every(({ sequence }) => came.has(sequence))) return [];
  const evidence = "E5 answered with other sequences than were sent";
  return [{ row: "A17", evidence }];
}
