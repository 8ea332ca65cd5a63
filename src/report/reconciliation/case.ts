import type { JsonObject, Json } from "../../base/canonical-json.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { NumberedItem } from "../../crm/order-items.ts";
import type { CrmDate } from "../crm-date.ts";
import { formatKey } from "../../crm/keys.ts";

/** How a record stands in the CRM, with the reason for which it waits. */
export interface CrmStanding {
  state: "current" | "quarantined" | "absent";
  /** Why it waits: the reason of its deferral. */
  waits: string | null;
  /** The same as a code. */
  code: string | null;
}

/** A product or package as it was sent in an E5, under one asset number. Licence passwords are left out. */
export interface SentItem {
  id: string;
  assetNumber: string;
  licenseType: string;
  fields: JsonObject;
  /** Where it was not bought when the order was placed. */
  purchase?: Purchase | undefined;
}

/** A call that bought something for an order that was placed before. */
export interface Purchase {
  channelOrderId: string;
  operationId: string | null;
  at: string;
  /** Licence order by licence type. */
  licenceOrders: ReadonlyMap<string, string>;
}

/** What stands; `purchase` where it stands by no call of ours and not since the order was placed. */
export interface PlacedItem extends NumberedItem {
  purchase?: Purchase | undefined;
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
  /** Nobody wants it here any more: it was cancelled, or moved away. */
  cancelled: boolean;
  /** It moved to another customer in the CRM. */
  isAway?: boolean | undefined;
  crmDate: CrmDate | null;
  placed: PlacedCase | null;
  /** Channel order numbers under which this ledger bought for it, or took it over, whatever stands of that. */
  numbers: readonly string[];
  /** Which unit of its asset each asset number is of, where it was fixed to one. */
  units?: ReadonlyMap<string, number> | undefined;
  /** By what this ledger knows nothing stands any more of what was bought of it. */
  isOver?: boolean | undefined;
  products: { wanted: readonly NumberedItem[]; placed: readonly PlacedItem[]; sent: readonly SentItem[] };
  packages: { wanted: readonly NumberedItem[]; placed: readonly PlacedItem[]; sent: readonly SentItem[] };
}

