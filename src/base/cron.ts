import { validateDetailed } from "node-cron";
import { failed, ok, type Result } from "./errors.ts";

export interface Cron {
  text: string;
  minutes: readonly number[];
  hours: readonly number[];
  daysOfMonth: ReadonlySet<number>;
  lastDay: boolean;
  months: ReadonlySet<number>;
  /** 0 is Sunday. */
  weekdays: ReadonlySet<number>;
  /** Both day fields are restricted: a day fits if either does, as in every cron. */
  eitherDay: boolean;
  /** The hour is `*`: fire times follow elapsed time through a clock change. Else once a day at each named time. */
  interval: boolean;
}

/** Reads `minute hour day-of-month month weekday`. The error is for the person who wrote it. */
export function parseCron(text: string): Result<Cron, string> {
  const parts = text.trim().split(/\s+/u);
  if (parts.length !== 5) {
    return failed("five fields: minute, hour, day of month, month, weekday, such as `*/15 * * * *`");
  }
  const checked = validateDetailed(parts.join(" "));
  const fields = checked.fields;
  if (!checked.valid || fields === undefined) {
    const error = checked.errors[0];
    return failed(error === undefined ? "a cron expression" : `a cron expression (${error.field}: ${error.message})`);
  }
  const [, hourText = "*", dayText = "*", , weekdayText = "*"] = parts;
  const days = fields.dayOfMonth.filter((day) => typeof day === "number");
  const lastDay = fields.dayOfMonth.some((day) => typeof day === "string" && day.toUpperCase() === "L");
  const weekdays = fields.dayOfWeek.filter((day) => typeof day === "number").map((day) => day % 7);
  const odd =
    fields.dayOfMonth.some((day) => typeof day === "string" && day.toUpperCase() !== "L") ||
    fields.dayOfWeek.some((day) => typeof day === "string");
  if (odd)
    return failed(
      "a cron expression of numbers, names, ranges, lists and steps (of the letters only `L` as day of month)",
    );
  return ok({
    text,
    minutes: [...new Set(fields.minute)].sort((a, b) => a - b),
    hours: [...new Set(fields.hour)].sort((a, b) => a - b),
    daysOfMonth: new Set(days),
    lastDay,
    months: new Set(fields.month),
    weekdays: new Set(weekdays),
    eitherDay: !/^[*?]/u.test(dayText) && !/^[*?]/u.test(weekdayText),
    interval: hourText === "*",
  });
}
