import { type Result, failed, ok } from "../base/errors.ts";

interface Term {
  years: number;
  months: number;
  days: number;
}

/** Units of the configured words for `timeUnit`. `none`: no length follows. */
export const termUnits = ["year", "month", "day", "none"] as const;
type TermUnit = (typeof termUnits)[number];

/** Reads `timeDurationExpression` (A22). */
export function parseTerm(expression: string): Result<Term, string> {
  const parts = /^(\d{1,4})-(\d{1,4})-(\d{1,5})$/.exec(expression);
  if (parts === null) return failed("is not of the form y-m-d, such as 1-0-0 for one year");
  return ok({ years: Number(parts[1]), months: Number(parts[2]), days: Number(parts[3]) });
}

/** What disagrees among term, unit × quantity and limits (A22). The end may be the last day or the next one. */
export function termDisagreement(stated: {
  term: Term;
  unit: TermUnit;
  quantity: number;
  limitStart?: string | undefined;
  limitEnd?: string | undefined;
}): string | undefined {
  const { term, unit, quantity, limitStart, limitEnd } = stated;
  const isNothing = term.years === 0 && term.months === 0 && term.days === 0;
  if (isNothing) return undefined;
  if (unit !== "none" && !sameLength(term, unit, quantity)) {
    return `the term ${term.years}-${term.months}-${term.days} is not ${quantity} × ${unit}`;
  }
  if (limitStart === undefined || limitEnd === undefined) return undefined;
  return somewhereAgrees(term, limitStart, limitEnd)
    ? undefined
    : `limitEnd (${limitEnd}) is not ${term.years}-${term.months}-${term.days} (years-months-days) after limitStart ` +
        `(${limitStart})`;
}

function sameLength(term: Term, unit: Exclude<TermUnit, "none">, quantity: number): boolean {
  if (unit === "day") return term.years === 0 && term.months === 0 && term.days === quantity;
  const months = term.years * 12 + term.months;
  return term.days === 0 && months === (unit === "year" ? quantity * 12 : quantity);
}

const hourMs = 3_600_000;

/** A day, and the change of a clock. */
const toleranceMs = 26 * hourMs;

/** A limit is midnight in some time zone. In another zone a month may begin a day earlier and be shorter. */
function somewhereAgrees(term: Term, limitStart: string, limitEnd: string): boolean {
  const end = Date.parse(limitEnd);
  for (let offset = -12; offset <= 14; offset += 1) {
    const start = new Date(Date.parse(limitStart) + offset * hourMs).toISOString();
    const local = Temporal.Instant.from(start).toZonedDateTimeISO("UTC");
    const expected =
      local.add({ years: term.years, months: term.months, days: term.days }).epochMilliseconds - offset * hourMs;
    if (Math.abs(expected - end) <= toleranceMs) return true;
  }
  return false;
}
