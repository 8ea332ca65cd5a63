import { z } from "zod";
import { sortedByCode, sortedClaims, sortedInstances } from "./stable-order.ts";

/** The streams of a source, in the order in which they depend on each other. */
export const streams = ["customers", "orders", "staff"] as const;
export type Stream = (typeof streams)[number];

/** The key of a canonical record: a namespace (default `crm`) and the id that the CRM gave it. */
export interface RecordKey {
  namespace: string;
  id: string;
}

const identifier = z.string().min(1).max(200);
/** Without a slash, so that a written key (`crm/10248`) names one record and no other, whatever the id holds. */
const namespace = identifier.regex(/^[^/]+$/);
const text = z.string().min(1);
/** An instant in UTC, ISO 8601 with `Z`. */
const instant = z.iso.datetime({ offset: false });

/** An amount in the minor unit of its currency (cents for EUR); money is present only where the CRM gives it. */
export const moneySchema = z.strictObject({ currency: z.string().regex(/^[A-Z]{3}$/), minor: z.int() });
export type Money = z.infer<typeof moneySchema>;

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

const keyFields = {
  namespace: namespace.default("crm").describe("Names the CRM that gave the id; with the id it is the record's key."),
  id: identifier.describe("The id that the CRM gave the record."),
};

/**
 * A customer of ours: what becomes an enterprise on the platform. `address` may be missing: such a customer exists but
 * cannot be ordered for yet.
 */
export const customerSchema = z.strictObject({
  ...keyFields,
  name: text.describe("Name of the customer."),
  enterpriseName: text.optional().describe("Name of the enterprise on the platform, where it is not the customer's."),
  customerType: z.enum(["personal", "company"]).describe("A person or a company."),
  branchCode: text.describe("Code of the branch that looks after the customer."),
  branchName: text.describe("Name of that branch."),
  address: text.optional().describe("Address; without it the customer exists and cannot be ordered for."),
  adminName: text.optional().describe("Name of the enterprise's administrator."),
  adminAccount: text.optional().describe("Account of the administrator."),
  adminEmail: text.optional().describe("E-mail of the administrator."),
  adminMobile: text.optional().describe("Mobile of the administrator."),
  purchaserMobile: text.optional().describe("Mobile of the purchaser, sent with orders."),
  channelCustomerId: identifier
    .optional()
    .describe("Channel customer number, where the template that makes it from the CRM id does not hold (A8)."),
});
export type Customer = z.infer<typeof customerSchema>;

const trialFields = {
  trial: z.boolean().default(false).describe("Whether it is a trial."),
  trialEnd: instant.optional().describe("When the trial ends."),
};

export const featureSchema = z.strictObject({
  code: text.describe("Code of the feature."),
  name: text.describe("Name of the feature."),
  value: z.string().describe("Value of the feature."),
  valueType: text.describe("Type of the value."),
  ...trialFields,
});
export type Feature = z.infer<typeof featureSchema>;

export const extensionSchema = z.strictObject({
  code: text.describe("Code of the extension."),
  value: z.string().describe("Value of the extension."),
});
export type Extension = z.infer<typeof extensionSchema>;

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
  nodes: z.int().min(0).describe("Number of nodes."),
  usage: z.int().min(0).optional().describe("Usage duration; left out where usage does not limit the product."),
  ...trialFields,
  passwords: z.array(text).optional().describe("Licence passwords. A secret."),
  timeUnit: text.describe("Unit of the term, one of the words in `assumptions.timeUnits`."),
  timeUnitQuantity: z.int().min(0).describe("How many of that unit."),
  term,
  srcLicenseOrderId: identifier
    .optional()
    .describe("Licence order that the product is transferred from; only for a transfer."),
  amount: moneySchema.optional().describe("What the product costs, where the CRM says so."),
};

/**
 * A CRM product instance as the CRM keeps it: flat, with the id of its parent. Assets have no parent; packages hang
 * under an asset or a package; products under an asset or a package; features under a product; extensions under an
 * asset.
 */
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

const customerReference = {
  customerId: identifier.describe("The CRM's id of the customer."),
  customerNamespace: namespace.optional().describe("Namespace of the customer, where it is not the record's own."),
};

