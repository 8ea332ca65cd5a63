import { exitCodes, Problem, usage } from "../../base/errors.ts";
import type { CrmDate } from "../crm-date.ts";
import type { Period, PeriodBy } from "./shape.ts";

const forms =
  "write a month (2026-10), a quarter (2026-Q4), a year (2026), a day (2026-10-03), or a range whose ends both " +
  "belong to it (2026-09..2026-11)";

/** Local days: `first` is included, `after` is not. */
interface Days {
  first: Temporal.PlainDate;
  after: Temporal.PlainDate;
}

/** Parses a period in local days of a zone. Throws a usage Problem if the text is not a period. */
export function parsePeriod(label: string, zone: string): Period {
  const [begin = "", end, ...more] = label.split("..");
  if (more.length > 0) throw usage(`${JSON.stringify(label)} has more than one \`..\``, forms);
  const first = daysOf(begin, label);
  const last = end === undefined ? first : daysOf(end, label);
  if (
    Temporal.PlainDate.compare(last.after, first.first) <= 0 ||
    Temporal.PlainDate.compare(last.first, first.first) < 0
  )
    throw usage(`${JSON.stringify(label)} ends before it begins`, `write the earlier one first: ${end}..${begin}`);
  return { label, zone, from: startOfDay(first.first, zone), to: startOfDay(last.after, zone) };
}

export function closedPeriod({ label, zone, from, to }: Omit<Period, "joined">): Period {
  return { label, zone, from, to, ...(parsePeriod(label, zone).from === from ? {} : { joined: true }) };
}

/**
 * A period next to the one closed before it. If both meet on one local day in different zones, this one begins where
 * the closed one ended. So no moment is in both periods, and no moment is in neither.
 */
export function joinedTo(period: Period, before: Omit<Period, "label"> | undefined): Period {
  if (before === undefined || before.to === period.from || before.to >= period.to) return period;
  if (localDay(before.to, before.zone) !== localDay(period.from, period.zone)) return period;
  return { ...period, from: before.to, joined: true };
}

function localDay(at: string, zone: string): string {
  return Temporal.Instant.from(at).toZonedDateTimeISO(zone).toPlainDate().toString();
}

/** The period of the same length that contains an instant, as a label; for a range, the period of its first part. */
export function periodLike(label: string, at: string, zone: string): string {
  const day = localDay(at, zone);
  const [begin = ""] = label.split("..");
  if (begin.includes("Q")) return `${day.slice(0, 4)}-Q${Math.ceil(Number(day.slice(5, 7)) / 3)}`;
  return day.slice(0, begin.length);
}

/** Throws a usage Problem if the period ended before the ledger began: the ledger observed nothing of it. */
export function requireObserved({ label, zone, to }: Omit<Period, "joined">, began: string | undefined): void {
  if (began === undefined || began < to) return;
  throw new Problem({
    code: "periods.before-ledger",
    message: `${label} ended before this ledger began, at ${began}, so the ledger has no data to close it with`,
    cure:
      "close the period in which the ledger began, when that period is over: `crm-sync report close " +
      `${periodLike(label, began, zone)}\``,
    exitCode: exitCodes.usage,
  });
}

/** Throws a usage Problem if the period has not begun: its open issues are not known yet. */
export function requireBegun({ label, from }: Period, at: string): void {
  if (from <= at) return;
  throw new Problem({
    code: "periods.not-begun",
    message: `${label} begins only at ${from}, and its open issues are not known yet. Nothing was signed off`,
    cure: `name a period that has begun. After its start, \`crm-sync report blockers ${label}\` lists the open issues`,
    exitCode: exitCodes.usage,
  });
}

export function monthBefore(epochMs: number, zone: string): string {
  const date = Temporal.Instant.fromEpochMilliseconds(epochMs).toZonedDateTimeISO(zone).toPlainDate();
  return date.toPlainYearMonth().subtract({ months: 1 }).toString();
}

export function isOver({ to }: Period, at: string): boolean {
  return Date.parse(at) >= Date.parse(to);
}

/**
 * Whether something belongs to a period, by its own time or by the order's CRM date. Something without a date (never
 * sent, or not ours) belongs to every period, so that none leaves it out.
 */
export function inPeriod(
  period: Period,
  by: PeriodBy,
): (of: { at?: string | null | undefined; crmDate?: CrmDate | null | undefined }) => boolean {
  const sideOf = sidesOf(period);
  return ({ at, crmDate }) => {
    if (by === "crm-date" && crmDate !== null && crmDate !== undefined) return sideOf(crmDate) === 0;
    return at === null || at === undefined || sideOf({ at, zone: undefined }) === 0;
  };
}

export function periodDays({ label }: Pick<Period, "label">): Record<"first" | "after", string> {
  const [begin = "", end = begin] = label.split("..");
  return { first: daysOf(begin, label).first.toString(), after: daysOf(end, label).after.toString() };
}

/**
 * Whether a date is before the period (-1), in it (0) or after it (1). A local date counts by its day, in any zone: 1
 * October is always in October.
 */
