import { z } from "zod";

export const identifier = z.string().min(1).max(200);
/** Without a slash, so that `crm/10248` names only one record. */
export const namespace = identifier.regex(/^[^/]+$/);
export const text = z.string().min(1);
const instant = z.iso.datetime({ offset: false });

export const keyFields = {
  namespace: namespace.default("crm").describe("Names the CRM that gave the id; with the id it is the record's key."),
  id: identifier.describe(
    "The id that the CRM gave the record. It is never erased: of a login, an e-mail address or a phone number give the `hash`.",
  ),
};

export const customerReference = {
  customerId: identifier.describe("The CRM's id of the customer."),
  customerNamespace: namespace.optional().describe("Namespace of the customer, where it is not the record's own."),
};

export const licenseTypes = [
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
export type LicenseType = (typeof licenseTypes)[number];

/** Lists are sorted, so that equal records have equal hashes. Not asset numbers: their order assigns them to units. */

interface InstanceLike {
  kind: string;
  id?: string;
  parentId?: string;
  code?: string;
}

const kinds = ["asset", "package", "product", "feature", "extension"];

/** By code units: the same on every machine. */
function compareTexts(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

function sortedInstances<Instance extends InstanceLike>(instances: readonly Instance[]): Instance[] {
  return instances.toSorted(
    (left, right) =>
      kinds.indexOf(left.kind) - kinds.indexOf(right.kind) ||
      compareTexts(left.id ?? "", right.id ?? "") ||
      compareTexts(left.parentId ?? "", right.parentId ?? "") ||
      compareTexts(left.code ?? "", right.code ?? ""),
  );
}

function sortedByCode<Coded extends { code: string }>(items: readonly Coded[]): Coded[] {
  return items.toSorted((left, right) => compareTexts(left.code, right.code));
}

export function sortedClaims<Claim extends { assetNumber: string } | { instanceId: string }>(
  claims: readonly Claim[],
): Claim[] {
  const keyOf = (claim: Claim): string =>
    "assetNumber" in claim ? `number ${claim.assetNumber}` : "instanceId" in claim ? `unit ${claim.instanceId}` : "";
  return claims.toSorted((left, right) => compareTexts(keyOf(left), keyOf(right)));
}

/** An amount in minor units (cents for EUR). */
const moneySchema = z.strictObject({ currency: z.string().regex(/^[A-Z]{3}$/), minor: z.int() });
export type Money = z.infer<typeof moneySchema>;

const trialFields = {
  trial: z.boolean().default(false).describe("Whether it is a trial."),
  trialEnd: instant.optional().describe("When the trial ends."),
};

const featureSchema = z.strictObject({
  code: text.describe("Code of the feature."),
  name: text.describe("Name of the feature."),
  value: z.string().describe("Value of the feature."),
  valueType: text.describe("Type of the value."),
  ...trialFields,
});
export type Feature = z.infer<typeof featureSchema>;

const extensionSchema = z.strictObject({
  code: text.describe("Code of the extension."),
  value: z.string().describe("Value of the extension."),
});

const instanceOfOrder = {
  orderNamespace: namespace.optional().describe("Namespace of that order, where it is not this one's."),
  instanceId: identifier.describe("The instance there."),
};

const instanceId = identifier.describe("The CRM's id of this instance; unique within the order.");
const term = text.describe("Term as years-months-days: `1-0-0` for one year.");

const assetFields = {
  id: instanceId,
  licenseType: z.enum(licenseTypes).describe("Licence type of the asset."),
  assetNumbers: z
    .array(identifier)
    .default([])
    .describe("Asset numbers that the CRM knows; the rest, up to `quantity`, comes from the pool (E9)."),
  quantity: z.int().min(1).max(10_000).default(1).describe("How many assets of this kind."),
  limitStart: instant.optional().describe("From when the asset may be used."),
  limitEnd: instant.optional().describe("Until when the asset may be used."),
  borrowedUsbKey: z.boolean().optional().describe("Whether it is a lock that is lent."),
  transferredAssetNumber: z.boolean().optional().describe("Whether the number was transferred from another customer."),
  continues: z
    .strictObject({
      orderId: identifier.optional().describe("The earlier order, where it is not this one."),
      ...instanceOfOrder,
    })
    .optional()
    .describe("The asset instance that this one renews: its products are bought under the numbers of that one."),
  locked: z.boolean().optional().describe("Whether the CRM wants the asset locked (E6, E7)."),
};

const packageFields = {
  id: instanceId,
  number: text.describe("Number of the package (merchandise)."),
  name: text.describe("Name of the package."),
  term,
};

const productFields = {
  id: instanceId,
  name: text.describe("Name of the product."),
  gmsPid: text.optional().describe("Product number; this or `appKey` names the product."),
  appKey: text.optional().describe("Application key of the product; this or `gmsPid` names the product."),
  type: text.describe("Product type, one of the words in `assumptions.productTypes`."),
  limitStart: instant.optional().describe("From when the product may be used."),
  limitEnd: instant.optional().describe("Until when the product may be used."),
  nodes: z.int32().min(0).describe("Number of nodes."),
  usage: z.int().min(0).optional().describe("Usage duration; left out where usage does not limit the product."),
  ...trialFields,
  passwords: z.array(text).optional().describe("Licence passwords. A secret."),
  timeUnit: text.describe("Unit of the term, one of the words in `assumptions.timeUnits`."),
  timeUnitQuantity: z.int().min(0).describe("How many of that unit."),
  term,
  srcLicenseOrderId: identifier
    .optional()
    .describe("Licence order that the product is transferred from; only for a transfer."),
  transferredFrom: z
    .strictObject({ orderId: identifier.describe("The order that brought the product."), ...instanceOfOrder })
    .optional()
    .describe("The product instance that this one is transferred from; the licence order that brought it is named."),
  amount: moneySchema.optional().describe("The price of the product, if the CRM has one."),
};

/** Flat, as in the CRM, with the parent's id. Features are under a product, extensions under an asset. */
export const instanceSchema = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("asset"),
    ...assetFields,
    extensions: z.array(extensionSchema).overwrite(sortedByCode).default([]).describe("Extensions of the asset."),
  }),
  z.strictObject({
    kind: z.literal("package"),
    ...packageFields,
    parentId: identifier.describe("The asset or package that the package belongs to."),
    parentNumber: text.optional().describe("Number of the parent, where it is a package."),
  }),
  z.strictObject({
    kind: z.literal("product"),
    ...productFields,
    parentId: identifier.describe("The asset or package that the product belongs to."),
    features: z.array(featureSchema).overwrite(sortedByCode).default([]).describe("Features of the product."),
  }),
  z.strictObject({
    kind: z.literal("feature"),
    parentId: identifier.describe("The product that the feature belongs to."),
    ...featureSchema.shape,
  }),
  z.strictObject({
    kind: z.literal("extension"),
    parentId: identifier.describe("The asset that the extension belongs to."),
    ...extensionSchema.shape,
  }),
]);
export type Instance = z.infer<typeof instanceSchema>;

export const orderSchema = z.strictObject({
  ...keyFields,
  ...customerReference,
  channelOrderId: identifier
    .optional()
    .describe("Channel order number, where the template that makes it from the CRM id does not hold (A16)."),
  placedAt: instant.optional().describe("When the order was placed."),
  cancelled: z.boolean().default(false).describe("Whether the order is cancelled."),
  amount: moneySchema.optional().describe("The price of the order, if the CRM has one."),
  instances: z
    .array(instanceSchema)
    .min(1)
    .overwrite(sortedInstances)
    .describe("Assets, packages, products, features and extensions, flat, each with the id of its parent."),
});
export type Order = z.infer<typeof orderSchema>;
