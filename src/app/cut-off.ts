import { toInstant } from "../base/clock.ts";
import { exitCodes, Problem } from "../base/errors.ts";
import type { Inquiry } from "../inquiry/inquiry.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Blocker } from "../report/books.ts";
import { tolerancesOf } from "../report/statement/tolerances.ts";
import type { Period } from "../report/statement/shape.ts";
import type { Application } from "./application.ts";

/** How often a moment is looked for since which nobody wrote. */
const mostTries = 5;

/**
 * The moment that the figures of a closing stand on, and what stands in its way then: nothing was written between that
 * moment and the answer, so that what counts as signed off stands in the figures too. Throws a Problem where the period
 * cannot be closed, and where somebody writes again and again.
 */
export async function cutOffOf(
  { clock, config }: Pick<Application, "clock"> & { config: Pick<Application["config"], "reports"> },
  { ledger, inquiry }: { ledger: Ledger; inquiry: Inquiry },
  period: Period,
): Promise<{ asOf: string; blockers: Blocker[] }> {
  const tolerances = tolerancesOf(config.reports.tolerances);
  for (let tries = 0; tries < mostTries; tries += 1) {
    // Everything that was written up to the millisecond before this one is there, what was signed off just now too.
    await clock.sleep(2);
    const asOf = toInstant(clock.now() - 1);
    ledger.books.requireClosable(period, asOf);
    const blockers = await inquiry.blockers(period, tolerances);
    const newest = await inquiry.auditHead();
    if (newest === undefined || newest.at <= asOf) return { asOf, blockers };
  }
  throw new Problem({
    code: "periods.written-meanwhile",
    message:
      `${period.label} was not closed: each time its blockers were counted, somebody wrote into the ledger, so the ` +
      "figures could miss the newest sign-offs",
    cure: `wait until nobody signs off or decides, then run \`crm-sync report close ${period.label}\` again`,
    exitCode: exitCodes.runActive,
  });
}
