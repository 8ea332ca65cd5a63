import fc from "fast-check";
import { expect, it } from "vitest";
import { ageAt } from "../../../src/report/statement/tolerances.ts";
import { localDate } from "../../../src/report/crm-date.ts";
import { shareOf } from "../../../src/report/statement/order-form.ts";
import { isWithin } from "../../../src/report/reconciliation/case.ts";

it("divides an amount into whole minor units that make it again, none of them more than one apart", () => {
  fc.assert(
    fc.property(fc.maxSafeInteger(), fc.integer({ min: 1, max: 50 }), (minor, of) => {
      const shares = Array.from({ length: of }, (_, index) => shareOf({ currency: "EUR", minor }, of, index).minor);
      expect(shares.reduce((sum, share) => sum + BigInt(share), 0n)).toBe(BigInt(minor));
      expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1);
      expect(shareOf({ currency: "EUR", minor }, of, 0, of).minor).toBe(minor);
    }),
  );
});

it("gives an instant the date that it has in the zone", () => {
  expect(localDate("2026-09-30T22:00:00Z", "Europe/Berlin")).toBe("2026-10-01");
  expect(localDate("2026-09-30T22:00:00Z", "UTC")).toBe("2026-09-30");
  expect(localDate(null, "UTC")).toBeNull();
});

it.each([
  [0, 0, "0-1 d"],
  [23, 23, "0-1 d"],
  [24, 24, "1-7 d"],
  [7 * 24 - 1, 7 * 24 - 1, "1-7 d"],
  [30 * 24 - 1, 30 * 24 - 1, "7-30 d"],
  [90 * 24 - 1, 90 * 24 - 1, "30-90 d"],
  [90 * 24, 90 * 24, "older"],
  // What a clock put into the future is not old.
  [-5, 0, "0-1 d"],
])("puts an age of %i hours into its bucket", (hours, shown, bucket) => {
  const since = Date.UTC(2026, 9, 1);
  const now = new Date(since + hours * 3_600_000).toISOString();
  expect(ageAt(new Date(since).toISOString(), now)).toEqual({ hours: shown, bucket });
});

it("tolerates seconds between instants alone, whatever they are written as", () => {
  const at = Date.UTC(2027, 9, 1);
  expect(isWithin("limitEndDate", at, at / 1000 + 5, 5)).toBe(true);
  expect(isWithin("limitEndDate", String(at), "2027-10-01T00:00:06Z", 5)).toBe(false);
  expect(isWithin("limitEndDate", at, "2027-10-01T00:00:05Z", 5)).toBe(true);
  expect(isWithin("limitEndDate", at, at, undefined)).toBe(false);
  expect(isWithin("limitEndDate", at, 0, 5)).toBe(false);
  expect(isWithin("limitConcurrent", 3, 4, 5)).toBe(false);
});
