import { usage } from "../base/errors.ts";
import { isAssumptionId } from "../operation/assumptions-met.ts";
import type { Application } from "./application.ts";

/**
 * Ends a contradiction of a row, once a person has seen to it: the next run sends again what rests on it. Throws a
 * usage Problem for what is no row, and for one that is not contradicted.
 */
export async function acceptAssumption(
  application: Pick<Application, "existingLedger">,
  row: string,
  whose: { by: string; reason: string },
): Promise<void> {
  const listed = "`crm-sync assumptions` lists them";
  if (!isAssumptionId(row)) throw usage(`${row} is no row of A1–A43`, listed);
  const ledger = await application.existingLedger();
  if (!(await ledger.assumptions.accept(row, whose)))
    throw usage(`${row} is not contradicted, so there is nothing to accept`, listed);
}
