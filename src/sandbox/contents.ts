import { z } from "zod";
import { Refusal, success } from "./answers.ts";
import type { Answer } from "./answers.ts";
import { identifierOf, numberOf, rowOf } from "./identifiers.ts";
import type { Call, Platform, Run } from "./endpoints.ts";
import { productSchema } from "./order-bodies.ts";
import { epochMs } from "./times.ts";

const shownSchema = z.record(z.string(), z.json());

interface AssetRow {
  id: number;
  asset_number: string;
  customer_id: number;
  license_type: string;
}

interface OrderColumns {
  license_order_id: number;
  channel_order_id: string;
  channel_code: string;
  source_order_id: number | null;
}

interface ProductRow extends OrderColumns {
  id: number;
  merchandise_id: number | null;
  record: string;
  /** Fields that M7 shows otherwise, as JSON. */
  shown: string | null;
  created_at: number;
}

interface MerchandiseRow extends OrderColumns {
  id: number;
  parent_id: number | null;
  number: string;
  name: string;
  parent_number: string;
  term: string;
  created_at: number;
}

/** What is common to these calls: the platform, and their statements, prepared once. */
function contextOf(platform: Platform) {
  const { store } = platform;
  return {
    ...platform,
    findAsset: store.prepare<[number], AssetRow>(
      "SELECT id, asset_number, customer_id, license_type FROM assets WHERE id = ? AND removed_by IS NULL",
    ),
    findProducts: store.prepare<[number], ProductRow>(
      `SELECT products.id, merchandise_id, record, shown.fields AS shown, products.created_at, license_order_id,
       channel_order_id, channel_code, source_order_id
       FROM products JOIN license_orders ON license_orders.id = license_order_id
       LEFT JOIN shown ON shown.product_id = products.id
       WHERE asset_id = ? AND removed_by IS NULL ORDER BY products.id`,
    ),
    findMerchandises: store.prepare<[number], MerchandiseRow>(
      `SELECT merchandises.id, parent_id, number, name, parent_number, term, merchandises.created_at,
       license_order_id, channel_order_id, channel_code, source_order_id
       FROM merchandises JOIN license_orders ON license_orders.id = license_order_id
       WHERE asset_id = ? AND removed_by IS NULL ORDER BY merchandises.id`,
    ),
  };
}

type Context = ReturnType<typeof contextOf>;

/** M7: what an asset contains. */
export function contentsOperations(platform: Platform): { M7: Run } {
  const context = contextOf(platform);
  return {
    M7: (call) => contentsOfAsset(context, call),
  };
}

function orderFields(row: OrderColumns) {
  return {
    channelCode: row.channel_code,
    licenseOrderId: identifierOf("licenseOrder", row.license_order_id),
    channelOrderId: row.channel_order_id,
    srcLicenseOrderId: row.source_order_id === null ? null : identifierOf("licenseOrder", row.source_order_id),
  };
}

function productInstance(context: Context, row: ProductRow, asset: AssetRow) {
  const record = productSchema.parse(JSON.parse(row.record));
  const order = orderFields(row);
  const id = identifierOf("product", row.id);
  return {
    id: row.merchandise_id === null ? id : numberOf(id),
    licenseType: asset.license_type,
    customerId: identifierOf("customer", asset.customer_id),
    assetId: identifierOf("asset", asset.id),
    assetInsId: null,
    merchandiseInsId: row.merchandise_id === null ? null : numberOf(identifierOf("merchandise", row.merchandise_id)),
    assetNum: asset.asset_number,
    productUri: record.productUri,
    gmsPid: record.gmsPid ?? "",
    appKey: record.appKey ?? "",
    productName: record.productName,
    ...order,
    limitStartTime: epochMs(record.limitStartDate) ?? context.settings.absentLimitTime,
    limitEndTime: epochMs(record.limitEndDate) ?? context.settings.absentLimitTime,
    limitAmount: 0,
    limitConcurrent: record.limitConcurrent,
    limitTimeDuration: record.limitTimeDuration,
    trial: record.trial,
    trialEndDate: record.trialEndDate,
    limitType: record.productFeatures.length > 0 ? "feature" : "basic",
    prodDefExtend: record.productFeatures.length > 0,
    timeDurationExpression: record.timeDurationExpression,
    srcLicenseOrderId: record.srcLicenseOrderId ?? order.srcLicenseOrderId,
    createTime: row.created_at,
    updateTime: null,
    activateFlag: false,
    crmProductId: record.crmProductId,
    productExtendInstanceList: record.productFeatures,
    ...shownSchema.parse(JSON.parse(row.shown ?? "{}")),
  };
}

function merchandiseNodes(
  context: Context,
  rows: MerchandiseRow[],
  products: ProductRow[],
  asset: AssetRow,
  parent: number | null,
): object[] {
  return rows
    .filter((row) => row.parent_id === parent)
    .map((row) => {
      const children = merchandiseNodes(context, rows, products, asset, row.id);
      const contained = products.filter((product) => product.merchandise_id === row.id);
      return {
        id: numberOf(identifierOf("merchandise", row.id)),
        licenseType: asset.license_type,
        merchandiseNum: row.number,
        merchandiseName: row.name,
        parentId: parent === null ? null : numberOf(identifierOf("merchandise", parent)),
        parentMerchandiseNum: row.parent_number,
        customerId: identifierOf("customer", asset.customer_id),
        ...orderFields(row),
        createTime: row.created_at,
        updateTime: null,
        timeDurationExpression: row.term,
        children: children.length === 0 ? null : children,
        productInstanceList:
          contained.length === 0 ? null : contained.map((product) => productInstance(context, product, asset)),
      };
    });
}

function contentsOfAsset(context: Context, call: Call): Answer {
  const asset = context.findAsset.get(rowOf("asset", call.parameters[0] ?? "") ?? -1);
  if (asset === undefined) throw new Refusal("60024", "assetId names no asset");
  const products = context.findProducts.all(asset.id);
  const direct = products.filter((product) => product.merchandise_id === null);
  return success({
    productInstanceList: direct.map((product) => productInstance(context, product, asset)),
    children: merchandiseNodes(context, context.findMerchandises.all(asset.id), products, asset, null),
  });
}
