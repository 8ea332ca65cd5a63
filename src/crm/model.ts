import { z } from "zod";
import { identifier, keyFields, namespace, orderSchema, text, type Instance, type Order } from "./order-schemas.ts";
import { staffSchema, type Staff } from "./staff-schemas.ts";

export { licenseTypes } from "./order-schemas.ts";
export type { LicenseType } from "./order-schemas.ts";
export { instanceSchema, orderSchema } from "./order-schemas.ts";
export type { Feature, Instance, Money, Order } from "./order-schemas.ts";
export { staffSchema } from "./staff-schemas.ts";
export type { Staff } from "./staff-schemas.ts";

/** In the order in which they depend on each other. */
export const streams = ["customers", "orders", "staff"] as const;
export type Stream = (typeof streams)[number];

export interface RecordKey {
  namespace: string;
  id: string;
}

/** Becomes an enterprise on the platform. Without `address` nothing can be ordered for it. */
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
  creation: z
    .enum(["create", "bind"])
    .optional()
    .describe("Whether E2 creates its enterprise or E1 binds it; without it `assumptions.enterpriseCreation` says so."),
  mergedInto: z
    .strictObject({
      id: identifier.describe("The CRM's id of the customer that it was merged into."),
      namespace: namespace.optional().describe("Namespace of that customer, where it is not the record's own."),
    })
    .optional()
    .describe("The customer that this one was merged into. It is reported, and changes nothing."),
});
export type Customer = z.infer<typeof customerSchema>;

export type CanonicalRecord =
  | { stream: "customers"; record: Customer }
  | { stream: "orders"; record: Order }
  | { stream: "staff"; record: Staff };

/** The schema of orders is large, so it is made only when a source has orders. */
export const recordSchemas = {
  customers: customerSchema,
  get orders() {
    return orderSchema;
  },
  get staff() {
    return staffSchema;
  },
};

/** Personal data. Outside of the ledger's private table they are references with commitments. */
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

/** Secrets: sealed before they are stored. `instances[].passwords` are licence passwords. */
export const secretFields: Record<Stream, readonly string[]> = {
  customers: [],
  orders: ["instances[].passwords"],
  staff: ["password"],
};

export type InstanceWith<Passwords> =
  | Exclude<Instance, { kind: "product" }>
  | (Omit<Extract<Instance, { kind: "product" }>, "passwords"> & { passwords?: Passwords | undefined });

/** Without an order: an instance of the same order. */
export interface EarlierInstance {
  orderId?: string | undefined;
  orderNamespace?: string | undefined;
  instanceId: string;
}

type InstanceOf<Kind extends Instance["kind"]> = Omit<Extract<Instance, { kind: Kind }>, "kind">;

export interface Product<Passwords = string[]> extends Omit<InstanceOf<"product">, "passwords"> {
  passwords?: Passwords | undefined;
}

export interface Package<Passwords = string[]> extends InstanceOf<"package"> {
  products: Product<Passwords>[];
  children: Package<Passwords>[];
}

export interface Asset<Passwords = string[]> extends InstanceOf<"asset"> {
  products: Product<Passwords>[];
  packages: Package<Passwords>[];
}

/** Zones of local dates, by field (`placedAt`, `product.limitEnd`). Left out: instants, and fields in several zones. */
export type DateZones = Readonly<Record<string, string>>;
