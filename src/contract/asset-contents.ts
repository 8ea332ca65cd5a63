import { z } from "zod";

import {
  holderIdSchema,
  identifierSchema,
  nullableIdentifierSchema,
  nullableTextSchema,
  nullableWireTimeSchema,
  or,
} from "./answer-fields.ts";
import { unchanged } from "./fits.ts";

/** A product in M7. Its limit times are `…Time` where E5 sends `…Date`. */
export const productInstanceSchema = z.looseObject({
  id: identifierSchema,
  licenseType: nullableTextSchema,
  customerId: nullableIdentifierSchema,
  assetId: nullableIdentifierSchema,
  assetInsId: nullableIdentifierSchema,
  merchandiseInsId: nullableIdentifierSchema,
  assetNum: nullableIdentifierSchema,
  productUri: nullableTextSchema,
  gmsPid: nullableTextSchema,
  appKey: nullableTextSchema,
  productName: nullableTextSchema,
  channelCode: nullableTextSchema,
  licenseOrderId: holderIdSchema,
  channelOrderId: nullableIdentifierSchema,
  limitStartTime: nullableWireTimeSchema,
  limitEndTime: nullableWireTimeSchema,
  limitAmount: z.int().nullish(),
  limitConcurrent: z.int().nullish(),
  limitTimeDuration: nullableWireTimeSchema,
  /** 1 = trial, 0 = not trial. */
  trial: z.int().nullish(),
  trialEndDate: nullableWireTimeSchema,
  /** `basic` (basic limit) or `feature` (extended authorization-point limit). */
  limitType: nullableTextSchema,
  prodDefExtend: z.boolean().nullish(),
  timeDurationExpression: nullableTextSchema,
  srcLicenseOrderId: nullableIdentifierSchema,
  createTime: nullableWireTimeSchema,
  updateTime: nullableWireTimeSchema,
  activateFlag: z.boolean().nullish(),
  crmProductId: nullableIdentifierSchema,
  /** The contract does not show its elements (A38). */
  productExtendInstanceList: z.unknown().optional(),
});
export type ProductInstance = z.infer<typeof productInstanceSchema>;

const productInstancesSchema = or(z.array(productInstanceSchema), () => []);

const merchandiseNodeSchema = z.looseObject({
  id: identifierSchema,
  licenseType: nullableTextSchema,
  merchandiseNum: nullableIdentifierSchema,
  merchandiseName: nullableTextSchema,
  parentId: nullableIdentifierSchema,
  parentMerchandiseNum: nullableIdentifierSchema,
  customerId: nullableIdentifierSchema,
  licenseOrderId: nullableIdentifierSchema,
  channelOrderId: nullableIdentifierSchema,
  createTime: nullableWireTimeSchema,
  updateTime: nullableWireTimeSchema,
  channelCode: nullableTextSchema,
  timeDurationExpression: nullableTextSchema,
  srcLicenseOrderId: nullableIdentifierSchema,
  get children() {
    return or(z.array(merchandiseNodeSchema), () => []);
  },
  productInstanceList: productInstancesSchema,
});
export type MerchandiseNode = z.infer<typeof merchandiseNodeSchema>;

const merchandiseNodesSchema = or(z.array(merchandiseNodeSchema), () => []);

const contentsSchema = z.looseObject({
  productInstanceList: productInstancesSchema,
  children: merchandiseNodesSchema,
});

/** M7. Data with neither list is not an answer, and never means an empty asset. */
export const assetContentsSchema = unchanged(
  z
    .custom<unknown>(
      (data) => typeof data === "object" && data !== null && ("productInstanceList" in data || "children" in data),
      "holds neither productInstanceList nor children",
    )
    .pipe(contentsSchema),
  contentsSchema,
);
export type AssetContents = z.infer<typeof assetContentsSchema>;

export function allProducts(contents: Pick<AssetContents, "productInstanceList" | "children">): ProductInstance[] {
  const products = [...contents.productInstanceList];
  const waiting: MerchandiseNode[] = [...contents.children];
  for (let index = 0; index < waiting.length; index += 1) {
    const node = waiting[index];
    if (node === undefined) continue;
    products.push(...node.productInstanceList);
    waiting.push(...node.children);
  }
  return products;
}
