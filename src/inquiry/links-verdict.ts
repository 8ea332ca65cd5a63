import { unsaidLink } from "../ledger/state/said-links.ts";
import type { UnsaidLink } from "../ledger/state/said-links.ts";
import type { AuditFinding } from "../ledger/audit/verify-log.ts";
import type { ReadOnlyLedger } from "./read-only-ledger.ts";

/**
 * The first customer or person that the tables link with another enterprise or account than the last entry about it:
 * what is sent would reach somebody else. Undefined where there is none.
 */
export function linksFinding(ledger: ReadOnlyLedger): AuditFinding | undefined {
  const found = ledger.reading((database) => database.prepare<[], UnsaidLink>(unsaidLink).get());
  if (found === undefined) return undefined;
  const { subject, id, said, sequence } = found;
  const why = sequence === null ? "no entry says so" : `entry ${sequence} says ${said ?? "that it is no more"}`;
  return { code: "links-changed", firstBad: sequence ?? 0, why: `${subject} is linked with ${id}, and ${why}` };
}
