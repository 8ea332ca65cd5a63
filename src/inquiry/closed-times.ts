import type { ReadOnlyLedger } from "./read-only-ledger.ts";

/** The time of a closed period: `from` belongs to it and `to` does not (epoch milliseconds). */
export interface ClosedTime {
  period: string;
  from: number;
  to: number;
}

/** The periods that are closed and were not opened again, in the order of time. */
export function closedTimes(ledger: ReadOnlyLedger): ClosedTime[] {
  const query = ledger.db
    .selectFrom("closed_period")
    .select(["period", "from_at", "to_at"])
    .where("reopened_at", "is", null)
    .orderBy("from_at");
  return [...ledger.rows(query)].map((row) => ({
    period: row.period,
    from: Date.parse(row.from_at),
    to: Date.parse(row.to_at),
  }));
}
