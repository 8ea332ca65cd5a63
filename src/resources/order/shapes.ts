import type { SentItem } from "../../report/reconciliation/case.ts";
import type { BatchOrderRequest } from "../../contract/order-record.ts";
import type { RecordKey } from "../../crm/model.ts";
import {
  earlierUnit,
  plannedOrder,
  renewedUnit,
  privateMarker,
  references,
  type PlannedAsset,
} from "../../engine/model/references.ts";
import type { ShapesOf } from "../../engine/model/resource.ts";
import { z } from "zod";

/** Stored with the intent so that the outcome can be found later. Contains only ids and commitments. */
export const orderContext = z.object({
  enterpriseGlobalId: z.string(),
  channelOrderId: z.string(),
  bodyHash: z.string(),
  version: z.int(),
  order: z.object({ namespace: z.string(), id: z.string() }),
  secrets: z.boolean(),
  renewed: z.array(renewedUnit.extend({ instanceId: z.string() })).optional(),
  records: z.array(
    z.object({
      sequence: z.int(),
      licenseType: z.string(),
      customerId: z.string(),
      numbers: z.array(z.string()),
      products: z.array(z.string()),
      standing: z.int(),
    }),
  ),
});
export type OrderContext = z.infer<typeof orderContext>;

interface Packaged<Product> {
  licenseOrderProductList: readonly Product[];
  children?: readonly Packaged<Product>[] | null | undefined;
}

function productsOf<Product>({ licenseOrderProductList, children }: Packaged<Product>): Product[] {
  return [...licenseOrderProductList, ...(children ?? []).flatMap((child) => productsOf(child))];
}

export function productsInAsset<Product>(asset: {
  products: readonly Product[];
  merchandises?: readonly Packaged<Product>[] | undefined;
}): Product[] {
  return [...asset.products, ...(asset.merchandises ?? []).flatMap((item) => productsOf(item))];
}

/** The number of products that exist after the whole purchase, counted once per asset number. */
export function standingProducts({ records }: OrderContext): number {
  return records.reduce((sum, { standing }) => sum + standing, 0);
}

export function orderContextOf(
  request: BatchOrderRequest,
  planned: {
    order: RecordKey;
    bodyHash: string;
    version: number;
    secrets: boolean;
    assets: readonly PlannedAsset[];
  },
): OrderContext {
  const renewed = planned.assets.flatMap(({ id, renewed: units = [] }) =>
    units.map(({ shown: _shown, ...unit }) => ({ ...unit, instanceId: id })),
  );
  return {
    enterpriseGlobalId: request.orderList[0]?.enterpriseGlobalId ?? "",
    channelOrderId: request.channelOrderId,
    bodyHash: planned.bodyHash,
    version: planned.version,
    order: planned.order,
    secrets: planned.secrets,
    ...(renewed.length === 0 ? {} : { renewed }),
    records: request.orderList.map(promisedOf),
  };
}

function promisedOf(record: BatchOrderRequest["orderList"][number]): OrderContext["records"][number] {
  if (record.orderType !== "new_buy")
    throw new TypeError(`an order record of the type ${record.orderType} is not placed`);
  const { sequence, licenseType, customerId, assets } = record;
  const numbers = assets.flatMap((asset) => asset.assetNos);
  const promised = assets.map((asset) => new Set(productsInAsset(asset).map(({ crmProductId }) => crmProductId)));
  const standing = promised.reduce((sum, own, index) => sum + own.size * (assets[index]?.assetNos.length ?? 0), 0);
  const products = [...new Set(promised.flatMap((own) => [...own]))];
  return { sequence, licenseType, customerId, numbers, products, standing };
}

const time = z.union([z.string(), z.number(), z.null()]);
const marker = privateMarker.optional();

const feature = z.object({
  featureCode: z.string(),
  featureName: z.string(),
  featureValue: z.string(),
  featureValueType: z.string(),
  trial: z.number(),
  trialEndDate: time,
});

const product = z.object({
  crmProductId: z.string(),
  parentCrmProductId: z.string(),
  productUri: z.string(),
  productName: z.string(),
  gmsPid: z.string().optional(),
  appKey: z.string().optional(),
  productType: z.string(),
  limitConcurrent: z.number(),
  limitTimeDuration: time,
  strictMatchWhenDelete: z.boolean(),
  trial: z.number(),
  trialEndDate: time,
  timeUnit: z.string(),
  timeUnitQuantity: z.number(),
  timeDurationExpression: z.string(),
  srcLicenseOrderId: z.string().optional(),
  productFeatures: z.array(feature),
  limitStartDate: time.optional(),
  limitEndDate: time.optional(),
  passwords: marker,
});
export type ProductRecord = z.infer<typeof product>;

const merchandise = z.object({
  crmProductId: z.string(),
  parentCrmProductId: z.string(),
  merchandiseNum: z.string(),
  merchandiseName: z.string(),
  parentMerchandiseNum: z.string().nullable(),
  timeDurationExpression: z.string(),
  get children() {
    return z.array(merchandise).nullable();
  },
  licenseOrderProductList: z.array(product),
});
export type MerchandiseRecord = z.infer<typeof merchandise>;

