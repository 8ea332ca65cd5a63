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

/**
 * A product under an asset or a package, as the platform shows it (M7). Its limit times are `…Time` where E5 sends
 * `…Date`.
 */
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
  /** Consumption amount. */
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
  /** Shape of the elements not shown by the contract (A38). */
  productExtendInstanceList: z.unknown().optional(),
});
export type ProductInstance = z.infer<typeof productInstanceSchema>;

const productInstancesSchema = or(z.array(productInstanceSchema), () => []);

/**
 * A package under an asset (M7), with its products and lower packages; the nulls of the lowest level are read as [].
 */
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

/**
 * Data of M7: everything that belongs to one asset. Data with neither list is no answer, and never read as "holds
 * nothing".
 */
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

/** Every product of an asset, those of its packages included, in the order of the answer. */
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
