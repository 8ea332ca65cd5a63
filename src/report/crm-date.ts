import type { DateZones } from "../crm/model.ts";
import { localDate, localTime } from "./statement/local-date.ts";

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
