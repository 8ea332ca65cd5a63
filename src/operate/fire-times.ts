import type { Cron } from "../base/cron.ts";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** A period in which a zone keeps one offset from UTC, in epoch milliseconds; `to` is excluded. */
interface Stretch {
  from: number;
  to: number;
  offset: number;
}

/**
 * The fire times of a schedule in (from, to], in epoch milliseconds, ascending.
 *
 * A named time of day (`30 2 * * *`) fires once a day. If the clocks skip it, it fires at the first moment after the
 * gap; if they repeat it, the first time. A schedule with `*` as hour continues at its interval through both. Why not
 * another library: cron-parser loses times on Lord Howe Island, and croner takes 200 times as long. In a repeated hour,
 * croner also fires `45 1,2,3 * * *` twice.
 */
export function* dueFireTimes(cron: Cron, zone: string, from: number, to: number): Generator<number> {
  if (!(to > from)) return;
  let last = from;
  // When the clocks change, fire times of one day can mix with the next day's, so both days are compared.
  let carried: number[] = [];
  const end = startOfUtcDay(to) + 2 * day;
  for (let midnight = startOfUtcDay(from) - 2 * day; midnight <= end; midnight += day) {
    const fireTimes = fireTimesOfDay(cron, zone, midnight);
    const first = fireTimes[0] ?? midnight - day;
    const ready = carried.filter((fireTime) => fireTime < first);
    carried = [...carried.filter((fireTime) => fireTime >= first), ...fireTimes].sort((a, b) => a - b);
    for (const fireTime of ready) {
      if (fireTime > last && fireTime <= to) {
        last = fireTime;
        yield fireTime;
      }
    }
  }
  for (const fireTime of carried) {
    if (fireTime > last && fireTime <= to) {
      last = fireTime;
      yield fireTime;
    }
  }
}

/** The last fire time in (from, to], or undefined. The cost grows with its distance from `to`. */
export function latestFireTime(cron: Cron, zone: string, from: number, to: number): number | undefined {
  if (!(to > from)) return undefined;
  const start = startOfUtcDay(from) - 2 * day;
  let best: number | undefined;
  let daysSince = 0;
  for (let midnight = startOfUtcDay(to) + 2 * day; midnight >= start; midnight -= day) {
    for (const fireTime of fireTimesOfDay(cron, zone, midnight)) {
      if (fireTime > from && fireTime <= to && (best === undefined || fireTime > best)) best = fireTime;
    }
    if (best !== undefined) {
      daysSince += 1;
      if (daysSince > 3) return best;
    }
  }
  return best;
}

/** The next fire time after a moment; undefined if eight years have no fire time (29 February can be that far away). */
export function nextFireTime(cron: Cron, zone: string, after: number): number | undefined {
  for (const fireTime of dueFireTimes(cron, zone, after, after + (8 * 366 + 1) * day)) return fireTime;
  return undefined;
}

/** How many fire times are in (from, to], counted up to `most`. */
export function countFireTimes(
  cron: Cron,
  zone: string,
  { from, to }: { from: number; to: number },
  most: number,
): number {
  let count = 0;
  for (const _fireTime of dueFireTimes(cron, zone, from, to)) {
    count += 1;
    if (count >= most) return count;
  }
  return count;
}

/** The fire times on the local date of the given UTC midnight, ascending, each once. */
function fireTimesOfDay(cron: Cron, zone: string, midnight: number): number[] {
  if (!fitsDay(cron, midnight)) return [];
  const stretches = stretchesAround(zone, midnight);
  const fireTimes = new Set<number>();
  for (const hours of cron.hours) {
    for (const minutes of cron.minutes) {
      const local = midnight + hours * hour + minutes * minute;
      const found = stretches.filter((one) => local >= one.from + one.offset && local < one.to + one.offset);
      if (cron.interval) {
        for (const one of found) fireTimes.add(local - one.offset);
        continue;
      }
      const first = found[0];
      if (first !== undefined) fireTimes.add(local - first.offset);
      else {
        const afterGap = stretches.find((one) => one.from + one.offset > local);
        if (afterGap !== undefined) fireTimes.add(afterGap.from);
      }
    }
  }
  return [...fireTimes].sort((a, b) => a - b);
}

function fitsDay(cron: Cron, midnight: number): boolean {
  const date = new Date(midnight);
  if (!cron.months.has(date.getUTCMonth() + 1)) return false;
  const isLast = new Date(midnight + day).getUTCDate() === 1;
  const dayFits = cron.daysOfMonth.has(date.getUTCDate()) || (cron.lastDay && isLast);
  const weekdayFits = cron.weekdays.has(date.getUTCDay());
  return cron.eitherDay ? dayFits || weekdayFits : dayFits && weekdayFits;
}

function startOfUtcDay(time: number): number {
  return Math.floor(time / day) * day;
}

/** The periods of constant offset that a local day can touch (offsets are between −12 and +14 hours). */
function stretchesAround(zone: string, midnight: number): Stretch[] {
  const to = midnight + 50 * hour;
  const found: Stretch[] = [];
  let start = midnight - 26 * hour;
  while (start < to) {
    const one = stretchAt(zone, start);
    found.push(one);
    start = one.to;
  }
  return found;
}

const mostKnown = 500;
/** Cached periods by zone, recently used ones first: Temporal takes a hundred times as long. */
const known = new Map<string, Stretch[]>();

function stretchAt(zone: string, time: number): Stretch {
  const list = known.get(zone) ?? [];
  const index = list.findIndex((one) => time >= one.from && time < one.to);
  const hit = list[index];
  if (hit !== undefined) {
    if (index > 3) list.unshift(...list.splice(index, 1));
    return hit;
  }
  const looked = lookUp(zone, time);
  known.set(zone, [looked, ...list.slice(0, mostKnown)]);
  return looked;
}

function lookUp(zone: string, time: number): Stretch {
  const local = Temporal.Instant.fromEpochMilliseconds(time).toZonedDateTimeISO(zone);
  // A millisecond later, so that a change at exactly this moment counts.
  const previous = local.add({ milliseconds: 1 }).getTimeZoneTransition("previous");
  return {
    from: previous?.epochMilliseconds ?? Number.NEGATIVE_INFINITY,
    to: local.getTimeZoneTransition("next")?.epochMilliseconds ?? Number.POSITIVE_INFINITY,
    offset: local.offsetNanoseconds / 1_000_000,
  };
}
