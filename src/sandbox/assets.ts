import { z } from "zod";
import {
  checked,
  identifierOf,
  integer,
  numberOf,
  Refusal,
  requiredText,
  rowOf,
  success,
  type Answer,
} from "./answers.ts";
import { cloudTypes, lockableTypes } from "./assumptions.ts";
import { enterpriseIn, type Call, type Platform, type Run } from "./endpoints.ts";
import { productSchema } from "./order-bodies.ts";
import { epochMs, type Given } from "./store.ts";

const locksSchema = z.strictObject({ assetNums: z.array(requiredText).min(1), operatorIdentity: requiredText });
const extensionsSchema = z.array(z.object({ extendCode: z.string().nullish(), extendValue: z.string().nullish() }));
const shownSchema = z.record(z.string(), z.json());

interface AssetRow {
  id: number;
  asset_number: string;
  customer_id: number;
  license_type: string;
}

interface CloudAssetRow extends AssetRow {
  extensions: string;
  limit_start: Given;
  limit_end: Given;
  locked: number;
  borrowed_usb_key: number;
  holder_id: number | null;
  held_since: number | null;
  created_at: number;
  updated_at: number;
}

interface LockRow {
  id: number;
  license_type: string;
  lent: number;
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
  /** Fields that M7 shows with other values, as JSON. */
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

/** What M7 shows for a limit that was not sent. */
const absentLimit = 0;
const mostShellNumbers = 1000;

const lockStatus = { succeeded: 1, missing: 2, failed: 3, wrongType: 4 } as const;

export function assetOperations(platform: Platform): { E6: Run; E7: Run; E8: Run; E9: Run; M7: Run } {
  return {
    E6: (call) => switchLocks(platform, call, 1),
    E7: (call) => switchLocks(platform, call, 0),
    E8: (call) => virtualAssets(platform, call),
    E9: (call) => takeShellNumbers(platform, call),
    M7: (call) => contentsOfAsset(platform, call),
  };
}

function switchLocks({ store, now }: Platform, call: Call, locked: 0 | 1): Answer {
  const body = checked(locksSchema, call.body);
  return success(
    body.assetNums.map((assetNum) => {
      const found = store.get<LockRow>(
        `SELECT id, license_type, (lent_to_lock_id IS NOT NULL OR borrower_id IS NOT NULL) AS lent
         FROM assets WHERE asset_number = ? AND removed_by IS NULL`,
        assetNum,
      );
      if (found === undefined) return { assetNum, status: lockStatus.missing };
      if (!lockableTypes.includes(found.license_type)) return { assetNum, status: lockStatus.wrongType };
      if (found.lent === 1) return { assetNum, status: lockStatus.failed };
      store.run("UPDATE assets SET locked = ?, updated_at = ? WHERE id = ?", locked, now(), found.id);
      return { assetNum, status: lockStatus.succeeded };
    }),
  );
}

function virtualAsset(row: CloudAssetRow) {
  const held = row.holder_id !== null;
  return {
    id: identifierOf("asset", row.id),
    licenseType: row.license_type,
    assetNum: row.asset_number,
    grantable: true,
    customerId: identifierOf("customer", row.customer_id),
    keyShellNumber: row.asset_number.replace(/\D/g, ""),
    keyChipType: 2,
    locked: row.locked === 1,
    freezing: false,
    createTime: row.created_at,
    updateTime: row.updated_at,
    limitStartTime: epochMs(row.limit_start),
    limitEndTime: epochMs(row.limit_end),
    assignStatus: {
      id: identifierOf("asset", row.id),
      assignStatus: held ? "assigned" : "unassigned",
      assignMemberId: row.holder_id === null ? "" : identifierOf("member", row.holder_id),
      createTime: row.held_since === null ? "" : String(row.held_since),
      updateTime: null,
    },
    assetLimits: null,
    assetExtends: extensionsSchema.parse(JSON.parse(row.extensions)),
    borrowedUsbKey: row.borrowed_usb_key === 1,
  };
}

function virtualAssets({ store }: Platform, call: Call): Answer {
  const enterprise = enterpriseIn(store, call);
  if (enterprise === undefined) throw new Refusal("13004", "enterpriseGlobalId: no such enterprise");
  const assets = store
    .all<CloudAssetRow>(
      `SELECT id, license_type, asset_number, customer_id, extensions, limit_start, limit_end, locked,
       borrowed_usb_key, holder_id, held_since, created_at, updated_at
       FROM assets WHERE enterprise_id = ? AND removed_by IS NULL AND license_type IN (SELECT value FROM json_each(?))
       ORDER BY id`,
      enterprise.id,
      JSON.stringify(cloudTypes),
    )
    .map(virtualAsset);
  const code = call.query.get("extendCode");
  if (code === null || code === "") return success(assets);
  return success(assets.filter((asset) => asset.assetExtends.some((extension) => extension.extendCode === code)));
}

function takeShellNumbers({ store, settings }: Platform, call: Call): Answer {
  const { size } = checked(z.strictObject({ size: integer.min(1).max(mostShellNumbers) }), call.body);
  const last =
    store.get<{ value: number }>(
      `INSERT INTO meta (key, value) VALUES ('shell-numbers', ?)
       ON CONFLICT (key) DO UPDATE SET value = CAST(value AS INTEGER) + ? RETURNING CAST(value AS INTEGER) AS value`,
      size,
      size,
    )?.value ?? 0;
  return success(
    Array.from({ length: size }, (_, index) => settings.shellRegion + String(last - size + index + 1).padStart(9, "0")),
  );
}

function orderFields(row: OrderColumns) {
  return {
    channelCode: row.channel_code,
    licenseOrderId: identifierOf("licenseOrder", row.license_order_id),
    channelOrderId: row.channel_order_id,
    srcLicenseOrderId: row.source_order_id === null ? null : identifierOf("licenseOrder", row.source_order_id),
  };
}

function productInstance(row: ProductRow, asset: AssetRow) {
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
    limitStartTime: epochMs(record.limitStartDate) ?? absentLimit,
    limitEndTime: epochMs(record.limitEndDate) ?? absentLimit,
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
  rows: MerchandiseRow[],
  products: ProductRow[],
  asset: AssetRow,
  parent: number | null,
): object[] {
  return rows
    .filter((row) => row.parent_id === parent)
    .map((row) => {
      const children = merchandiseNodes(rows, products, asset, row.id);
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
          contained.length === 0 ? null : contained.map((product) => productInstance(product, asset)),
      };
    });
}

