import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseCron, type Cron } from "../../src/base/cron.ts";
import { latestFireTime, nextFireTime } from "../../src/operate/fire-times.ts";
import { cron, day, hour, minute } from "./hand-schedule.ts";

function between(what: Cron, zone: string, from: number, to: number): number[] {
  const found: number[] = [];
  for (let at = nextFireTime(what, zone, from); at !== undefined && at <= to; at = nextFireTime(what, zone, at))
    found.push(at);
  return found;
}

function local(text: string, zone: string, from: string, to: string): string[] {
  return between(cron(text), zone, Date.parse(from), Date.parse(to)).map((fireTime) =>
    Temporal.Instant.fromEpochMilliseconds(fireTime)
      .toZonedDateTimeISO(zone)
      .toString({ smallestUnit: "minute", timeZoneName: "never" }),
  );
}

describe("the fire times of a schedule", () => {
  it("exclude the beginning of a stretch and include its end", () => {
    expect(local("*/15 * * * *", "UTC", "2026-01-01T00:00Z", "2026-01-01T00:30Z")).toEqual([
      "2026-01-01T00:15+00:00",
      "2026-01-01T00:30+00:00",
    ]);
    expect(local("*/15 * * * *", "UTC", "2026-01-01T01:00Z", "2026-01-01T00:30Z")).toEqual([]);
  });

  it("come once at the first moment after the gap when the clocks skip their time", () => {
    expect(local("30 2 * * *", "Europe/Berlin", "2026-03-28T00:00Z", "2026-03-30T12:00Z")).toEqual([
      "2026-03-28T02:30+01:00",
      "2026-03-29T03:00+02:00",
      "2026-03-30T02:30+02:00",
    ]);
    expect(local("0,30 2,3 * * *", "Europe/Berlin", "2026-03-28T12:00Z", "2026-03-29T12:00Z")).toEqual([
      "2026-03-29T03:00+02:00",
      "2026-03-29T03:30+02:00",
    ]);
    expect(local("0 0 * * *", "Africa/Cairo", "2026-04-23T12:00Z", "2026-04-25T00:00Z")).toEqual([
      "2026-04-24T01:00+03:00",
      "2026-04-25T00:00+03:00",
    ]);
  });

  it("come once when the clocks repeat their time, and follow elapsed time where every hour is meant", () => {
    expect(local("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00Z", "2026-10-26T12:00Z")).toEqual([
      "2026-10-25T02:30+02:00",
      "2026-10-26T02:30+01:00",
    ]);
    expect(local("*/30 * * * *", "Europe/Berlin", "2026-10-24T23:59Z", "2026-10-25T02:00Z")).toEqual([
      "2026-10-25T02:00+02:00",
      "2026-10-25T02:30+02:00",
      "2026-10-25T02:00+01:00",
      "2026-10-25T02:30+01:00",
      "2026-10-25T03:00+01:00",
    ]);
  });

  it("know 29 February, the last day of a month, months without a 31st and either of two day fields", () => {
    expect(local("0 0 29 2 *", "UTC", "2023-01-01T00:00Z", "2033-01-01T00:00Z")).toHaveLength(3);
    expect(
      local("0 0 L * *", "UTC", "2024-01-15T00:00Z", "2024-04-01T00:00Z").map((fireTime) => fireTime.slice(0, 10)),
    ).toEqual(["2024-01-31", "2024-02-29", "2024-03-31"]);
    expect(local("0 0 31 * *", "UTC", "2026-01-01T00:00Z", "2026-12-31T12:00Z")).toHaveLength(7);
    expect(
      local("0 0 13 * 5", "UTC", "2026-02-01T00:00Z", "2026-03-01T00:00Z").map((fireTime) => fireTime.slice(8, 10)),
    ).toEqual(["06", "13", "20", "27"]);
    expect(nextFireTime(cron("0 0 29 2 *"), "UTC", Date.parse("2097-01-01T00:00Z"))).toBe(
      Date.parse("2104-02-29T00:00Z"),
    );
  });

  it(
    "agree with a slow reading of the same rules, minute by minute, around changes of clocks in many zones",
    { tags: "long" },
    () => {
      const zones = [
        "Europe/Berlin",
        "America/New_York",
        "America/St_Johns",
        "Australia/Lord_Howe",
        "Africa/Cairo",
        "Africa/Casablanca",
        "Asia/Kathmandu",
        "Pacific/Apia",
        "Pacific/Kiritimati",
        "America/Sao_Paulo",
        "UTC",
      ];
      const changes = zones.map((zone) => {
        const found: number[] = [];
        let at = Temporal.ZonedDateTime.from(`2005-06-01T00:00[${zone}]`);
        for (let count = 0; count < 40; count += 1) {
          const next = at.getTimeZoneTransition("next");
          if (next === null) break;
          found.push(next.epochMilliseconds);
          at = next;
        }
        return found.length === 0 ? [Date.parse("2020-02-28T12:00Z")] : found;
      });
      const crons = [
        "*/15 * * * *",
        "7 * * * *",
        "0 0 * * *",
        "30 2 * * *",
        "0 */2 * * *",
        "15,45 1-3 * * *",
        "30 23 * * 0",
        "*/20 0,23 * * *",
      ];
      fc.assert(
        fc.property(
          fc.nat({ max: zones.length - 1 }),
          fc.nat({ max: 39 }),
          fc.constantFrom(...crons),
          fc.integer({ min: -30 * 60, max: 30 * 60 }),
          fc.integer({ min: 1, max: 40 * 60 }),
          (zoneNumber, change, text, before, length) => {
            const zone = zones[zoneNumber] ?? "UTC";
            const list = changes[zoneNumber] ?? [];
            const from = (list[change % list.length] ?? 0) + before * minute;
            const to = from + length * minute;
            const expected = slowly(cron(text), zone, from, to);
            expect(between(cron(text), zone, from, to)).toEqual(expected);
            expect(latestFireTime(cron(text), zone, from, to)).toBe(expected.at(-1));
          },
        ),
        { numRuns: 400, seed: 20261120 },
      );
    },
  );
});

