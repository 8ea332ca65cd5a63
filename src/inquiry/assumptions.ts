import { assumptions } from "../contract/assumptions/registry.ts";
import { evidenceOfRows } from "../contract/assumptions/evidence.ts";
import { evidenceOf } from "../ledger/state/assumptions-met.ts";
import type { AssumptionStanding } from "../report/assumptions.ts";
import type { ReadOnlyLedger } from "./read-only-ledger.ts";

interface Met {
  row: string;
  count: number;
  first_at: string;
  last_at: string;
  evidence: string;
  accepted_at: string | null;
  by: string | null;
  reason: string | null;
}

/** Every row, in order. */
export async function assumptionStandings(ledger: ReadOnlyLedger): Promise<AssumptionStanding[]> {
  const rows: Met[] = await ledger.db.selectFrom("assumption_met").selectAll().execute();
  return assumptions.map(({ requiredBefore: _requiredBefore, ...assumption }) => {
    const evidence = evidenceOfRows.get(assumption.id);
    if (evidence === undefined) throw new Error(`${assumption.id} has no evidence`);
    const against = rows.find((row) => row.row === assumption.id);
    const isStanding = against !== undefined && against.accepted_at === null;
    return {
      ...assumption,
      ...evidence,
      standing: isStanding ? "contradicted" : "assumed",
      contradicted: isStanding ? contradiction(against) : null,
      accepted: acceptance(against),
    };
  });
}

function contradiction({ count, first_at, last_at, evidence }: Met): AssumptionStanding["contradicted"] {
  const { text, about } = evidenceOf(evidence);
  return { count, since: first_at, last: last_at, evidence: text, about };
}

function acceptance(row: Met | undefined): AssumptionStanding["accepted"] {
  if (row?.accepted_at === null || row === undefined) return null;
  return { at: row.accepted_at, by: row.by ?? "", reason: row.reason ?? "", evidence: evidenceOf(row.evidence).text };
}
