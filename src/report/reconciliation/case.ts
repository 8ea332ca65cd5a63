import type { JsonObject, Json } from "../../base/canonical-json.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { NumberedItem } from "../../crm/order-items.ts";
import type { CrmDate } from "../crm-date.ts";
import { formatKey } from "../../crm/keys.ts";

export interface CrmStanding {
  state: "current" | "quarantined" | "absent";
  waits: string | null;
  code: string | null;
}

/** As E5 sent it, under one asset number, without licence passwords. */
export interface SentItem {
  id: string;
  assetNumber: string;
  licenseType: string;
  fields: JsonObject;
  /** Undefined if it was bought when the order was placed. */
  purchase?: Purchase | undefined;
}

export interface Purchase {
  channelOrderId: string;
  operationId: string | null;
  at: string;
  licenceOrders: ReadonlyMap<string, string>;
}

/** `purchase`: set if it is newer than the placing and no call of ours made it. */
export interface PlacedItem extends NumberedItem {
  purchase?: Purchase | undefined;
}

export interface PlacedCase {
  at: string;
  origin: "placed" | "adopted";
  channelOrderId: string;
  operationId: string | null;
  licenceOrders: ReadonlyMap<string, string>;
}

export interface OrderCase {
  key: RecordKey;
  crm: CrmStanding | null;
  cancelled: boolean;
  isAway?: boolean | undefined;
  crmDate: CrmDate | null;
  placed: PlacedCase | null;
  /** Channel order numbers that this ledger used or adopted for the order, also if nothing of them exists. */
  numbers: readonly string[];
  units?: ReadonlyMap<string, number> | undefined;
  /** As far as this ledger knows, nothing bought for the order exists any more. */
  isOver?: boolean | undefined;
  products: { wanted: readonly NumberedItem[]; placed: readonly PlacedItem[]; sent: readonly SentItem[] };
  packages: { wanted: readonly NumberedItem[]; placed: readonly PlacedItem[]; sent: readonly SentItem[] };
}

export interface StaffCase {
  key: RecordKey;
  crm: CrmStanding | null;
  member: { memberGlobalId: string; at: string } | null;
  /** For each claim the asset numbers that satisfy it, and when the person last lost one. */
  claims: readonly { claim: string; numbers: readonly string[]; endedAt?: () => string | undefined }[];
}

export interface AssignmentCase {
  assetNumber: string;
  staff: RecordKey;
  memberGlobalId: string;
  at: string;
  operationId: string | null;
  order: RecordKey | null;
  licenseType: string | null;
}

interface Ended {
  memberGlobalId: string;
  at: string;
}

export interface ShownItem {
  seenAt: string;
  body: JsonObject;
}

export interface CustomerCase {
  key: RecordKey;
  crm: CrmStanding | null;
  link: { enterpriseGlobalId: string; at: string; origin: string } | null;
  /** Null: never read back. */
  read: { seenAt: string; complete: boolean } | null;
  orders: readonly OrderCase[];
  staff: readonly StaffCase[];
  assignments: readonly AssignmentCase[];
  /** Asset numbers that our operation took from a member and gave to nobody since. */
  freed: ReadonlyMap<string, Ended>;
  deleted: readonly (Ended & { staff: RecordKey })[];
  shown: {
    enterprises: ReadonlyMap<string, ShownItem>;
    assets: ReadonlyMap<string, ShownItem>;
    products: ReadonlyMap<string, ShownItem>;
    packages: ReadonlyMap<string, ShownItem>;
    members: ReadonlyMap<string, ShownItem>;
    twice: ReadonlyMap<string, ShownItem>;
  };
  /** Records in quarantine that were never usable. */
  unusable: readonly { level: "enterprise" | "order" | "staff"; key: RecordKey; code: string; message: string }[];
}

export interface ReconciliationView {
  /** Licence types of which the platform has shown a product. It may show no others (A43). */
  visibleTypes: ReadonlySet<string>;
  asOf: string | null;
  /** Dates of a term may differ by so many seconds and still be equal. */
  seconds?: number | undefined;
}

/**
 * - `matched`: the CRM wants it, it was sent, and the platform shows it; each sent field that M7 shows is equal.
 * - `missing`: wanted or sent, but not there.
 * - `extra`: there, but not wanted or not ours.
 * - `different`: its values differ from the sent ones, or the CRM has changed since.
 * - `in-transit`: moving between two people: revoked by us, not granted yet.
 * - `not-observable`: no reading can show it, or none was made.
 */
