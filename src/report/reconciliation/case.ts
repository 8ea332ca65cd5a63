import type { JsonObject } from "../../base/canonical-json.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { NumberedItem } from "../../crm/order-items.ts";

/** How a record stands in the CRM, with the reason for which it waits. */
export interface CrmStanding {
  state: "current" | "quarantined" | "absent";
  /** Why it waits: the reason of its deferral. */
  waits: string | null;
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
  products: { wanted: readonly NumberedItem[]; placed: readonly NumberedItem[]; sent: readonly SentItem[] };
  packages: { wanted: readonly NumberedItem[]; placed: readonly NumberedItem[]; sent: readonly SentItem[] };
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

/**
 * - `matched`: the CRM wants it, it was sent or given, and the platform shows it; every sent field that M7 shows is
 *   equal.
 * - `missing`: wanted or sent, and not there.
 * - `extra`: there, and not wanted or not ours.
 * - `different`: there, with other values than were sent, or sent with other values than the CRM has now.
 * - `not-observable`: nothing can show it, or it was never read back.
 */
export type Agreement = "matched" | "missing" | "extra" | "different" | "not-observable";

export const levels = ["enterprise", "order", "product", "package", "staff", "assignment"] as const;
export type Level = (typeof levels)[number];

/**
 * What `verify` tells of: something that was placed, added or given is not shown, is shown with other values than were
 * sent, or is shown twice. What only the CRM changed since is none.
 */
export type Finding = "not-shown" | "differs" | "shown-twice";

/** One thing compared over its three sides: the CRM, what was sent, what is shown. */
export interface Comparison {
  level: Level;
  verdict: Agreement;
  order?: RecordKey | undefined;
  crmDate?: string | null | undefined;
  channelOrderId?: string | undefined;
  licenseOrderId?: string | undefined;
  licenseType?: string | undefined;
  assetNumber?: string | null | undefined;
  item?: string | undefined;
  staff?: RecordKey | undefined;
  memberGlobalId?: string | undefined;
  inCrm: boolean;
  sent: boolean;
  /** Null: it cannot be seen, or was never looked at. */
  shown: boolean | null;
  details: readonly string[];
  finding?: Finding | undefined;
  operationId?: string | null | undefined;
  /** When it was sent, given or linked. */
  at?: string | null | undefined;
  seenAt?: string | null | undefined;
}

/** What the three sides of one thing come to. */
export type Judgement = Pick<Comparison, "verdict" | "shown" | "details" | "finding">;

/** Why something that the CRM wants was not sent. */
export function whyNot(crm: CrmStanding | null): string {
  if (crm === null) return "not sent";
  if (crm.state === "quarantined") return "not sent: the record waits in quarantine";
  return crm.waits === null ? "not sent yet" : `not sent: ${crm.waits}`;
}

/** A record whose newest form is not what was compared says so. */
export function waitNote(crm: CrmStanding | null): string[] {
  if (crm?.state === "quarantined")
    return ["the newest form of the record waits in quarantine; compared is the last usable one"];
  return crm?.waits === undefined || crm.waits === null ? [] : [`waits: ${crm.waits}`];
}

export function notRead(item: CustomerCase): string {
  return item.read === null ? "never read back: crm-sync run verify" : "the last reading back did not come to its end";
}
