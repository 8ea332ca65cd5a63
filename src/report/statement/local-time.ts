const quarterHour = 15 * 60_000;
const mostKept = 20_000;

/** Instants as the clocks of a zone show them. */
export interface LocalTime {
  /** Milliseconds by which clocks of the zone are ahead of UTC then. */
  offset(instant: number): number;
  /** `2026-10-01T02:00:00+02:00` for an instant in UTC; milliseconds only where there are some. */
  text(instant: string): string;
  /** `2026-10-01 02:00:00` for people, without the offset. */
  shown(instant: string): string;
}

/**
 * The time of a zone. What its rules say is kept for each quarter of an hour: clocks are changed at the beginning of
 * one.
 */
export function localTime(zone: string): LocalTime {
  const kept = new Map<number, number>();
  const offset = (instant: number): number => {
    const quarter = Math.floor(instant / quarterHour);
    const known = kept.get(quarter);
    if (known !== undefined) return known;
    const there = Temporal.Instant.fromEpochMilliseconds(quarter * quarterHour).toZonedDateTimeISO(zone);
    const found = Math.round(there.offsetNanoseconds / 60e9) * 60_000;
    if (kept.size >= mostKept) kept.clear();
    kept.set(quarter, found);
    return found;
  };
  const clock = (instant: string): { text: string; ahead: number } => {
    const at = Date.parse(instant);
    const ahead = offset(at);
    return { text: new Date(at + ahead).toISOString().slice(0, -1).replace(".000", ""), ahead };
  };
  return {
    offset,
    text: (instant) => {
      const { text, ahead } = clock(instant);
      return text + offsetText(ahead);
    },
    shown: (instant) => clock(instant).text.replace("T", " "),
  };
}

function offsetText(ahead: number): string {
  const minutes = Math.abs(ahead) / 60_000;
  const two = (value: number): string => String(value).padStart(2, "0");
  return `${ahead < 0 ? "-" : "+"}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}
