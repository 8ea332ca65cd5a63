import type { DateZones } from "../crm/model.ts";

/** A date of the CRM. `zone`: set if it was a local date. */
export interface CrmDate {
  at: string;
  zone: string | undefined;
}

export function crmDate(at: string | null | undefined, zones: DateZones | undefined, field: string): CrmDate | null {
  return at === null || at === undefined ? null : { at, zone: zones?.[field] };
}

/** The local day of a date; an instant takes the zone of the statement. */
export function crmDay(date: CrmDate | null | undefined, zone: string): string | null {
  return date === null || date === undefined ? null : localDate(date.at, date.zone ?? zone);
}

/** Two different dates as texts: days; with times if these are equal; as instants if those are too (two zones). */
export function bothDates(
  before: CrmDate | null,
  after: CrmDate | null,
  zone: string,
): Record<"before" | "after", string | null> {
  const time = (date: CrmDate | null): string | null => localTime(date?.at ?? null, date?.zone ?? zone);
  for (const text of [(date: CrmDate | null) => crmDay(date, zone), time]) {
    const texts = { before: text(before), after: text(after) };
    if (texts.before !== texts.after) return texts;
  }
  return { before: before?.at ?? null, after: after?.at ?? null };
}

export function localDate(instant: string | null | undefined, zone: string): string | null {
  if (instant === null || instant === undefined) return null;
  return Temporal.Instant.from(instant).toZonedDateTimeISO(zone).toPlainDate().toString();
}

function localTime(instant: string | null, zone: string): string | null {
  return instant === null ? null : Temporal.Instant.from(instant).toZonedDateTimeISO(zone).toPlainDateTime().toString();
}

/** Most dates of a statement are a few instants, such as the end of a year. */
const kept = 1000;

/** `localDate` with a cache; `own`: the date's own zone. */
export function localDates(zone: string): (instant: string | null | undefined, own?: string) => string | null {
  const known = new Map<string, string | null>();
  return (instant, own = zone) => {
    if (instant === null || instant === undefined) return null;
    const of = `${instant} ${own}`;
    let date = known.get(of);
    if (date === undefined) {
      date = localDate(instant, own);
      if (known.size >= kept) known.clear();
      known.set(of, date);
    }
    return date;
  };
}
