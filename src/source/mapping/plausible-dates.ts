import { z } from "zod";

const day = z.iso.date();

/** The days that a date may be of, both included, in UTC. */
export const plausibleDatesSchema = z
  .strictObject({
    earliest: day.default("1990-01-01").describe("The first day that a date may be of, in UTC"),
    latest: day.default("2100-12-31").describe("The last one; the services take no date after the year 2100 (A20)"),
  })
  .refine(({ earliest, latest }) => earliest <= latest, { path: ["latest"], message: "is before `earliest`" });
export type PlausibleDates = z.infer<typeof plausibleDatesSchema>;

/** These days as a mapping compares with them: moments in epoch milliseconds, the second one not included. */
export interface PlausibleMoments {
  from: number;
  until: number;
  /** As a message says them. */
  expected: string;
}

const dayMs = 86_400_000;

/** By default, those of a configuration that says nothing. */
export function plausibleMoments(dates: PlausibleDates = plausibleDatesSchema.parse({})): PlausibleMoments {
  const { earliest, latest } = dates;
  return {
    from: Date.parse(earliest),
    until: Date.parse(latest) + dayMs,
    expected: `a date from ${earliest} to ${latest}, the \`plausibleDates\` of the stream`,
  };
}
