import type { Cron } from "../base/cron.ts";

/** 29 February can be eight years away. */
const mostDays = 8 * 366 + 1;

/** The last fire time in (from, to], epoch milliseconds. The cost grows with its distance from `to`. */
export function latestFireTime(cron: Cron, zone: string, from: number, to: number): number | undefined {
  const isFound = (fireTime: number): boolean => fireTime > from && fireTime <= to;
  const first = dateAt(from, zone).subtract({ days: 1 });
  let date = dateAt(to, zone).add({ days: 1 });
  for (; Temporal.PlainDate.compare(date, first) >= 0; date = date.subtract({ days: 1 })) {
    const found = fireTimesOn(date, cron, zone).filter(isFound);
    // Around a clock change, fire times of two days can mix, so both days are compared.
    const before = () => fireTimesOn(date.subtract({ days: 1 }), cron, zone).filter(isFound);
    if (found.length > 0) return Math.max(...found, ...before());
  }
  return undefined;
}

/** The last fire time in (from, to] of the first local month that has one, in epoch milliseconds, or undefined. */
export function latestOfFirstMonth(cron: Cron, zone: string, from: number, to: number): number | undefined {
  const first = nextFireTime(cron, zone, from);
  if (first === undefined || first > to) return undefined;
  const month = dateAt(first, zone).with({ day: 1 }).add({ months: 1 }).toZonedDateTime(zone);
  return latestFireTime(cron, zone, from, Math.min(to, month.epochMilliseconds - 1));
}

/** The next fire time after a moment, in epoch milliseconds; undefined if eight years have no fire time. */
export function nextFireTime(cron: Cron, zone: string, after: number): number | undefined {
  const isFound = (fireTime: number): boolean => fireTime > after;
  let date = dateAt(after, zone).subtract({ days: 1 });
  for (let days = 0; days <= mostDays; days += 1, date = date.add({ days: 1 })) {
    const found = fireTimesOn(date, cron, zone).filter(isFound);
    const behind = () => fireTimesOn(date.add({ days: 1 }), cron, zone).filter(isFound);
    if (found.length > 0) return Math.min(...found, ...behind());
  }
  return undefined;
}

/**
 * Epoch milliseconds. A named time of day (`30 2 * * *`) fires once a day: at the first moment after a clock gap, or at
 * the first of two equal times. With `*` as hour the interval continues through both. No library does that: cron-parser
 * loses times on Lord Howe Island, and croner fires `45 1,2,3 * * *` twice in a repeated hour.
 */
function fireTimesOn(date: Temporal.PlainDate, cron: Cron, zone: string): number[] {
  if (!fitsDay(cron, date)) return [];
  return cron.hours.flatMap((hour) => cron.minutes.flatMap((minute) => momentsOf(date, { hour, minute }, cron, zone)));
}

function momentsOf(
  date: Temporal.PlainDate,
  time: { hour: number; minute: number },
  { interval }: Cron,
  zone: string,
): number[] {
  const local = date.toPlainDateTime(time);
  const earlier = local.toZonedDateTime(zone, { disambiguation: "earlier" });
  if (earlier.toPlainDateTime().equals(local)) {
    const later = interval ? local.toZonedDateTime(zone, { disambiguation: "later" }) : earlier;
    return [earlier.epochMilliseconds, later.epochMilliseconds];
  }
  const change = interval ? null : earlier.getTimeZoneTransition("next");
  return change === null ? [] : [change.epochMilliseconds];
}

function fitsDay(cron: Cron, date: Temporal.PlainDate): boolean {
  if (!cron.months.has(date.month)) return false;
  const dayFits = cron.daysOfMonth.has(date.day) || (cron.lastDay && date.day === date.daysInMonth);
  const weekdayFits = cron.weekdays.has(date.dayOfWeek % 7);
  return cron.eitherDay ? dayFits || weekdayFits : dayFits && weekdayFits;
}

function dateAt(time: number, zone: string): Temporal.PlainDate {
  return Temporal.Instant.fromEpochMilliseconds(time).toZonedDateTimeISO(zone).toPlainDate();
}
