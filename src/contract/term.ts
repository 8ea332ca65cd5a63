import { type Result, failed, ok } from "../base/errors.ts";

/** A length of time of the y-m-d form: `1-0-0` is one year. */
interface Term {
  years: number;
  months: number;
  days: number;
}

/** What a configured word of `timeUnit` counts; `none` is a unit that no length follows from. */
export const termUnits = ["year", "month", "day", "none"] as const;
type TermUnit = (typeof termUnits)[number];

/** Reads `timeDurationExpression` (A22). */
export function parseTerm(expression: string): Result<Term, string> {
  const parts = /^(\d{1,4})-(\d{1,4})-(\d{1,5})$/.exec(expression);
  if (parts === null) return failed("is not of the form y-m-d, such as 1-0-0 for one year");
  return ok({ years: Number(parts[1]), months: Number(parts[2]), days: Number(parts[3]) });
}

/**
 * Compares the three ways in which a product says how long it lasts: the expression, unit × quantity, and start to end
 * (A22). Says what disagrees; the end may be the last day of the term or the first one after it, on any clock of the
 * world. A term of nothing (0-0-0) agrees with everything.
 */
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

/** How far the end may be from the end of the term: a day, and the change of a clock. */
const toleranceMs = 26 * hourMs;

/**
 * Whether the end lies a term after the start on some clock of the world. A limit is midnight somewhere, and counted on
 * another clock a month may begin a day earlier and be up to three days shorter. Zones and inclusive ends move the end
 * by up to a day, and a day on which clocks change is longer.
 */
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
