import { describe, expect, it } from "vitest";
import { Problem } from "../../../src/base/errors.ts";
import {
  closedPeriod,
  instantBeside,
  isOver,
  monthBefore,
  parsePeriod,
  periodLike,
  sidesOf,
} from "../../../src/report/statement/period.ts";

const times = (label: string, zone: string): string[] => {
  const { from, to } = parsePeriod(label, zone);
  return [from, to];
};

describe("a period", () => {
  it("is a day, a month, a quarter or a year", () => {
    expect(parsePeriod("2026-10", "UTC")).toEqual({
      label: "2026-10",
      zone: "UTC",
      from: "2026-10-01T00:00:00.000Z",
      to: "2026-11-01T00:00:00.000Z",
    });
    expect(times("2026-Q4", "UTC")).toEqual(["2026-10-01T00:00:00.000Z", "2027-01-01T00:00:00.000Z"]);
    expect(times("2026-Q1", "UTC")).toEqual(["2026-01-01T00:00:00.000Z", "2026-04-01T00:00:00.000Z"]);
    expect(times("2024", "UTC")).toEqual(["2024-01-01T00:00:00.000Z", "2025-01-01T00:00:00.000Z"]);
    expect(times("2024-02-29", "UTC")).toEqual(["2024-02-29T00:00:00.000Z", "2024-03-01T00:00:00.000Z"]);
  });

  it("is a range whose ends both belong to it, of whatever length each is", () => {
    expect(times("2026-09..2026-11", "UTC")).toEqual(["2026-09-01T00:00:00.000Z", "2026-12-01T00:00:00.000Z"]);
    expect(times("2026-10-03..2026-10-17", "UTC")).toEqual(["2026-10-03T00:00:00.000Z", "2026-10-18T00:00:00.000Z"]);
    expect(times("2026-10-03..2026-10-03", "UTC")).toEqual(times("2026-10-03", "UTC"));
    expect(times("2025-Q4..2026-02-10", "UTC")).toEqual(["2025-10-01T00:00:00.000Z", "2026-02-11T00:00:00.000Z"]);
  });

  it("is of local days, also where the clock changes and where the day begins before it does in UTC", () => {
    // 25 October 2026 lasts 25 hours in Berlin, 29 March 23.
    expect(times("2026-10", "Europe/Berlin")).toEqual(["2026-09-30T22:00:00.000Z", "2026-10-31T23:00:00.000Z"]);
    expect(times("2026-10-25", "Europe/Berlin")).toEqual(["2026-10-24T22:00:00.000Z", "2026-10-25T23:00:00.000Z"]);
    expect(times("2026-03-29", "Europe/Berlin")).toEqual(["2026-03-28T23:00:00.000Z", "2026-03-29T22:00:00.000Z"]);
    expect(times("2026-Q1", "Asia/Shanghai")).toEqual(["2025-12-31T16:00:00.000Z", "2026-03-31T16:00:00.000Z"]);
    expect(times("2026-10-03", "Pacific/Kiritimati")).toEqual(["2026-10-02T10:00:00.000Z", "2026-10-03T10:00:00.000Z"]);
    // The clock skips midnight there: 8 September 2024 begins at one o'clock.
    expect(times("2024-09-08", "America/Santiago")[0]).toBe("2024-09-08T04:00:00.000Z");
  });

  it("is named like another one by a moment in it: as a month, a quarter, a year or a day, and a range as it begins", () => {
    const at = "2026-09-30T22:30:00.000Z";
    const like = (label: string, zone = "Europe/Berlin"): string => periodLike(label, at, zone);
    expect([like("2025-01"), like("2025-Q1"), like("2025"), like("2025-01-01")]).toEqual([
      "2026-10",
      "2026-Q4",
      "2026",
      "2026-10-01",
    ]);
    expect([like("2025-01..2025-03"), like("2025-Q1..2025-Q2")]).toEqual(["2026-10", "2026-Q4"]);
    expect([like("2025-01", "UTC"), like("2025-Q1", "UTC")]).toEqual(["2026-09", "2026-Q3"]);
  });

  it("follows on the one before without a gap, and a year is its quarters", () => {
    for (const zone of ["Europe/Berlin", "Asia/Shanghai", "America/Santiago", "Australia/Lord_Howe"]) {
      const quarters = [1, 2, 3, 4].map((quarter) => parsePeriod(`2026-Q${quarter}`, zone));
      const year = parsePeriod("2026", zone);
      expect(quarters[0]?.from).toBe(year.from);
      expect(quarters.slice(1).map(({ from }) => from)).toEqual(quarters.slice(0, -1).map(({ to }) => to));
      expect(quarters.at(-1)?.to).toBe(year.to);
    }
  });

  it.each([
    ["", "is no period"],
    ["October", "is no period"],
    ["2026-13", "is no period"],
    ["2026-Q5", "is no period"],
    ["2026-00", "is no period"],
    ["2026-1", "is no period"],
    ["2026-02-30", "is no period"],
    ["2026-10-03T10:00", "is no period"],
    ["0000-01", "is no period"],
    ["2026-09..", '"" is not one'],
    ["..2026-09", '"" is not one'],
    ["2026-09..last", '"last" is not one'],
    ["2026-09..2026-10..2026-11", "more than one `..`"],
    ["2026-10..2026-09", "ends before it begins"],
    ["2026-10-03..2026", "ends before it begins"],
  ])("refuses %j: %s", (label, why) => {
    const failure = (): unknown => parsePeriod(label, "UTC");
    expect(failure).toThrow(Problem);
    expect(failure).toThrow(why);
  });

  it("is over with its last day, and not a moment before", () => {
    const october = parsePeriod("2026-10", "Europe/Berlin");
    expect(isOver(october, "2026-10-31T22:59:59.999Z")).toBe(false);
    expect(isOver(october, "2026-10-31T23:00:00.000Z")).toBe(true);
    expect(isOver(october, "2026-10-31T23:30:00Z")).toBe(true);
  });

  it("is the month before an instant, in the zone", () => {
    expect(monthBefore(Date.parse("2026-11-01T05:00:00Z"), "UTC")).toBe("2026-10");
    expect(monthBefore(Date.parse("2026-10-31T16:30:00Z"), "Asia/Shanghai")).toBe("2026-10");
    expect(monthBefore(Date.parse("2026-01-01T00:00:00Z"), "UTC")).toBe("2025-12");
  });
});