export interface StaffCase {
  key: RecordKey;
  crm: CrmStanding | null;
  member: { memberGlobalId: string; at: string } | null;
  /** What the CRM gives this person: the numbers that would satisfy each claim, and when one was last taken from them. */
  claims: readonly { claim: string; numbers: readonly string[]; endedAt?: () => string | undefined }[];
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

/** A member who lost something by an operation of ours, and when. */
interface Ended {
  memberGlobalId: string;
  at: string;
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
  /** Asset numbers that nobody holds by our doing since an operation of ours took them, and from whom it did. */
  freed: ReadonlyMap<string, Ended>;
  /** Accounts that an operation of ours deleted. */
  deleted: readonly (Ended & { staff: RecordKey })[];
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
  unusable: readonly { level: "enterprise" | "order" | "staff"; key: RecordKey; code: string; message: string }[];
}

/** What is the same for all customers. */
export interface ReconciliationView {
  /** Licence types of which the platform has ever shown a product; of the others it may show none (A43). */
  visibleTypes: ReadonlySet<string>;
  asOf: string | null;
  /** Up to how many seconds two dates of a term may differ and still count as equal. */
  seconds?: number | undefined;
}

/**
 * - `matched`: the CRM wants it, it was sent or given, and the platform shows it; every sent field that M7 shows is
 *   equal.
 * - `missing`: wanted or sent, and not there.
 * - `extra`: there, and not wanted or not ours.
 * - `different`: there, with other values than were sent, or sent with other values than the CRM has now.
 * - `in-transit`: on its way from one person to another: taken by us, and not given yet.
 * - `not-observable`: nothing can show it, or it was never read back.
 */
export type Agreement = "matched" | DriftClass;

const worst: readonly Agreement[] = ["missing", "different", "extra", "in-transit", "not-observable", "matched"];

/** The verdict of what has parts with these verdicts. */
export function worstOf(verdicts: readonly Agreement[]): Agreement {
  return worst.find((verdict) => verdicts.includes(verdict)) ?? "matched";
}

/** How many parts are not as meant, such as `2 missing`, in the order in which each verdict comes first. */
export function verdictCounts(verdicts: readonly Agreement[]): string[] {
  return [...Map.groupBy(verdicts, (verdict) => verdict)]
    .filter(([verdict]) => verdict !== "matched")
    .map(([verdict, all]) => `${all.length} ${verdict}`);
}

/** What becomes of what was sent: all that is not as it was left. */
export const driftClasses = ["missing", "extra", "different", "in-transit", "not-observable"] as const;
export type DriftClass = (typeof driftClasses)[number];

/** In what the platform shows something else of a customer than was sent; ids and values of the platform alone. */
export interface Difference {
  level: Level;
  /** What it is about, beside its level; one that is shown twice, or still, begins so. */
  subject: string;
  class: DriftClass;
  detail: string;
  /** When it was sent, given or linked, where that is known. */
  at?: string | null | undefined;
}

/** How the subject begins of what is shown more than once. */
export const shownTwice = "shown twice: ";

/** How the subject begins of what was bought under a number of ours, is gone by what the ledger knows, and is shown. */
export const shownStill = "shown still: ";

export const levels = ["enterprise", "order", "product", "package", "staff", "assignment"] as const;
export type Level = (typeof levels)[number];

/**
 * What `verify` tells of: something that was placed, added or given is not shown, is shown with other values than were
 * sent, is shown twice, or is shown although it was taken away. What only the CRM changed since is none.
 */
export type Finding = "not-shown" | "differs" | "shown-twice" | "shown-still";

/** One thing compared over its three sides: the CRM, what was sent, what is shown. */
export interface Comparison {
  level: Level;
  verdict: Agreement;
  order?: RecordKey | undefined;
  crmDate?: CrmDate | null | undefined;
  channelOrderId?: string | undefined;
  licenseOrderId?: string | undefined;
  licenseType?: string | undefined;
  assetNumber?: string | null | undefined;
  /** The place of the unit in its asset, as it was bought: whatever number the platform gave it. */
  unit?: number | undefined;
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
  /** When what was given before ended. */
  endedAt?: string | undefined;
  seenAt?: string | null | undefined;
}

/** What the three sides of one thing come to. */
export type Judgement = Pick<Comparison, "verdict" | "shown" | "details" | "finding">;

/** What names an order: its placing, or where nothing of that stands the first purchase of which anything does. */
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

/** Why something that the CRM wants was not sent. */
export function whyNot(crm: CrmStanding | null): string {
  if (crm === null) return "not sent";
  if (crm.state === "quarantined") return "not sent: the record waits in quarantine";
  return crm.waits === null ? "not sent yet" : `not sent: ${crm.waits}`;
}

/** The same customer with codes in the place of what is said in words, which may be words of others. */
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

/** Why nothing can be said of what was sent, or given, after the last reading. */
export const sentSince = "it was sent after the platform was last read for the customer";

/** Whether something was sent after the last whole reading of a customer. */
export function isSince({ read }: CustomerCase, at: string | undefined): boolean {
  return at !== undefined && read?.complete === true && at > read.seenAt;
}

/** A record whose newest form is not what was compared says so. */
export function waitNote(crm: CrmStanding | null): string[] {
  if (crm?.state === "quarantined")
    return ["the newest form of the record waits in quarantine; compared is the last usable one"];
  return crm?.waits === undefined || crm.waits === null ? [] : [`waits: ${crm.waits}`];
}

export function notRead(item: CustomerCase): string {
  return item.read === null ? "never read back: crm-sync run verify" : "the last reading of the platform did not end";
}

/** What a call of ours removed, and the platform shows all the same. */
export function stillShown({ seenAt }: ShownItem, how: string): Omit<Comparison, "level"> {
  const details = [`a call removed it, and the platform still shows it ${how}`];
  return { verdict: "extra", inCrm: false, sent: false, shown: true, details, seenAt, finding: "shown-still" };
}

/** Whether the CRM wants a person to be there. */
export function isWanted(staff: Pick<StaffCase, "crm">): boolean {
  return staff.crm !== null && staff.crm.state !== "absent";
}

/**
 * What of the comparisons of a customer is otherwise than it was sent; what only the CRM changed since is not. What was
 * sent after `seenAt` was not looked for then.
 */
export function differencesOf(rows: readonly Comparison[], seenAt: string): Difference[] {
  return rows.flatMap((row) => {
    const found = classOf(row);
    if (found === undefined || (row.at ?? "") > seenAt) return [];
    const named = subjectOf(row);
    const subject = `${row.finding === undefined ? "" : (begins[row.finding] ?? "")}${named}`;
    return [{ level: row.level, subject, class: found, detail: row.details[0] ?? row.verdict, at: row.at }];
  });
}

/** What a difference is about, beside its level. */
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

/** Orders are told of by what is in them. */
function classOf({ level, verdict, finding, sent, inCrm }: Comparison): DriftClass | undefined {
  if (finding !== undefined) return classes[finding];
  if (level === "order") return undefined;
  if (verdict === "extra") return sent || inCrm ? undefined : "extra";
  if (verdict === "in-transit") return verdict;
  return sent && verdict === "not-observable" ? verdict : undefined;
}

/** How much of one kind of thing is as meant; `unsent`: how much of the rest was never sent. */
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

/** Counts comparisons by their level; levels without any are left out. */
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

/** Fields that hold an instant, as E5 carries them, as the CRM has them. */
const instants = new Set(["limitStartDate", "limitEndDate", "trialEndDate", "limitStart", "limitEnd", "trialEnd"]);

/** A number below it counts seconds: as milliseconds it would lie before March 1973. */
const leastMilliseconds = 100_000_000_000;

/** What an instant of the platform or of the CRM says, in milliseconds: a number, its text, or a date with a time. */
export function instantOf(value: Json | undefined): number | undefined {
  if (value === undefined || value === null || value === "" || typeof value === "object") return undefined;
  const count = Number(value);
  if (typeof value === "boolean" || count === 0) return undefined;
  if (Number.isFinite(count)) return Math.abs(count) < leastMilliseconds ? count * 1000 : count;
  const at = Date.parse(String(value));
  return Number.isNaN(at) ? undefined : at;
}

/** Whether two values of a field are instants that differ by no more than so many seconds. */
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
