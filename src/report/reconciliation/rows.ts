import { formatKey } from "../../crm/keys.ts";
import type { ReportPeriod, ReportRow, ReportShape } from "../document.ts";
import { levels, shownStill, shownTwice } from "./case.ts";
import type { Comparison, CustomerCase, Difference, DriftClass, Finding, Level } from "./case.ts";

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
  row: Pick<Comparison, "at" | "crmDate">,
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
