import { z } from "zod";
import { integer, requiredText, time } from "./answers.ts";

const licenseTypes = [
  "normal_unrecover_usbkey",
  "normal_recover_usbkey",
  "normal_unrecover_lan_usbkey",
  "normal_recover_lan_usbkey",
  "identity_usbkey",
  "identity_lan_usbkey",
  "softkey",
  "lan_softkey",
  "product_entity",
  "cloud_account",
  "cloud_customer",
  "cloud_personal",
  "lk_product_usbkey",
  "lk_auth_usbkey",
] as const;

const nodes = integer.min(0);
const count = z.int().min(0);
const flag = z.union([z.literal(0), z.literal(1)], { error: "0 or 1 is expected" });
/** A length (1-0-0) or a day (2027-1-31). */
const term = z.string().regex(/^\d+-\d+-\d+$/, "y-m-d is expected");
const extensionSchema = z.strictObject({ extendCode: z.string().nullish(), extendValue: z.string().nullish() });
const assetNumbers = z.array(requiredText).min(1);

const featureSchema = z.strictObject({
  featureCode: requiredText,
  featureName: requiredText,
  featureValue: z.string(),
  featureValueType: requiredText,
  trial: flag,
  trialEndDate: time,
});

export const productSchema = z.strictObject({
  crmProductId: requiredText,
  parentCrmProductId: requiredText,
  productUri: requiredText,
  productName: requiredText,
  gmsPid: requiredText.nullish(),
  appKey: requiredText.nullish(),
  productType: requiredText,
  limitStartDate: time.nullish(),
  limitEndDate: time.nullish(),
  limitConcurrent: nodes,
  limitTimeDuration: count,
  strictMatchWhenDelete: z.boolean(),
  trial: flag,
  trialEndDate: integer,
  passwords: z.array(requiredText).nullish(),
  timeUnit: requiredText,
  timeUnitQuantity: nodes,
  timeDurationExpression: term,
  srcLicenseOrderId: requiredText.nullish(),
  productFeatures: z.array(featureSchema),
});
export type ProductRecord = z.infer<typeof productSchema>;

const merchandiseSchema = z.strictObject({
  crmProductId: requiredText,
  parentCrmProductId: requiredText,
  merchandiseNum: requiredText,
  merchandiseName: requiredText,
  parentMerchandiseNum: z.string(),
  timeDurationExpression: term,
  /** Null on the lowest level, never an empty list. */
  get children(): z.ZodOptional<z.ZodNullable<z.ZodArray<typeof merchandiseSchema>>> {
    return z.array(merchandiseSchema).min(1, "null is expected on the lowest level").nullable().optional();
  },
  licenseOrderProductList: z.array(productSchema),
});
export type MerchandiseRecord = z.infer<typeof merchandiseSchema>;

const newAssetSchema = z.strictObject({
  assetNos: assetNumbers,
  assetExtendList: z.array(extensionSchema).nullish(),
  limitStartDate: time.nullish(),
  limitEndDate: time.nullish(),
  borrowedUsbKey: z.boolean().nullish(),
  transferedAssetNum: z.boolean().nullish(),
  products: z.array(productSchema).min(1, "may be empty only for delete_asset"),
  merchandises: z.array(merchandiseSchema).nullish(),
});
export type NewAsset = z.infer<typeof newAssetSchema>;

/** Extra fields that a deletion may have (A18). */
const looseAsset = {
  assetNos: assetNumbers,
  assetExtendList: z.array(z.unknown()).nullish(),
  limitStartDate: time.nullish(),
  limitEndDate: time.nullish(),
  borrowedUsbKey: z.boolean().nullish(),
  transferedAssetNum: z.boolean().nullish(),
  merchandises: z.array(z.unknown()).nullish(),
};

const deletedProductSchema = productSchema.partial().extend({
  crmProductId: requiredText,
  productUri: requiredText,
  limitConcurrent: nodes.nullish(),
  strictMatchWhenDelete: z.boolean().nullish(),
});
export type DeletedProduct = z.infer<typeof deletedProductSchema>;

const identifyingFields = {
  customerName: requiredText,
  channelCustomerId: requiredText,
  adminName: requiredText,
  adminAccount: requiredText,
  adminEmail: requiredText,
  adminCellNumber: requiredText,
  customerType: z.enum(["personal", "company"]),
  branchCode: requiredText,
  branchName: requiredText,
  enterpriseGlobalId: requiredText,
};

const deletionFields = {
  sequence: integer,
  customerId: requiredText.nullish(),
  crmCustomerId: requiredText.nullish(),
  ...identifyingFields,
  passwordMobile: requiredText.nullish(),
  address: z.string().nullish(),
  srcLicenseOrderId: z.string().nullish(),
  licenseType: z.enum(licenseTypes),
};

export function createBatchSchema(requireAddress: boolean) {
  const newBuySchema = z.strictObject({
    sequence: integer,
    customerId: requiredText,
    crmCustomerId: requiredText,
    ...identifyingFields,
    passwordMobile: requiredText,
    address: requireAddress ? requiredText : z.string().nullish(),
    srcLicenseOrderId: z.string().nullish(),
    licenseType: z.enum(licenseTypes),
    orderType: z.literal("new_buy"),
    assets: z.array(newAssetSchema).min(1),
  });
  const deleteAssetSchema = z.strictObject({
    ...deletionFields,
    orderType: z.literal("delete_asset"),
    assets: z.array(z.strictObject({ ...looseAsset, products: z.array(z.unknown()).nullish() })).min(1),
  });
  const deleteProductSchema = z.strictObject({
    ...deletionFields,
    orderType: z.literal("delete_product"),
    assets: z.array(z.strictObject({ ...looseAsset, products: z.array(deletedProductSchema).min(1) })).min(1),
  });
  return z.strictObject({
    channelCode: requiredText,
    channelOrderId: requiredText,
    syncMode: z.enum(["sync", "async"]),
    orderList: z
      .array(z.discriminatedUnion("orderType", [newBuySchema, deleteAssetSchema, deleteProductSchema]))
      .min(1),
  });
}

export type Batch = z.infer<ReturnType<typeof createBatchSchema>>;
export type OrderRecord = Batch["orderList"][number];
export type NewBuy = Extract<OrderRecord, { orderType: "new_buy" }>;
export type Deletion = Exclude<OrderRecord, { orderType: "new_buy" }>;
