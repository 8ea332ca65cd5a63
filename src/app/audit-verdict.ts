import { verifyChain } from "../ledger/audit/audit-log.ts";
import type { AuditVerdict } from "../ledger/audit/audit-log.ts";
import { headsPath, readKeptHeads } from "../ledger/audit/audit-heads.ts";
import type { Application } from "./application.ts";

/** Walks the whole audit record and compares it with the heads kept outside the database, in `heads`. */
export async function verifyAudit(application: Application): Promise<{ verdict: AuditVerdict; heads: string }> {
  const heads = headsPath(application.ledgerPath);
  const kept = readKeptHeads(heads);
  return { verdict: verifyChain((await application.inquiry()).auditRows(), kept), heads };
}
