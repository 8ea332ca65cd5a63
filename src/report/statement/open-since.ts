import { formatKey } from "../../crm/keys.ts";
import type { Comparison } from "../reconciliation/case.ts";
import { differencesOf } from "../reconciliation/rows.ts";
import type { CustomerFacts, RecordFacts } from "./reconciled-case.ts";

/** How a difference that `verify` keeps is found. */
export function differenceKey(of: { level: string; subject: string; class: string }): string {
  return JSON.stringify([of.level, of.subject, of.class]);
}

/**
 * When a difference began. If `verify` has seen it: its first sight. If nothing was sent: when the CRM began to want it,
 * or what was given for that before ended.
 * If the CRM has changed it since it was sent: the time of that change. Else: when it was sent, or shown.
 */
export function openSince(row: Comparison, facts: CustomerFacts): string | null {
  if (row.verdict === "matched") return null;
  const [difference] = differencesOf([row], "9999");
  const kept = difference === undefined ? undefined : facts.differences.get(differenceKey(difference));
  if (kept !== undefined) return kept;
  const record = recordOf(row, facts);
  if (!row.sent && row.inCrm) {
    const since = (row.at === undefined ? record?.wantedSince : record?.changedAt) ?? row.at ?? null;
    return row.endedAt !== undefined && row.endedAt > (since ?? "") ? row.endedAt : since;
  }
  if (row.verdict === "not-observable" || row.finding !== undefined) return row.at ?? row.seenAt ?? null;
  return (row.sent ? record?.changedAt : row.seenAt) ?? row.at ?? row.seenAt ?? null;
}

/** The record of the CRM that something is of. */
export function recordOf({ level, order, staff }: Comparison, { records }: CustomerFacts): RecordFacts | undefined {
  if (level === "enterprise") return records.get("customers");
  if (staff !== undefined) return records.get(`staff ${formatKey(staff)}`);
  return order === undefined ? undefined : records.get(`orders ${formatKey(order)}`);
}
