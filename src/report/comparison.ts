import type { RecordKey } from "../crm/model.ts";
import type { CrmStanding, CustomerCase } from "./reconciliation-facts.ts";

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
