import type { JsonObject } from "../base/canonical-json.ts";
import type { RecordKey } from "../crm/model.ts";

/** How a record stands in the CRM, with the reason for which it waits. */
export interface CrmStanding {
  state: "current" | "quarantined" | "absent";
  /** Why it waits: the reason of its deferral. */
  waits: string | null;
}

/**
 * A product or package of an order as the CRM has it now, under one asset number; `assetNumber` is null until a number
 * is fixed.
 */
export interface WantedItem {
  id: string;
  instanceId: string;
  assetNumber: string | null;
  licenseType: string;
  /** What the CRM says of it, to be compared between versions. */
  fields: JsonObject;
}

/** A product or package as it was sent in an E5, under one asset number. Licence passwords are left out. */
export interface SentItem {
  id: string;
  assetNumber: string;
  licenseType: string;
  fields: JsonObject;
}

export interface PlacedCase {
  at: string;
  origin: "placed" | "adopted";
  channelOrderId: string;
  operationId: string | null;
  /** Licence order by licence type. */
  licenceOrders: ReadonlyMap<string, string>;
}

/** One order: what the CRM wants, what was wanted when it was placed, and what was sent. */
export interface OrderCase {
  key: RecordKey;
  crm: CrmStanding | null;
  cancelled: boolean;
  crmDate: string | null;
  placed: PlacedCase | null;
  products: { wanted: readonly WantedItem[]; placed: readonly WantedItem[]; sent: readonly SentItem[] };
  packages: { wanted: readonly WantedItem[]; placed: readonly WantedItem[]; sent: readonly SentItem[] };
}

export interface StaffCase {
  key: RecordKey;
  crm: CrmStanding | null;
  member: { memberGlobalId: string; at: string } | null;
  /** What the CRM gives this person: for each claim the numbers that would satisfy it. */
  claims: readonly { claim: string; numbers: readonly string[] }[];
}

export interface AssignmentCase {
  assetNumber: string;
  staff: RecordKey;
  memberGlobalId: string;
  at: string;
  operationId: string | null;
  /** The order that brought the asset, where this ledger knows it. */
  order: RecordKey | null;
  licenseType: string | null;
}

/** What a reading showed last, with the instant at which it was seen. */
export interface ShownItem {
  seenAt: string;
  body: JsonObject;
}

/** Everything about one customer that can be compared. */
export interface CustomerCase {
  key: RecordKey;
  crm: CrmStanding | null;
  link: { enterpriseGlobalId: string; at: string; origin: string } | null;
  /** The last reading back, and whether it came to its end. Null: it was never read back. */
  read: { seenAt: string; complete: boolean } | null;
  orders: readonly OrderCase[];
  staff: readonly StaffCase[];
  assignments: readonly AssignmentCase[];
  /** By subject; products and packages under `number/id`. */
  shown: {
    enterprises: ReadonlyMap<string, ShownItem>;
    assets: ReadonlyMap<string, ShownItem>;
    products: ReadonlyMap<string, ShownItem>;
    packages: ReadonlyMap<string, ShownItem>;
    members: ReadonlyMap<string, ShownItem>;
    /** Assets and products that the last reading showed more than once. */
    twice: ReadonlyMap<string, ShownItem>;
  };
  /** Records of this customer in quarantine of which no usable form ever came. */
  unusable: readonly { level: "enterprise" | "order" | "staff"; key: RecordKey; message: string }[];
}

/** What is the same for all customers. */
export interface ReconciliationView {
  /** Licence types of which the platform has ever shown a product; of the others it may show none (A43). */
  visibleTypes: ReadonlySet<string>;
  asOf: string | null;
}
