import { describe, expect, it } from "vitest";
import { Problem } from "../../../src/base/errors.ts";
import { parseMoment } from "../../../src/report/statement/period.ts";

const now = Date.parse("2026-12-01T12:00:00Z");
const at = (text: string, zone = "Europe/Berlin"): string => parseMoment(text, zone, now);

describe("a moment in the past", () => {
  it("is local in the zone, or has an offset, or is the end of a day", () => {
    expect(at("2026-10-31T18:00")).toBe("2026-10-31T17:00:00.000Z");
    expect(at("2026-10-20T18:00:30")).toBe("2026-10-20T16:00:30.000Z");
    expect(at("2026-10-20T18:00:30.5", "Asia/Shanghai")).toBe("2026-10-20T10:00:30.500Z");
    expect(at("2026-10-31T18:00Z")).toBe("2026-10-31T18:00:00.000Z");
    expect(at("2026-10-31T18:00-05:00")).toBe("2026-10-31T23:00:00.000Z");
    expect(at("2026-10-31")).toBe("2026-10-31T22:59:59.999Z");
    expect(at("2026-10-25"), "a day of 25 hours").toBe("2026-10-25T22:59:59.999Z");
    expect(at("2026-10-31", "Asia/Shanghai")).toBe("2026-10-31T15:59:59.999Z");
  });

  it("is asked for with its offset where the clock was changed", () => {
    expect(() => at("2026-10-25T02:30")).toThrow("not one moment in Europe/Berlin");
    expect(() => at("2026-03-29T02:30")).toThrow("not one moment in Europe/Berlin");
    expect(at("2026-10-25T02:30+01:00")).toBe("2026-10-25T01:30:00.000Z");
    expect(at("2026-10-25T02:30+02:00")).toBe("2026-10-25T00:30:00.000Z");
  });

  it.each([
    ["", "is no moment"],
    ["yesterday", "is no moment"],
    ["2026-10", "is no moment"],
    ["2026-02-30", "is no moment"],
    ["2026-10-31T24:30", "there is no such date or time"],
    ["2026-10-31T18", "is no moment"],
    ["2026-10-31T18:00+25:00", "there is no such offset"],
    ["2026-12-01T13:01", "lies in the future"],
    ["2026-12-01", "a date means the end of that day"],
    ["2027-10-31", "lies in the future"],
  ])("refuses %j: %s", (text, why) => {
    expect(() => at(text)).toThrow(Problem);
    expect(() => at(text)).toThrow(why);
  });
});