export type Agreement = "matched" | DriftClass;

const worst: readonly Agreement[] = ["missing", "different", "extra", "in-transit", "not-observable", "matched"];

/** The verdict of a whole with these parts. */
export function worstOf(verdicts: readonly Agreement[]): Agreement {
  return worst.find((verdict) => verdicts.includes(verdict)) ?? "matched";
}

/** For example `2 missing`, in the order of first occurrence. */
export function verdictCounts(verdicts: readonly Agreement[]): string[] {
  return [...Map.groupBy(verdicts, (verdict) => verdict)]
    .filter(([verdict]) => verdict !== "matched")
    .map(([verdict, all]) => `${all.length} ${verdict}`);
}

/** Every state of a sent thing that is not as sent. */
export const driftClasses = ["missing", "extra", "different", "in-transit", "not-observable"] as const;
export type DriftClass = (typeof driftClasses)[number];

/** Contains only ids and values of the platform. */
export interface Difference {
  level: Level;
  /** Duplicates and removed items have a prefix: `shownTwice` or `shownStill`. */
  subject: string;
  class: DriftClass;
  detail: string;
  at?: string | null | undefined;
}

export const shownTwice = "shown twice: ";

/** Prefix for items bought under our number that the ledger knows as removed and the platform still shows. */
export const shownStill = "shown still: ";

export const levels = ["enterprise", "order", "product", "package", "staff", "assignment"] as const;
export type Level = (typeof levels)[number];

/** Problems that `verify` reports about sent things. A change in the CRM alone is not a finding. */
export type Finding = "not-shown" | "differs" | "shown-twice" | "shown-still";

export interface Comparison {
  level: Level;
  verdict: Agreement;
  order?: RecordKey | undefined;
  crmDate?: CrmDate | null | undefined;
  channelOrderId?: string | undefined;
  licenseOrderId?: string | undefined;
  licenseType?: string | undefined;
  assetNumber?: string | null | undefined;
  unit?: number | undefined;
  item?: string | undefined;
  staff?: RecordKey | undefined;
  memberGlobalId?: string | undefined;
  inCrm: boolean;
  sent: boolean;
  /** Null: not visible, or never read. */
  shown: boolean | null;
  details: readonly string[];
  finding?: Finding | undefined;
  operationId?: string | null | undefined;
  at?: string | null | undefined;
  endedAt?: string | undefined;
  seenAt?: string | null | undefined;
}

export type Judgement = Pick<Comparison, "verdict" | "shown" | "details" | "finding">;

/** Identifies an order by its placing, or by the first purchase that still exists if nothing of the placing does. */
export function about(
  { key: order, crmDate, placed }: OrderCase,
  parts: readonly Comparison[] = [],
): Pick<Comparison, "order" | "crmDate" | "channelOrderId" | "operationId" | "at"> {
  const standing = parts.filter(({ sent, at }) => sent && at !== undefined);
  const isOfPlacing = standing.some(({ channelOrderId }) => channelOrderId === placed?.channelOrderId);
  const [first] = isOfPlacing ? [] : standing.toSorted((one, other) => ((one.at ?? "") < (other.at ?? "") ? -1 : 1));
  const { channelOrderId, operationId, at } = first ?? placed ?? {};
  return { order, crmDate, channelOrderId, operationId, at };
}

export function whyNot(crm: CrmStanding | null): string {
  if (crm === null) return "not sent";
  if (crm.state === "quarantined") return "not sent: the record waits in quarantine";
  return crm.waits === null ? "not sent yet" : `not sent: ${crm.waits}`;
}

/** The same customer with codes instead of messages, which may contain words of others. */
export function inCodes(item: CustomerCase): CustomerCase {
  const coded = (crm: CrmStanding | null): CrmStanding | null => crm && { ...crm, waits: crm.code };
  return {
    ...item,
    crm: coded(item.crm),
    orders: item.orders.map((order) => ({ ...order, crm: coded(order.crm) })),
    staff: item.staff.map((staff) => ({ ...staff, crm: coded(staff.crm) })),
    unusable: item.unusable.map((one) => ({ ...one, message: one.code })),
  };
}

/** Nothing is known about something sent after the last reading. */
export const sentSince = "it was sent after the platform was last read for the customer";

/** Whether `at` is later than the last complete reading. */
export function isSince({ read }: CustomerCase, at: string | undefined): boolean {
  return at !== undefined && read?.complete === true && at > read.seenAt;
}

