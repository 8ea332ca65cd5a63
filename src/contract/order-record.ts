import { z } from "zod";

import { wireIntegerSchema, wireTimeSchema } from "./answer-fields.ts";
import { customerTypes, licenseTypes, syncModes } from "./vocabulary.ts";

/**
 * The records of an E5 body. Times come encoded by the configured codec (A20); a field that does not apply holds its
 * sentinel (A21).
 */

const text = z.string().min(1);
const trialFlag = z.union([z.literal(0), z.literal(1)]);
const int32 = z
  .int()
  .min(-(2 ** 31))
  .max(2 ** 31 - 1);

/** Feature of a product (E5). `trialEndDate` is a Date here, unlike the Integer of the product. */
const featureRecordSchema = z.strictObject({
  featureCode: text,
  featureName: text,
  featureValue: z.string(),
  featureValueType: text,
  trial: trialFlag,
  trialEndDate: wireTimeSchema.nullable(),
});

/**
 * Product of an asset or of a package (E5). `productUri` equals `gmsPid` or `appKey`; `trialEndDate` is a 32-bit
 * Integer.
 */
export const productRecordSchema = z
  .strictObject({
    /** CRM product instance. */
    crmProductId: text,
    /** CRM instance of the parent: the asset instance for products directly under an asset. */
    parentCrmProductId: text,
    productUri: text,
    productName: text,
    gmsPid: text.optional(),
    appKey: text.optional(),
    productType: text,
    limitStartDate: wireTimeSchema.optional(),
    limitEndDate: wireTimeSchema.optional(),
    /** Number of concurrent nodes. */
    limitConcurrent: int32,
    /** Accumulated usage duration, a Long. */
    limitTimeDuration: wireIntegerSchema.nullable(),
    strictMatchWhenDelete: z.literal(true),
    trial: trialFlag,
    trialEndDate: int32.nullable(),
    passwords: z.array(text).optional(),
    timeUnit: text,
    timeUnitQuantity: int32,
    /** `y-m-d`. */
    timeDurationExpression: text,
    /** Set only for a transfer from another licence order. */
    srcLicenseOrderId: text.optional(),
    productFeatures: z.array(featureRecordSchema),
  })
  .refine((product) => product.productUri === product.gmsPid || product.productUri === product.appKey, {
    path: ["productUri"],
    message: "must equal gmsPid or appKey",
  });
export type ProductRecord = z.infer<typeof productRecordSchema>;

/** Package (merchandise) of an asset or of a package (E5). `children` is null, not [], on the lowest level. */
export const merchandiseRecordSchema = z.strictObject({
  /** CRM package instance. */
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

/**
 * Asset of a new_buy record (E5). `borrowedUsbKey` is a Boolean here (a lock number in M10); `transferedAssetNum` is
 * spelt like this.
 */
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
  /** The purchaser's mobile number. */
  passwordMobile: text,
  address: text,
};

/** Order record of a new purchase (E5). `srcLicenseOrderId` is left out, also for the cloud types (A39). */
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
  /** An empty one would take the named products out of ALL orders of the customer: it is never empty here. */
  srcLicenseOrderId: text,
};

/** Order record that takes whole assets away (E5), with the fields that the contract lists for it (A18). */
const deleteAssetOrderSchema = z.strictObject({
  ...deleteFields,
  orderType: z.literal("delete_asset"),
  assets: z.array(z.strictObject({ assetNos: z.array(text).min(1) })).min(1),
});

/**
 * Product to take away (E5). `strictMatchWhenDelete` is always true: false would delete by mnemonic, whatever the
 * limits are.
 */
export const deletedProductSchema = z.strictObject({
  crmProductId: text,
  productUri: text,
  limitStartDate: wireTimeSchema.optional(),
  limitEndDate: wireTimeSchema.optional(),
  limitConcurrent: int32,
  strictMatchWhenDelete: z.literal(true),
});

/** Order record that takes products away (E5). */
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

/**
 * Body of an E5 that takes one product out of all orders of the customer: its empty srcLicenseOrderId says so. Apart
 * from every other body, so that none of them can have one.
 */
export const deleteEverywhereRequestSchema = z.strictObject({
  ...batchFields,
  orderList: z
    .array(deleteProductOrderSchema.extend({ srcLicenseOrderId: z.literal("") }))
    .min(1)
    .max(1),
});

/** Body of E5. `channelOrderId` is per call, `sequence` per order record; each sequence occurs once. */
export const batchOrderRequestSchema = z
  .strictObject({ ...batchFields, orderList: z.array(orderRecordSchema).min(1) })
  .refine((request) => new Set(request.orderList.map((order) => order.sequence)).size === request.orderList.length, {
    path: ["orderList"],
    message: "the same sequence occurs twice",
  });
export type BatchOrderRequest = z.infer<typeof batchOrderRequestSchema>;
