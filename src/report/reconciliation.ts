import type { JsonObject } from "../base/canonical-json.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import type { NumberedItem } from "../crm/order-items.ts";
import type { ReportPeriod, ReportRow, ReportShape } from "./document.ts";

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

export const reconciliationShape: ReportShape = {
  columns: [
    "level",
    "verdict",
    "customer",
    "enterprise_global_id",
    "crm_order",
    "crm_date",
    "channel_order_id",
    "license_order_id",
    "license_type",
    "asset_number",
    "item",
    "staff",
    "member_global_id",
    "in_crm",
    "sent",
    "shown",
    "details",
    "operation",
    "sent_at",
    "seen_at",
    "age_hours",
  ],
  totalOf: (row) => `${String(row["level"])} ${String(row["verdict"])}`,
};

/** Something that `verify` tells of, in one sentence of ids alone. */
export interface FoundDifference {
  finding: Finding;
  customer: string;
  text: string;
}

/** The findings among the comparisons of a customer. */
export function findingsOf(item: CustomerCase, rows: readonly Comparison[]): FoundDifference[] {
  const customer = formatKey(item.key);
  return rows.flatMap((row) => {
    if (row.finding === undefined) return [];
    const what = [
      row.level,
      row.order === undefined ? undefined : `of order ${formatKey(row.order)}`,
      row.item,
      row.assetNumber === undefined || row.assetNumber === null ? undefined : `under asset number ${row.assetNumber}`,
      row.staff === undefined ? undefined : `of ${formatKey(row.staff)}`,
    ];
    const named = what.filter((part) => part !== undefined).join(" ");
    return [{ finding: row.finding, customer, text: `${customer}: ${named}: ${row.details[0] ?? row.verdict}` }];
  });
}

/** One comparison as a row of the report. */
export function reconciliationRow(item: CustomerCase, row: Comparison, asOf: string | null): ReportRow {
  const seenAt = row.seenAt ?? null;
  return {
    level: row.level,
    verdict: row.verdict,
    customer: formatKey(item.key),
    enterprise_global_id: item.link?.enterpriseGlobalId ?? null,
    crm_order: row.order === undefined ? null : formatKey(row.order),
    crm_date: row.crmDate ?? null,
    channel_order_id: row.channelOrderId ?? null,
    license_order_id: row.licenseOrderId ?? null,
    license_type: row.licenseType ?? null,
    asset_number: row.assetNumber ?? null,
    item: row.item ?? null,
    staff: row.staff === undefined ? null : formatKey(row.staff),
    member_global_id: row.memberGlobalId ?? null,
    in_crm: row.inCrm,
    sent: row.sent,
    shown: row.shown ?? "unknown",
    details: row.details,
    operation: row.operationId ?? null,
    sent_at: row.at ?? null,
    seen_at: seenAt,
    age_hours:
      seenAt === null || asOf === null
        ? null
        : Math.max(0, Math.floor((Date.parse(asOf) - Date.parse(seenAt)) / 3_600_000)),
  };
}

/**
 * Whether a comparison belongs to a period: by when it was sent or given, or by the date of its order in the CRM. What
 * has no such date (never sent, or not ours) belongs to every period, so that nothing is left out of all of them.
 */
export function inPeriod(
  row: Comparison,
  period: Pick<ReportPeriod, "from" | "to">,
  by: "happened" | "crm-date",
): boolean {
  const date = by === "crm-date" ? (row.crmDate ?? row.at ?? null) : (row.at ?? null);
  if (date === null) return true;
  const at = Date.parse(date);
  return at >= Date.parse(period.from) && at < Date.parse(period.to);
}

/** How much of one kind of thing is as meant. */
export type AgreementCount = {
  what: "enterprises" | "orders" | "products" | "packages" | "staff" | "assignments";
  matched: number;
  total: number;
};

const plural: Record<Level, AgreementCount["what"]> = {
  enterprise: "enterprises",
  order: "orders",
  product: "products",
  package: "packages",
  staff: "staff",
  assignment: "assignments",
};

/** Counts comparisons by their level; levels without any are left out. */
export class AgreementTally {
  readonly #counts = new Map<Level, { matched: number; total: number }>();

  add(row: Comparison): void {
    const count = this.#counts.get(row.level) ?? { matched: 0, total: 0 };
    count.total += 1;
    if (row.verdict === "matched") count.matched += 1;
    this.#counts.set(row.level, count);
  }

  counts(): AgreementCount[] {
    return levels.flatMap((level) => {
      const count = this.#counts.get(level);
      return count === undefined ? [] : [{ what: plural[level], ...count }];
    });
  }
}