describe("a date of the CRM", () => {
  const zones = ["Pacific/Kiritimati", "Asia/Shanghai", "Europe/Berlin", "UTC", "America/New_York", "Etc/GMT+12"];
  const startIn = (day: string, zone: string): string =>
    new Date(Temporal.PlainDate.from(day).toZonedDateTime(zone).epochMilliseconds).toISOString();
  const days = ["2026-09-30", "2026-10-01", "2026-10-31", "2026-11-01"];

  it.each(zones)("is in the months of %s by its day where it is local, and by its instant where it is none", (of) => {
    const october = parsePeriod("2026-10", of);
    const sideOf = sidesOf(october);
    for (const zone of zones)
      expect(days.map((day) => sideOf({ at: startIn(day, zone), zone }))).toEqual([-1, 0, 0, 1]);
    const instants = [october.from, october.to].flatMap((at) => [new Date(Date.parse(at) - 1).toISOString(), at]);
    expect(instants.map((at) => sideOf({ at, zone: undefined }))).toEqual([-1, 0, 0, 1]);
  });

  it("is in one month of two that were closed in different zones", () => {
    for (const zone of zones) {
      for (const other of zones) {
        const { to } = parsePeriod("2026-09", zone);
        const after = closedPeriod({ ...parsePeriod("2026-10", other), from: to });
        const sides = (day: string): number[] =>
          [parsePeriod("2026-09", zone), after].map((period) =>
            sidesOf(period)({ at: startIn(day, other), zone: other }),
          );
        expect([sides("2026-09-30"), sides("2026-10-01")]).toEqual([
          [0, -1],
          [1, 0],
        ]);
      }
    }
  });

  it("has an instant on its own side of a period", () => {
    const october = parsePeriod("2026-10", "Europe/Berlin");
    const sideOf = sidesOf(october);
    for (const zone of zones) {
      for (const day of days) {
        const date = { at: startIn(day, zone), zone };
        const at = instantBeside(date, october);
        expect(sideOf({ at, zone: undefined })).toBe(sideOf(date));
        if (zone === "Europe/Berlin") expect(at).toBe(date.at);
      }
    }
  });
});
