import type { CrmDate } from "../report/crm-date.ts";
import { sidesOf } from "../report/statement/period.ts";
import type { ReadOnlyLedger } from "./read-only-ledger.ts";

/** The time of a closed period. */
export interface ClosedTime {
  period: string;
  /** Whether a date lies in it. */
  has(date: CrmDate): boolean;
}

/** The periods that are closed and were not opened again, in the order of time. */
export function closedTimes(ledger: ReadOnlyLedger): ClosedTime[] {
  const query = ledger.db
    .selectFrom("closed_period")
    .select(["period as label", "zone", "from_at as from", "to_at as to"])
    .where("reopened_at", "is", null)
    .orderBy("from_at");
  return [...ledger.rows(query)].map((period) => {
    const sideOf = sidesOf(period);
    return { period: period.label, has: (date) => sideOf(date) === 0 };
  });
}