function contentsOfAsset({ store }: Platform, call: Call): Answer {
  const asset = store.get<AssetRow>(
    "SELECT id, asset_number, customer_id, license_type FROM assets WHERE id = ? AND removed_by IS NULL",
    rowOf("asset", call.parameters[0] ?? "") ?? -1,
  );
  if (asset === undefined) throw new Refusal("60024", "assetId names no asset");
  const products = store.all<ProductRow>(
    `SELECT products.id, merchandise_id, record, shown.fields AS shown, products.created_at, license_order_id,
     channel_order_id, channel_code, source_order_id
     FROM products JOIN license_orders ON license_orders.id = license_order_id
     LEFT JOIN shown ON shown.product_id = products.id
     WHERE asset_id = ? AND removed_by IS NULL ORDER BY products.id`,
    asset.id,
  );
  const packages = store.all<MerchandiseRow>(
    `SELECT merchandises.id, parent_id, number, name, parent_number, term, merchandises.created_at,
     license_order_id, channel_order_id, channel_code, source_order_id
     FROM merchandises JOIN license_orders ON license_orders.id = license_order_id
     WHERE asset_id = ? AND removed_by IS NULL ORDER BY merchandises.id`,
    asset.id,
  );
  const direct = products.filter((product) => product.merchandise_id === null);
  return success({
    productInstanceList: direct.map((product) => productInstance(product, asset)),
    children: merchandiseNodes(packages, products, asset, null),
  });
}
