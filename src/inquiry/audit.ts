import type { AuditRow } from "../ledger/audit/audit-log.ts";
import type { AuditHeadFacts } from "../report/facts.ts";
import type { ReadOnlyLedger } from "./read-only-ledger.ts";

const pageSize = 500;

/** The newest link of the audit chain; undefined in a ledger that was never written. */
export async function auditHead(ledger: ReadOnlyLedger): Promise<AuditHeadFacts | undefined> {
  return await ledger.db
    .selectFrom("audit")
    .select(["sequence", "hash"])
    .orderBy("sequence", "desc")
    .limit(1)
    .executeTakeFirst();
}

/** The newest instant at which the ledger learned something; null in one that never did. */
export async function asOf({ db }: ReadOnlyLedger): Promise<string | null> {
  const entry = await db.selectFrom("audit").select("at").orderBy("sequence", "desc").limit(1).executeTakeFirst();
  const read = await db
    .selectFrom("observation_read")
    .select(({ fn }) => fn.max("seen_at").as("at"))
    .executeTakeFirst();
  const instants = [entry?.at, read?.at].filter((at) => typeof at === "string").sort();
  return instants.at(-1) ?? null;
}

/** The audit chain, oldest first, in pages: whoever takes the entries slowly keeps no state of the ledger open. */
export function* auditRows(ledger: ReadOnlyLedger): Generator<AuditRow, void, void> {
  for (let after = Number.MIN_SAFE_INTEGER; ;) {
    const page = [
      ...ledger.rows(
        ledger.db
          .selectFrom("audit")
          .select(["sequence", "format", "at", "kind", "subject", "body", "previous", "hash"])
          .where("sequence", ">", after)
          .orderBy("sequence")
          .limit(pageSize),
      ),
    ];
    yield* page;
    const last = page.at(-1);
    if (last === undefined) return;
    after = last.sequence;
  }
}