const asset = z.object({
  assetNos: z.array(z.union([references.assetNumber, z.string()])),
  products: z.array(product),
  assetExtendList: z.array(z.object({ extendCode: z.string(), extendValue: z.string() })).optional(),
  limitStartDate: time.optional(),
  limitEndDate: time.optional(),
  borrowedUsbKey: z.boolean().optional(),
  transferedAssetNum: z.boolean().optional(),
  merchandises: z.array(merchandise).optional(),
});
export type AssetRecord = z.infer<typeof asset>;

export const customerFields = {
  customerName: marker,
  channelCustomerId: z.string(),
  adminName: marker,
  adminAccount: marker,
  adminEmail: marker,
  adminCellNumber: marker,
  passwordMobile: marker,
  address: marker,
  customerType: z.string(),
  branchCode: z.string(),
  branchName: z.string(),
};

const record = z.object({
  sequence: z.number(),
  customerId: z.union([references.customerId, z.string()]),
  crmCustomerId: z.string(),
  ...customerFields,
  enterpriseGlobalId: z.union([references.enterpriseGlobalId, z.string()]),
  licenseType: z.string(),
  orderType: z.string(),
  assets: z.array(asset),
});
export type OrderRecord = z.infer<typeof record>;

/** `packages`: outermost packages only. */
const boughtItem = z.object({
  instanceId: z.string(),
  unit: z.int(),
  number: z.string().nullable(),
  products: z.array(z.string()),
  packages: z.array(z.string()),
  /** The earlier units whose number it took over, nearest first. */
  continues: z.array(earlierUnit).optional(),
});
export type BoughtItem = z.infer<typeof boughtItem>;
/** `stood`: the unit existed before. */
const amendedItem = boughtItem.omit({ number: true, continues: true }).extend({ stood: z.boolean() });

/** A removal from one asset number. `product: null`: everything under the number. */
export const removedItem = z.object({
  instanceId: z.string(),
  unit: z.int(),
  number: z.string().nullable(),
  product: z.string().nullable(),
  channelOrderId: z.string().nullable(),
  licenseOrderId: z.string().nullable(),
});
export type RemovedItem = z.infer<typeof removedItem>;

/** Licence passwords are secrets. */
export function holdsPasswords({ assets }: OrderRecord): boolean {
  return assets.some((asset) => productsInAsset(asset).some(({ passwords }) => passwords !== undefined));
}

const orderPayload = {
  channelCode: z.string(),
  syncMode: z.string(),
  orderList: z.array(record),
};

export const orderSchemas = {
  target: z.object({}),
  payload: z.object({ ...orderPayload, channelOrderId: z.string() }),
  before: z.null(),
  after: plannedOrder,
  context: orderContext,
};
export type OrderShapes = ShapesOf<typeof orderSchemas>;

export const amendmentSchemas = {
  target: z.object({}),
  payload: z.object({ ...orderPayload, channelOrderId: references.channelOrderId }),
  before: z.null(),
  after: plannedOrder.extend({
    items: z.array(amendedItem),
    /** The order's state at planning. If it changed, the operation is not sent. */
    lastStep: z.int(),
    agreed: z.string().nullable(),
  }),
  context: orderContext.extend({
    items: z.array(boughtItem),
    stood: z.array(z.string()),
  }),
};
export type AmendmentShapes = ShapesOf<typeof amendmentSchemas>;

/** Whether the E5 answer comes before the work is done (A15). */
export function isAsync({ syncMode }: { syncMode: string }): boolean {
  return syncMode === "async";
}

export interface SentPackage extends SentItem {
  /** Product ids in it and in all lower packages; if there are none, those of the surrounding package. */
  inside: readonly string[];
}

/**
 * What an E5 carried, under each asset number. `numberOf` gives a unit's bound number; without one it was never sent.
 * `fields` keeps values that no reading returns, but never licence passwords.
 */
export function sentItems(
  { orderList }: Pick<OrderShapes["payload"], "orderList">,
  numberOf: (unit: string) => string | undefined,
): { products: SentItem[]; packages: SentPackage[] } {
  const under = orderList.flatMap(({ licenseType, assets }) =>
    assets.flatMap((asset) =>
      asset.assetNos.flatMap((given) => {
        const assetNumber = typeof given === "string" ? given : numberOf(given.of);
        return assetNumber === undefined ? [] : [{ asset, of: { assetNumber, licenseType } }];
      }),
    ),
  );
  return {
    products: under.flatMap(({ asset, of }) =>
      productsInAsset(asset).map(({ passwords: _passwords, ...fields }) => ({
        id: fields.crmProductId,
        ...of,
        fields,
      })),
    ),
    packages: under.flatMap(({ asset, of }) =>
      sentPackages(asset.merchandises ?? []).map((item) => ({ ...item, ...of })),
    ),
  };
}

function sentPackages(
  packages: readonly MerchandiseRecord[],
  around?: readonly string[],
): Pick<SentPackage, "id" | "fields" | "inside">[] {
  return packages.flatMap(({ children, licenseOrderProductList, ...fields }) => {
    const own = productsOf({ licenseOrderProductList, children }).map(({ crmProductId }) => crmProductId);
    const inside = own.length > 0 ? own : (around ?? []);
    const item = { id: fields.merchandiseNum, fields: { ...fields, root: around === undefined }, inside };
    return [item, ...sentPackages(children ?? [], inside)];
  });
}
