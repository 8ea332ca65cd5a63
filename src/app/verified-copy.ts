import { openInquiry } from "../inquiry/inquiry.ts";
import type { KeptHead } from "../ledger/audit/audit-log.ts";
import type { AuditFinding } from "../ledger/audit/verify-log.ts";
import { requireIntact } from "../ledger/database/backup.ts";
import type { CopiedLedger } from "../ledger/database/backup.ts";
import type { BackupManifest } from "./backup-manifest.ts";

/**
 * Looks through a copy of a ledger page by page, and verifies its schema and its audit log, with these heads of it.
 * Says how far it is. Throws what `refuse` makes of the first thing that is wrong.
 */
export async function verifiedCopy(
  copy: string,
  heads: (sequence: number) => readonly KeptHead[],
  refuse: (finding: AuditFinding) => Error,
): Promise<CopiedLedger & Pick<BackupManifest, "ledger" | "audit">> {
  const far = requireIntact(copy);
  const inquiry = openInquiry(copy);
  try {
    const head = await inquiry.auditHead();
    const { integrity, completeness } = await inquiry.auditVerdicts(heads(head?.sequence ?? 0));
    const bad = [integrity, completeness].find((verdict) => verdict.good === false);
    if (bad?.good === false) throw refuse(bad);
    const ledger = await inquiry.ledgerName();
    if (head === undefined) return { ...far, ledger, audit: null };
    const { sequence, hash, size, root } = head;
    return { ...far, ledger, audit: { sequence, hash, size, root } };
  } finally {
    inquiry.close();
  }
}