/** An order of a customer as the CRM keeps it. */
export const orderSchema = z.strictObject({
  ...keyFields,
  ...customerReference,
  channelOrderId: identifier
    .optional()
    .describe("Channel order number, where the template that makes it from the CRM id does not hold (A16)."),
  placedAt: instant.optional().describe("When the order was placed."),
  cancelled: z.boolean().default(false).describe("Whether the order is cancelled."),
  amount: moneySchema.optional().describe("What the order costs, where the CRM says so."),
  instances: z
    .array(instanceSchema)
    .min(1)
    .overwrite(sortedInstances)
    .describe("Assets, packages, products, features and extensions, flat, each with the id of its parent."),
});
export type Order = z.infer<typeof orderSchema>;

/**
 * Which asset a staff member should hold: by its number, or by the CRM id of the asset instance that an order brought.
 */
export const assetClaimSchema = z.union([
  z.strictObject({ assetNumber: identifier.describe("The number of the asset.") }),
  z.strictObject({ instanceId: identifier.describe("The CRM's id of the asset instance that an order brought.") }),
]);

/** An employee of a customer and the assets this person should hold. */
export const staffSchema = z.strictObject({
  ...keyFields,
  ...customerReference,
  userName: text.describe("Account name: letters and digits."),
  name: text.describe("Name of the person."),
  remark: text.optional().describe("Remark on the person."),
  departmentId: z.string().regex(/^\d+$/).optional().describe("Department on the platform: digits."),
  mobile: text.optional().describe("Mobile of the person."),
  password: text.optional().describe("Initial password, where `assumptions.passwordSource` is `crm` (A30). A secret."),
  assets: z
    .array(assetClaimSchema)
    .overwrite(sortedClaims)
    .default([])
    .describe("The assets that the person should hold, by number or by the instance of an order."),
});
export type Staff = z.infer<typeof staffSchema>;

export type CanonicalRecord =
  | { stream: "customers"; record: Customer }
  | { stream: "orders"; record: Order }
  | { stream: "staff"; record: Staff };

export const recordSchemas = { customers: customerSchema, orders: orderSchema, staff: staffSchema } as const;

/**
 * Fields that hold personal data: everywhere but in the ledger's private table they stand as a reference with a
 * commitment.
 */
export const privateFields: Record<Stream, readonly string[]> = {
  customers: [
    "name",
    "enterpriseName",
    "address",
    "adminName",
    "adminAccount",
    "adminEmail",
    "adminMobile",
    "purchaserMobile",
  ],
  orders: [],
  staff: ["userName", "name", "remark", "mobile"],
};

/**
 * Fields that hold secrets: sealed with the configured key before they are stored at all. `instances[].passwords` are
 * licence passwords.
 */
export const secretFields: Record<Stream, readonly string[]> = {
  customers: [],
  orders: ["instances[].passwords"],
  staff: ["password"],
};

/** A flat instance whose licence passwords stand in some form: in clear, or as a marker. */
export type InstanceWith<Passwords> =
  | Exclude<Instance, { kind: "product" }>
  | (Omit<Extract<Instance, { kind: "product" }>, "passwords"> & { passwords?: Passwords | undefined });

/** A product as it stands in the tree. */
export interface Product<Passwords = string[]> {
  id: string;
  parentId: string;
  name: string;
  gmsPid?: string | undefined;
  appKey?: string | undefined;
  type: string;
  limitStart?: string | undefined;
  limitEnd?: string | undefined;
  nodes: number;
  usage?: number | undefined;
  trial: boolean;
  trialEnd?: string | undefined;
  passwords?: Passwords | undefined;
  timeUnit: string;
  timeUnitQuantity: number;
  term: string;
  srcLicenseOrderId?: string | undefined;
  amount?: Money | undefined;
  features: Feature[];
}

/** A package (merchandise) with its products and lower packages. `parentNumber` is absent for a root. */
export interface Package<Passwords = string[]> {
  id: string;
  parentId: string;
  number: string;
  name: string;
  parentNumber?: string | undefined;
  term: string;
  products: Product<Passwords>[];
  children: Package<Passwords>[];
}

/** An asset with everything that belongs to it, in a stable order. */
export interface Asset<Passwords = string[]> {
  id: string;
  licenseType: LicenseType;
  assetNumbers: string[];
  quantity: number;
  limitStart?: string | undefined;
  limitEnd?: string | undefined;
  borrowedUsbKey?: boolean | undefined;
  transferredAssetNumber?: boolean | undefined;
  extensions: Extension[];
  products: Product<Passwords>[];
  packages: Package<Passwords>[];
}
