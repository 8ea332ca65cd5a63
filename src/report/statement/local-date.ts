/** The local date of an instant in a zone, as `2026-10-01`; null where there is none. */
export function localDate(instant: string | null | undefined, zone: string): string | null {
  if (instant === null || instant === undefined) return null;
  return Temporal.Instant.from(instant).toZonedDateTimeISO(zone).toPlainDate().toString();
}

/** The local date and time of an instant in a zone, as `2026-10-01T08:30:00`; null where there is none. */
export function localTime(instant: string | null, zone: string): string | null {
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