export function sidesOf(period: Period): (date: CrmDate) => -1 | 0 | 1 {
  const [from, to] = [Date.parse(period.from), Date.parse(period.to)];
  let days: ReturnType<typeof periodDays> | undefined;
  return ({ at, zone }) => {
    if (zone === undefined) return sideOf(Date.parse(at), from, to);
    days ??= periodDays(period);
    return sideOf(localDay(at, zone), days.first, days.after);
  };
}

function sideOf<Moment extends number | string>(at: Moment, from: Moment, to: Moment): -1 | 0 | 1 {
  return at < from ? -1 : at < to ? 0 : 1;
}

/** The instant of a date; if it is on another side of the period than the date, the nearest one on the date's side. */
export function instantBeside(date: CrmDate, period: Period): string {
  const sides = sidesOf(period);
  const [own, asInstant] = [sides(date), sides({ at: date.at, zone: undefined })];
  const at = new Date(date.at).toISOString();
  if (own === asInstant) return at;
  if (own === 1) return period.to;
  if (own === 0) return asInstant < 0 ? period.from : lastBefore(period.to);
  return lastBefore(period.from);
}

function lastBefore(instant: string): string {
  return new Date(Date.parse(instant) - 1).toISOString();
}

/** Not midnight if the clock skips midnight. */
function startOfDay(day: Temporal.PlainDate, zone: string): string {
  return new Date(day.toZonedDateTime(zone).epochMilliseconds).toISOString();
}

function dayIn(text: string): Temporal.PlainDate | undefined {
  if (!/^[12]\d{3}-\d{2}-\d{2}$/u.test(text)) return undefined;
  try {
    return Temporal.PlainDate.from(text, { overflow: "reject" });
  } catch {
    return undefined;
  }
}

function daysOf(text: string, label: string): Days {
  const quarter = /^(?<year>[12]\d{3})-Q(?<number>[1-4])$/u.exec(text)?.groups;
  if (quarter !== undefined) {
    const month = Number(quarter["number"]) * 3 - 2;
    return lasting(Temporal.PlainDate.from({ year: Number(quarter["year"]), month, day: 1 }), { months: 3 });
  }
  if (/^[12]\d{3}$/u.test(text))
    return lasting(Temporal.PlainDate.from({ year: Number(text), month: 1, day: 1 }), { years: 1 });
  if (/^[12]\d{3}-(0[1-9]|1[0-2])$/u.test(text)) return lasting(Temporal.PlainDate.from(`${text}-01`), { months: 1 });
  const day = dayIn(text);
  if (day !== undefined) return lasting(day, { days: 1 });
  if (text === label) throw usage(`${JSON.stringify(label)} is no period`, forms);
  throw usage(`${JSON.stringify(label)} is no period: ${JSON.stringify(text)} is not one`, forms);
}

function lasting(first: Temporal.PlainDate, length: Temporal.DurationLike): Days {
  return { first, after: first.add(length) };
}

const momentForms =
  "write a local date and time (2026-10-31T18:00), one with an offset (2026-10-31T18:00+01:00), or a date, which " +
  "means the end of that day (2026-10-31)";

/**
 * Parses a past moment into an ISO instant in UTC: local in a zone, or with an offset. Throws a usage Problem if the
 * text is not a moment or is later than `now`.
 */
export function parseMoment(text: string, zone: string, now: number): string {
  const day = dayIn(text);
  const at = day === undefined ? timeIn(text, zone) : Date.parse(startOfDay(day.add({ days: 1 }), zone)) - 1;
  const instant = new Date(at).toISOString();
  if (at <= now) return instant;
  throw usage(
    `${JSON.stringify(text)} lies in the future${day === undefined ? "" : ": a date means the end of that day"}`,
    "ask for a moment in the past, or leave --as-of out for all that is known now",
  );
}

function timeIn(text: string, zone: string): number {
  const found =
    /^(?<local>[12]\d{3}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?)(?<offset>Z|[+-]\d{2}:\d{2})?$/u.exec(
      text,
    )?.groups;
  if (found === undefined) throw usage(`${JSON.stringify(text)} is no moment`, momentForms);
  const { local = "", offset } = found;
  let time: Temporal.PlainDateTime;
  try {
    time = Temporal.PlainDateTime.from(local, { overflow: "reject" });
  } catch {
    throw usage(`${JSON.stringify(text)} is no moment: there is no such date or time`, momentForms);
  }
  if (offset !== undefined) {
    try {
      return Temporal.Instant.from(`${local}${offset}`).epochMilliseconds;
    } catch {
      throw usage(`${JSON.stringify(text)} is no moment: there is no such offset`, momentForms);
    }
  }
  try {
    return time.toZonedDateTime(zone, { disambiguation: "reject" }).epochMilliseconds;
  } catch {
    throw usage(
      `${JSON.stringify(text)} is not one moment in ${zone}: the clock was changed then`,
      "write it with its offset, such as 2026-10-25T02:30+01:00",
    );
  }
}