/** The fire times in (from, to] by asking Temporal about every local time of every date. */
function slowly(what: Cron, zone: string, from: number, to: number): number[] {
  const found = new Set<number>();
  const first = Temporal.Instant.fromEpochMilliseconds(from - 3 * day)
    .toZonedDateTimeISO("UTC")
    .toPlainDate();
  for (let count = 0; count < (to - from) / day + 6; count += 1) {
    const date = first.add({ days: count });
    const dayFits = what.daysOfMonth.has(date.day);
    const weekdayFits = what.weekdays.has(date.dayOfWeek % 7);
    if (!what.months.has(date.month) || !(what.eitherDay ? dayFits || weekdayFits : dayFits && weekdayFits)) continue;
    for (const hourOfDay of what.hours) {
      for (const minuteOfHour of what.minutes) {
        const wanted = date.toPlainDateTime({ hour: hourOfDay, minute: minuteOfHour });
        const earlier = wanted.toZonedDateTime(zone, { disambiguation: "earlier" });
        const later = wanted.toZonedDateTime(zone, { disambiguation: "later" });
        if (earlier.toPlainDateTime().equals(wanted)) {
          found.add(earlier.epochMilliseconds);
          if (what.interval) found.add(later.epochMilliseconds);
        } else if (!what.interval) {
          const change = earlier.getTimeZoneTransition("next");
          if (change !== null) found.add(change.epochMilliseconds);
        }
      }
    }
  }
  return [...found].filter((fireTime) => fireTime > from && fireTime <= to).sort((a, b) => a - b);
}

describe("a cron expression", () => {
  it.each([
    "",
    "* * * *",
    "0 * * * * *",
    "61 * * * *",
    "0 0 0 * *",
    "0 0 31 2 *",
    "*/0 * * * *",
    "a b c d e",
    "0 0 15W * *",
    "0 0 * * 1#2",
    "@daily",
  ])("is refused with the reason: %j", (text) => {
    const parsed = parseCron(text);
    expect(parsed.ok ? "" : parsed.error).toMatch(/\w/u);
  });

  it("may use names, ranges, lists, steps and ?", () => {
    expect([...cron("0 6 ? jan-mar mon,fri").weekdays]).toEqual([1, 5]);
    expect(cron("0 6 ? * 1").eitherDay).toBe(false);
    expect(cron("0-30/10 22-2 1 * *").hours).toEqual([0, 1, 2, 22, 23]);
    expect([...cron("0 0 * * 7").weekdays]).toEqual([0]);
    expect(hour / minute).toBe(60);
  });
});
