import { usage } from "../../base/errors.ts";
import { dayIn, startOfDay } from "./period.ts";

const forms =
  "write a local date and time (2026-10-31T18:00), one with an offset (2026-10-31T18:00+01:00), or a date, which " +
  "means the end of that day (2026-10-31)";

/**
 * A moment in the past as a person writes it, as an ISO instant in UTC: local in a zone, or with an offset. Throws a
 * usage Problem for what is no moment, and for one that lies after `now`.
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

/** Epoch milliseconds of a date and time. */
function timeIn(text: string, zone: string): number {
  const found =
    /^(?<local>[12]\d{3}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?)(?<offset>Z|[+-]\d{2}:\d{2})?$/u.exec(
      text,
    )?.groups;
  if (found === undefined) throw usage(`${JSON.stringify(text)} is no moment`, forms);
  const { local = "", offset } = found;
  let time: Temporal.PlainDateTime;
  try {
    time = Temporal.PlainDateTime.from(local, { overflow: "reject" });
  } catch {
    throw usage(`${JSON.stringify(text)} is no moment: there is no such date or time`, forms);
  }
  if (offset !== undefined) {
    try {
      return Temporal.Instant.from(`${local}${offset}`).epochMilliseconds;
    } catch {
      throw usage(`${JSON.stringify(text)} is no moment: there is no such offset`, forms);
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
