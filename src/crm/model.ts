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

const keyFields = { namespace: namespace.default("crm"), id: identifier };

/**
 * A customer of ours: what becomes an enterprise on the platform. `address` may be missing: such a customer exists but
 * cannot be ordered for yet.
 */
export const customerSchema = z.strictObject({
  ...keyFields,
  name: text,
  enterpriseName: text.optional(),
  customerType: z.enum(["personal", "company"]),
  branchCode: text,
  branchName: text,
  address: text.optional(),
  adminName: text.optional(),
  adminAccount: text.optional(),
  adminEmail: text.optional(),
  adminMobile: text.optional(),
  purchaserMobile: text.optional(),
  /** Overrides the template that derives the channel customer number from the CRM id (A8). */
  channelCustomerId: identifier.optional(),
});
export type Customer = z.infer<typeof customerSchema>;

const trialFields = { trial: z.boolean().default(false), trialEnd: instant.optional() };

export const featureSchema = z.strictObject({
  code: text,
  name: text,
  value: z.string(),
  valueType: text,
  ...trialFields,
});
export type Feature = z.infer<typeof featureSchema>;

export const extensionSchema = z.strictObject({ code: text, value: z.string() });
export type Extension = z.infer<typeof extensionSchema>;

const assetFields = {
  id: identifier,
  licenseType: z.enum(licenseTypes),
  /** Numbers the CRM already knows; the rest, up to `quantity`, comes from the pool (E9). */
  assetNumbers: z.array(identifier).default([]),
  quantity: z.int().min(1).max(10_000).default(1),
  limitStart: instant.optional(),
  limitEnd: instant.optional(),
  borrowedUsbKey: z.boolean().optional(),
  transferredAssetNumber: z.boolean().optional(),
};

const packageFields = {
  id: identifier,
  number: text,
  name: text,
  /** `y-m-d`, such as `1-0-0` for one year. */
  term: text,
};

const productFields = {
  id: identifier,
  name: text,
  gmsPid: text.optional(),
  appKey: text.optional(),
  type: text,
  limitStart: instant.optional(),
  limitEnd: instant.optional(),
  nodes: z.int().min(0),
  /** Accumulated usage duration; absent where the product is not limited by it. */
  usage: z.int().min(0).optional(),
  ...trialFields,
  passwords: z.array(text).optional(),
  timeUnit: text,
  timeUnitQuantity: z.int().min(0),
  term: text,
  /** Set only for a transfer from another licence order. */
  srcLicenseOrderId: identifier.optional(),
  amount: moneySchema.optional(),
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
    extensions: z.array(extensionSchema).overwrite(sortedByCode).default([]),
  }),
  z.strictObject({ kind: z.literal("package"), ...packageFields, parentId: identifier, parentNumber: text.optional() }),
  z.strictObject({
    kind: z.literal("product"),
    ...productFields,
    parentId: identifier,
    features: z.array(featureSchema).overwrite(sortedByCode).default([]),
  }),
  z.strictObject({ kind: z.literal("feature"), parentId: identifier, ...featureSchema.shape }),
  z.strictObject({ kind: z.literal("extension"), parentId: identifier, ...extensionSchema.shape }),
]);
export type Instance = z.infer<typeof instanceSchema>;

/** An order of a customer as the CRM keeps it. */
export const orderSchema = z.strictObject({
  ...keyFields,
  customerId: identifier,
  /** Namespace of the customer, where it is not the order's own. */
  customerNamespace: namespace.optional(),
  /** Overrides the template that derives the channel order number from the CRM id (A16). */
  channelOrderId: identifier.optional(),
  placedAt: instant.optional(),
  cancelled: z.boolean().default(false),
  amount: moneySchema.optional(),
  instances: z.array(instanceSchema).min(1).overwrite(sortedInstances),
});
export type Order = z.infer<typeof orderSchema>;

/**
 * Which asset a staff member should hold: by its number, or by the CRM id of the asset instance that an order brought.
 */
export const assetClaimSchema = z.union([
  z.strictObject({ assetNumber: identifier }),
  z.strictObject({ instanceId: identifier }),
]);

/** An employee of a customer and the assets this person should hold. */
export const staffSchema = z.strictObject({
  ...keyFields,
  customerId: identifier,
  customerNamespace: namespace.optional(),
  userName: text,
  name: text,
  remark: text.optional(),
  departmentId: z.string().regex(/^\d+$/).optional(),
  mobile: text.optional(),
  /** Initial password, where the configuration takes it from the CRM (A30). */
  password: text.optional(),
  assets: z.array(assetClaimSchema).overwrite(sortedClaims).default([]),
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
