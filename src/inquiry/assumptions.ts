import { assumptions } from "../contract/assumptions/assumptions.ts";
import { evidenceOfRows } from "../contract/assumptions/evidence.ts";
import { evidenceOf } from "../ledger/state/assumptions-met.ts";
import type { AssumptionStanding } from "../report/assumptions.ts";
import type { ReadOnlyLedger } from "./read-only-ledger.ts";

interface Met {
  row: string;
  verdict: "confirmed" | "contradicted";
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
    const of = (verdict: Met["verdict"]): Met | undefined =>
      rows.find((row) => row.row === assumption.id && row.verdict === verdict);
    const against = of("contradicted");
    const isStanding = against !== undefined && against.accepted_at === null;
    const confirmed = seen(of("confirmed"));
    return {
      ...assumption,
      ...evidence,
      standing: isStanding ? "contradicted" : confirmed === null ? "unverified" : "confirmed",
      confirmed,
      contradicted: isStanding ? contradiction(against) : null,
      accepted: acceptance(against),
    };
  });
}

function seen(row: Met | undefined): AssumptionStanding["confirmed"] {
  if (row === undefined) return null;
  return { count: row.count, since: row.first_at, last: row.last_at, evidence: row.evidence };
}

function contradiction({ count, first_at, last_at, evidence }: Met): AssumptionStanding["contradicted"] {
  const { text, about } = evidenceOf(evidence);
  return { count, since: first_at, last: last_at, evidence: text, about };
}

function acceptance(row: Met | undefined): AssumptionStanding["accepted"] {
  if (row?.accepted_at === null || row === undefined) return null;
  return { at: row.accepted_at, by: row.by ?? "", reason: row.reason ?? "", evidence: evidenceOf(row.evidence).text };
}
