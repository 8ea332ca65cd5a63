import type { DateZones } from "../crm/model.ts";

/** A date as the CRM gave it: its instant, and its zone where it was a local date. */
export interface CrmDate {
  at: string;
  zone: string | undefined;
}

/** A date of a form of a record; null where the form has none. */
export function crmDate(at: string | null | undefined, zones: DateZones | undefined, field: string): CrmDate | null {
  return at === null || at === undefined ? null : { at, zone: zones?.[field] };
}

/** A date as the CRM gave it; where it gave an instant, its date in the zone of the statement. */
export function crmDay(date: CrmDate | null | undefined, zone: string): string | null {
  return date === null || date === undefined ? null : localDate(date.at, date.zone ?? zone);
}

/**
 * Two dates that differ, as text: with the time where the date is the same, and as instants where that is the same too,
 * because they are of two zones.
 */
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

/** The local date of an instant in a zone, as `2026-10-01`; null where there is none. */
export function localDate(instant: string | null | undefined, zone: string): string | null {
  if (instant === null || instant === undefined) return null;
  return Temporal.Instant.from(instant).toZonedDateTimeISO(zone).toPlainDate().toString();
}

/** The local date and time of an instant in a zone, as `2026-10-01T08:30:00`; null where there is none. */
function localTime(instant: string | null, zone: string): string | null {
  return instant === null ? null : Temporal.Instant.from(instant).toZonedDateTimeISO(zone).toPlainDateTime().toString();
}

/** Most dates of a statement are of the same few instants, such as the end of a year. */
const kept = 1000;

/** The same for many instants, of one zone where none of its own is given. */
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
