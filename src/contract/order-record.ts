import { z } from "zod";

import { wireIntegerSchema, wireTimeSchema } from "./answer-fields.ts";
import { customerTypes, licenseTypes, syncModes } from "./vocabulary.ts";

/** E5. Times are encoded by the configured codec (A20). Fields that do not apply have their sentinel (A21). */

const text = z.string().min(1);
const trialFlag = z.union([z.literal(0), z.literal(1)]);
const int32 = z
  .int()
  .min(-(2 ** 31))
  .max(2 ** 31 - 1);

/** `trialEndDate` is a Date here, but an Integer in a product. */
const featureRecordSchema = z.strictObject({
  featureCode: text,
  featureName: text,
  featureValue: z.string(),
  featureValueType: text,
  trial: trialFlag,
  trialEndDate: wireTimeSchema.nullable(),
});

/** `productUri` equals `gmsPid` or `appKey`. `trialEndDate` is a 32-bit Integer. */
export const productRecordSchema = z
  .strictObject({
    crmProductId: text,
    /** CRM instance of the package, or of the asset for products directly under it. */
    parentCrmProductId: text,
    productUri: text,
    productName: text,
    gmsPid: text.optional(),
    appKey: text.optional(),
    productType: text,
    limitStartDate: wireTimeSchema.optional(),
    limitEndDate: wireTimeSchema.optional(),
    limitConcurrent: int32,
    limitTimeDuration: wireIntegerSchema.nullable(),
    strictMatchWhenDelete: z.literal(true),
    trial: trialFlag,
    trialEndDate: int32.nullable(),
    passwords: z.array(text).optional(),
    timeUnit: text,
    timeUnitQuantity: int32,
    timeDurationExpression: text,
    /** Only for a transfer from another licence order. */
    srcLicenseOrderId: text.optional(),
    productFeatures: z.array(featureRecordSchema),
  })
  .refine((product) => product.productUri === product.gmsPid || product.productUri === product.appKey, {
    path: ["productUri"],
    message: "must equal gmsPid or appKey",
  });
export type ProductRecord = z.infer<typeof productRecordSchema>;

/** A package of an asset or of a package. On the lowest level `children` is null, not []. */
export const merchandiseRecordSchema = z.strictObject({
  crmProductId: text,
  parentCrmProductId: text,
  merchandiseNum: text,
  merchandiseName: text,
  parentMerchandiseNum: z.string(),
  timeDurationExpression: text,
  get children() {
    return z.array(merchandiseRecordSchema).min(1).nullable();
  },
  licenseOrderProductList: z.array(productRecordSchema),
});
export type MerchandiseRecord = z.infer<typeof merchandiseRecordSchema>;

const assetExtendSchema = z.strictObject({ extendCode: text, extendValue: z.string() });

/** For new_buy. `borrowedUsbKey` is a Boolean here, a lock number in M10. The contract spells `transferedAssetNum`. */
const assetRecordSchema = z.strictObject({
  assetNos: z.array(text).min(1),
  assetExtendList: z.array(assetExtendSchema).optional(),
  limitStartDate: wireTimeSchema.optional(),
  limitEndDate: wireTimeSchema.optional(),
  borrowedUsbKey: z.boolean().optional(),
  transferedAssetNum: z.boolean().optional(),
  /** May be empty only for delete_asset (A23). */
  products: z.array(productRecordSchema).min(1),
  merchandises: z.array(merchandiseRecordSchema).optional(),
});

const listedFields = {
  sequence: int32,
  customerName: text,
  channelCustomerId: text,
  adminName: text,
  adminAccount: text,
  adminEmail: text,
  adminCellNumber: text,
  customerType: z.enum(customerTypes),
  branchCode: text,
  branchName: text,
  enterpriseGlobalId: text,
  licenseType: z.enum(licenseTypes),
};

const fullFields = {
  customerId: text,
  crmCustomerId: text,
  passwordMobile: text,
  address: text,
};

/** `srcLicenseOrderId` is left out, also for cloud types (A39). */
const newBuyOrderSchema = z.strictObject({
  ...listedFields,
  ...fullFields,
  srcLicenseOrderId: text.optional(),
  orderType: z.literal("new_buy"),
  assets: z.array(assetRecordSchema).min(1),
});
export type NewBuyOrder = z.infer<typeof newBuyOrderSchema>;

const deleteFields = {
  ...listedFields,
  customerId: text.optional(),
  crmCustomerId: text.optional(),
  passwordMobile: text.optional(),
  address: text.optional(),
  /** Never empty here: an empty one would remove the products from ALL orders of the customer. */
  srcLicenseOrderId: text,
};

/** Removes whole assets, with the fields that the contract lists (A18). */
const deleteAssetOrderSchema = z.strictObject({
  ...deleteFields,
  orderType: z.literal("delete_asset"),
  assets: z.array(z.strictObject({ assetNos: z.array(text).min(1) })).min(1),
});

/** `strictMatchWhenDelete` is always true: false would delete by mnemonic, whatever the limits are. */
export const deletedProductSchema = z.strictObject({
  crmProductId: text,
  productUri: text,
  limitStartDate: wireTimeSchema.optional(),
  limitEndDate: wireTimeSchema.optional(),
  limitConcurrent: int32,
  strictMatchWhenDelete: z.literal(true),
});

const deleteProductOrderSchema = z.strictObject({
  ...deleteFields,
  orderType: z.literal("delete_product"),
  assets: z
    .array(
      z.strictObject({
        assetNos: z.array(text).min(1),
        limitStartDate: wireTimeSchema.optional(),
        limitEndDate: wireTimeSchema.optional(),
        products: z.array(deletedProductSchema).min(1),
      }),
    )
    .min(1),
});

const orderRecordSchema = z.discriminatedUnion("orderType", [
  newBuyOrderSchema,
  deleteAssetOrderSchema,
  deleteProductOrderSchema,
]);

const batchFields = { channelCode: text, channelOrderId: text, syncMode: z.enum(syncModes) };

/** Removes a product from ALL orders of the customer. No other body may have an empty srcLicenseOrderId. */
export const deleteEverywhereRequestSchema = z.strictObject({
  ...batchFields,
  orderList: z
    .array(deleteProductOrderSchema.extend({ srcLicenseOrderId: z.literal("") }))
    .min(1)
    .max(1),
});

/** Body of E5. `channelOrderId` is per call. Each `sequence` occurs once. */
export const batchOrderRequestSchema = z
  .strictObject({ ...batchFields, orderList: z.array(orderRecordSchema).min(1) })
  .refine((request) => new Set(request.orderList.map((order) => order.sequence)).size === request.orderList.length, {
    path: ["orderList"],
    message: "the same sequence occurs twice",
  });
export type BatchOrderRequest = z.infer<typeof batchOrderRequestSchema>;
