import type { RecordKey } from "../../crm/model.ts";
import { parseTerm } from "../../contract/term.ts";
import {
  adds,
  Counts,
  nameOf,
  removes,
  type Called,
  type OperationLine,
  fieldLines,
  shown,
  shownTime,
} from "../../engine/model/operation-line.ts";
import type { Change } from "../../engine/model/resource.ts";
import { counted } from "../../report/text.ts";
import type { DeletionShapes } from "./deletion.ts";
import {
  productsInAsset,
  type AmendmentShapes,
  type OrderRecord,
  type OrderShapes,
  type ProductRecord,
} from "./shapes.ts";

export function purchaseLine(verb: "place order" | "add to order") {
  return async (
    { records, payload }: { records: readonly RecordKey[]; payload: { orderList: readonly OrderRecord[] } },
    called: Called,
  ): Promise<OperationLine> => adds(`${verb} ${nameOf(records, called)}: ${bought(payload.orderList)}`);
}

export async function deletionLine(
  { records, after }: Change<string, DeletionShapes>,
  called: Called,
): Promise<OperationLine> {
  const [order] = records;
  const counts = new Counts();
  for (const { instanceId, product, shared } of after.items) {
    if (shared === true || order === undefined) continue;
    const names = await called.productsIn(order, product ?? instanceId);
    if (names.length === 0) counts.add(product === null ? "asset" : `product ${product}`);
    for (const one of names) counts.add(one);
  }
  return removes(`remove from order ${nameOf(records, called)}: ${counts.text()}`);
}

function bought(orderList: readonly OrderRecord[]): string {
  const counts = new Counts();
  for (const asset of orderList.flatMap(({ assets }) => assets))
    for (const product of productsInAsset(asset)) counts.add(soldAs(product), asset.assetNos.length);
  return counts.text();
}

function soldAs({ productName, limitConcurrent, timeDurationExpression, trial }: ProductRecord): string {
  const nodes = limitConcurrent === 1 ? [] : [counted(limitConcurrent, "node")];
  return `${productName} (${[...nodes, termText(timeDurationExpression), ...(trial === 1 ? ["trial"] : [])].join(", ")})`;
}

function termText(expression: string): string {
  const term = parseTerm(expression);
  if (!term.ok) return expression;
  const { years, months, days } = term.value;
  const parts = [
    ...(years === 0 ? [] : [counted(years, "year")]),
    ...(months === 0 ? [] : [counted(months, "month")]),
    ...(days === 0 ? [] : [counted(days, "day")]),
  ];
  return parts.length === 0 ? "no end" : parts.join(" ");
}

export function purchaseLines({ payload }: { payload: OrderShapes["payload"] | AmendmentShapes["payload"] }): string[] {
  const { orderList, ...others } = payload;
  return [
    ...fieldLines(others),
    ...orderList.flatMap((record, index) => [
      `orderList[${index}]: ${recordLine(record)}`,
      ...record.assets.flatMap(productsInAsset).map((product) => `  ${productLine(product)}`),
    ]),
  ];
}

function productLine(product: ProductRecord): string {
  const { crmProductId, productName, productUri, productType, limitStartDate, limitEndDate } = product;
  return [
    `product ${crmProductId}: ${productName}`,
    productUri,
    `type ${productType}`,
    counted(product.limitConcurrent, "node"),
    `term ${product.timeDurationExpression}`,
    ...(limitStartDate === undefined ? [] : [`from ${shownTime(limitStartDate)}`]),
    ...(limitEndDate === undefined ? [] : [`to ${shownTime(limitEndDate)}`]),
    ...(product.trial === 1 ? ["trial"] : []),
  ].join(", ");
}

function recordLine({ licenseType, customerId, assets }: OrderRecord): string {
  const listed = assets.map(({ assetNos, products, merchandises = [] }) => {
    const packages = merchandises.length === 0 ? "" : ` and ${counted(merchandises.length, "package")}`;
    return `asset ${shown(assetNos)} with ${counted(products.length, "product")}${packages}`;
  });
  return `${shown(licenseType)} for customer ${shown(customerId)}: ${listed.join("; ")}`;
}

export function deletionLines({
  payload: { orderList, ...payload },
}: {
  payload: DeletionShapes["payload"];
}): string[] {
  const lines = orderList.map((record, index) => {
    const { orderType, licenseType, srcLicenseOrderId, assets } = record;
    const whose = srcLicenseOrderId === "" ? "all orders of the customer" : `the licence order ${srcLicenseOrderId}`;
    const listed = assets.map(({ assetNos, products = [] }) => {
      const named = products.map((product) => `${product.crmProductId} (${product.limitConcurrent} nodes)`);
      return `asset ${assetNos.join(", ")}${named.length === 0 ? "" : `: ${named.join(", ")}`}`;
    });
    return `orderList[${index}]: ${orderType} of ${whose}, ${licenseType}: ${listed.join("; ")}`;
  });
  return [...fieldLines(payload), ...lines];
}
