import { formatKey } from "../crm/keys.ts";
import { assignmentRows } from "./assignment-comparison.ts";
import type { Comparison, Finding, Level } from "./comparison.ts";
import { levels, notRead, waitNote, whyNot } from "./comparison.ts";
import type { ReportPeriod, ReportRow, ReportShape } from "./document.ts";
import { orderRows } from "./order-comparison.ts";
import type { CustomerCase, ReconciliationView } from "./reconciliation-facts.ts";

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

/** Compares everything of one customer, in a fixed order. */
export function compareCustomer(item: CustomerCase, view: ReconciliationView): Comparison[] {
  return [
    ...enterpriseRows(item),
    ...orderRows(item, view),
    ...assignmentRows(item, view),
    ...twiceRows(item),
    ...item.unusable.map((record): Comparison => ({
      level: record.level,
      verdict: "missing",
      order: record.level === "order" ? record.key : undefined,
      staff: record.level === "staff" ? record.key : undefined,
      inCrm: true,
      sent: false,
      shown: null,
      details: [`waits in quarantine: ${record.message}`],
    })),
  ];
}

/** Assets and products that one reading showed more than once, whatever the order of its rows. */
function twiceRows(item: CustomerCase): Comparison[] {
  return [...item.shown.twice.values()].map(({ seenAt, body }): Comparison => {
    const text = (name: string): string | undefined => (typeof body[name] === "string" ? body[name] : undefined);
    const product = text("crmProductId");
    const what = product === undefined ? "the asset number" : "the product under this asset number";
    return {
      level: product === undefined ? "assignment" : "product",
      verdict: "extra",
      assetNumber: text("assetNum"),
      item: product,
      inCrm: false,
      sent: false,
      shown: true,
      details: [`the platform shows ${what} ${Number(body["times"])} times; it may have been placed twice`],
      seenAt,
      finding: "shown-twice",
    };
  });
}

function enterpriseRows(item: CustomerCase): Comparison[] {
  const wanted = item.crm !== null && item.crm.state !== "absent";
  const rows: Comparison[] = [];
  const notes = ["name, branch and address: no endpoint reads them back"];
  if (item.link === null) {
    if (wanted) {
      rows.push({
        level: "enterprise",
        verdict: "missing",
        inCrm: true,
        sent: false,
        shown: null,
        details: [whyNot(item.crm)],
      });
    }
    return rows;
  }
  const seen = item.shown.enterprises.get(item.link.enterpriseGlobalId);
  const base = {
    level: "enterprise" as const,
    inCrm: wanted,
    sent: true,
    at: item.link.at,
    seenAt: seen?.seenAt ?? item.read?.seenAt,
  };
  if (seen === undefined) {
    const looked = item.read?.complete === true;
    const details = looked ? ["E3 does not show the enterprise"] : [notRead(item)];
    const finding = looked ? ("not-shown" as const) : undefined;
    rows.push({
      ...base,
      verdict: looked ? "missing" : "not-observable",
      shown: looked ? false : null,
      details,
      finding,
    });
  } else if (!wanted) {
    rows.push({
      ...base,
      verdict: "extra",
      shown: true,
      details: ["the CRM no longer has the customer; its enterprise stays", ...notes],
    });
  } else {
    rows.push({ ...base, verdict: "matched", shown: true, details: [...waitNote(item.crm), ...notes] });
  }
  for (const [enterprise, other] of item.shown.enterprises) {
    if (enterprise === item.link.enterpriseGlobalId) continue;
    rows.push({
      level: "enterprise",
      verdict: "extra",
      inCrm: false,
      sent: false,
      shown: true,
      details: [`E3 shows ${enterprise} too, which is not linked to this customer`],
      seenAt: other.seenAt,
    });
  }
  return rows;
}

/** Something that `verify` tells of, in one sentence of ids alone. */
export interface FoundDifference {
  finding: Finding;
  customer: string;
  text: string;
}

/** The findings among the comparisons of a customer. */
export function findingsOf(item: CustomerCase, view: ReconciliationView): FoundDifference[] {
  const customer = formatKey(item.key);
  return compareCustomer(item, view).flatMap((row) => {
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
