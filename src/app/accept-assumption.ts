import { hashOf } from "../base/canonical-json.ts";
import { exitCodes, Problem, usage } from "../base/errors.ts";
import { isAssumptionId } from "../engine/model/assumptions-met.ts";
import type { Application } from "./application.ts";

/** What of a contradiction a person saw. */
interface Seen {
  since: string;
  evidence: string;
  about: readonly string[];
}

/** Stands for exactly this contradiction: accepting it bears it from the page that showed it. */
export function contradictionMark({ since, evidence, about }: Seen): string {
  return hashOf([since, evidence, [...about]]);
}

/**
 * Ends a contradiction of a row, once a person has seen to it: the next run sends again what rests on it. Throws a
 * usage Problem for what is no row, and for one that is not contradicted; and where what contradicts it now is not what
 * the person saw, of which `shown` is the mark.
 */
export async function acceptAssumption(
  application: Pick<Application, "existingLedger">,
  row: string,
  whose: { by: string; reason: string },
  shown?: string,
): Promise<void> {
  const listed = "`crm-sync assumptions` lists them";
  if (!isAssumptionId(row)) throw usage(`${row} is no row of A1–A43`, listed);
  const ledger = await application.existingLedger();
  const requireShown = (standing: Seen): void => {
    if (shown !== undefined && shown !== contradictionMark(standing)) throw notShown(row);
  };
  if (!(await ledger.assumptions.accept(row, whose, requireShown)))
    throw usage(`${row} is not contradicted, so there is nothing to accept`, listed);
}

function notShown(row: string): Problem {
  return new Problem({
    code: "accept.not-shown",
    message: `the answers that contradict the assumption ${row} changed after you opened the page. Nothing was accepted`,
    cure: "open the page again, read the answers, then decide",
    exitCode: exitCodes.usage,
  });
}
