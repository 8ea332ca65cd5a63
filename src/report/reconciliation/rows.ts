import { formatKey } from "../../crm/keys.ts";
import type { ReportPeriod, ReportRow, ReportShape } from "../document.ts";
import { levels } from "./case.ts";
import type { Comparison, CustomerCase, Finding, Level } from "./case.ts";

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