export function waitNote(crm: CrmStanding | null): string[] {
  if (crm?.state === "quarantined")
    return ["the newest form of the record waits in quarantine; compared is the last usable one"];
  return crm?.waits === undefined || crm.waits === null ? [] : [`waits: ${crm.waits}`];
}

export function notRead(item: CustomerCase): string {
  return item.read === null ? "never read back: crm-sync run verify" : "the last reading of the platform did not end";
}

export function stillShown({ seenAt }: ShownItem, how: string): Omit<Comparison, "level"> {
  const details = [`a call removed it, and the platform still shows it ${how}`];
  return { verdict: "extra", inCrm: false, sent: false, shown: true, details, seenAt, finding: "shown-still" };
}

export function isWanted(staff: Pick<StaffCase, "crm">): boolean {
  return staff.crm !== null && staff.crm.state !== "absent";
}

/** The drift among comparisons. Changes only in the CRM, and things sent after `seenAt`, are left out. */
export function differencesOf(rows: readonly Comparison[], seenAt: string): Difference[] {
  return rows.flatMap((row) => {
    const found = classOf(row);
    if (found === undefined || (row.at ?? "") > seenAt) return [];
    const named = subjectOf(row);
    const subject = `${row.finding === undefined ? "" : (begins[row.finding] ?? "")}${named}`;
    return [{ level: row.level, subject, class: found, detail: row.details[0] ?? row.verdict, at: row.at }];
  });
}

export function subjectOf(row: Pick<Comparison, "order" | "item" | "assetNumber" | "staff">): string {
  const what = [
    row.order === undefined ? undefined : `of order ${formatKey(row.order)}`,
    row.item,
    row.assetNumber === undefined || row.assetNumber === null ? undefined : `under asset number ${row.assetNumber}`,
    row.staff === undefined ? undefined : `of ${formatKey(row.staff)}`,
  ];
  return what.filter((part) => part !== undefined).join(" ");
}

const classes = {
  "not-shown": "missing",
  differs: "different",
  "shown-twice": "extra",
  "shown-still": "extra",
} as const;

const begins: Partial<Record<Finding, string>> = { "shown-twice": shownTwice, "shown-still": shownStill };

/** An order is reported by its contents. */
function classOf({ level, verdict, finding, sent, inCrm }: Comparison): DriftClass | undefined {
  if (finding !== undefined) return classes[finding];
  if (level === "order") return undefined;
  if (verdict === "extra") return sent || inCrm ? undefined : "extra";
  if (verdict === "in-transit") return verdict;
  return sent && verdict === "not-observable" ? verdict : undefined;
}

/** `unsent`: how many of the others were never sent. */
export type AgreementCount = {
  what: "enterprises" | "orders" | "products" | "packages" | "staff" | "assignments";
  matched: number;
  unsent: number;
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

export function agreementOf(rows: Iterable<Comparison>): AgreementCount[] {
  const counts = new Map(levels.map((level) => [level, { what: plural[level], matched: 0, unsent: 0, total: 0 }]));
  for (const { level, verdict, sent } of rows) {
    const count = counts.get(level);
    if (count === undefined) continue;
    count.total += 1;
    if (verdict === "matched") count.matched += 1;
    else if (!sent) count.unsent += 1;
  }
  return [...counts.values()].filter(({ total }) => total > 0);
}

const instants = new Set(["limitStartDate", "limitEndDate", "trialEndDate", "limitStart", "limitEnd", "trialEnd"]);

/** Smaller numbers are seconds: as milliseconds they would lie before March 1973. */
const leastMilliseconds = 100_000_000_000;

/** Milliseconds, from a number, its text, or a date with a time. */
export function instantOf(value: Json | undefined): number | undefined {
  if (value === undefined || value === null || value === "" || typeof value === "object") return undefined;
  const count = Number(value);
  if (typeof value === "boolean" || count === 0) return undefined;
  if (Number.isFinite(count)) return Math.abs(count) < leastMilliseconds ? count * 1000 : count;
  const at = Date.parse(String(value));
  return Number.isNaN(at) ? undefined : at;
}

/** Whether two instants differ by at most so many seconds. */
export function isWithin(
  field: string,
  one: Json | undefined,
  other: Json | undefined,
  seconds: number | undefined,
): boolean {
  if (seconds === undefined || !instants.has(field)) return false;
  const [from, to] = [instantOf(one), instantOf(other)];
  return from !== undefined && to !== undefined && Math.abs(from - to) <= seconds * 1000;
}
