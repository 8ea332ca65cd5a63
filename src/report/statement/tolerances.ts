import { z } from "zod";
import type { JsonObject } from "../../base/canonical-json.ts";
import { decimalText, minorDigits } from "../../crm/currency.ts";
import type { Tolerances } from "./shape.ts";

/** Tolerances as a configuration has them: amounts as decimals of their currency. */
interface ToleranceSettings {
  money: Readonly<Record<string, string>>;
  termSeconds: number;
  transitDays: number;
  ageing: readonly number[];
}

/** The minor units of a tolerance; undefined where it has more decimals than its currency. */
export function toleratedMinor(currency: string, amount: string): number | undefined {
  const digits = minorDigits(currency);
  const [, whole = "", fraction = ""] = /^(\d{1,9})(?:\.(\d+))?$/u.exec(amount) ?? [];
  return whole === "" || fraction.length > digits ? undefined : Number(whole + fraction.padEnd(digits, "0"));
}

/** What two sides may differ by, as a statement takes it. */
export function tolerancesOf({ money, termSeconds, transitDays, ageing }: ToleranceSettings): Tolerances {
  return { money: minorsOf(money), seconds: termSeconds, transitDays, ageing };
}

function minorsOf(money: Readonly<Record<string, string>>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(money).map(([currency, amount]) => [currency, toleratedMinor(currency, amount) ?? 0]),
  );
}

/** Tolerances as the header of a statement has them. */
export function tolerancesJson({ money = {}, seconds = 0, transitDays = 0, ageing }: Tolerances): JsonObject {
  const amounts = Object.entries(money).map(([currency, minor]): [string, string] => [
    currency,
    decimalText(minor, currency),
  ]);
  return { money: Object.fromEntries(amounts), seconds, transitDays, ageing: [...(ageing ?? ageingDays)] };
}

/** The same, read from a header. */
export const toleratedSchema: z.ZodType<Tolerances> = z
  .object({
    money: z.record(z.string(), z.string()),
    seconds: z.int().min(0),
    transitDays: z.number().min(0),
    ageing: z.array(z.number()),
  })
  .transform(({ money, ...others }) => ({ ...others, money: minorsOf(money) }));

/** The same in a line, as people read it. */
export function tolerancesText({ money = {}, seconds = 0, transitDays = 0, ageing = ageingDays }: Tolerances): string {
  const amounts = Object.keys(money)
    .toSorted()
    .map((currency) => `${decimalText(money[currency] ?? 0, currency)} ${currency}`);
  return [
    `amounts: ${amounts.length === 0 ? "none" : amounts.join(", ")}`,
    `terms: ${seconds} s`,
    `in transit: ${transitDays} d`,
    `ages: ${ageing.join(", ")} d`,
  ].join("; ");
}

/** Days at which the buckets of finance end; the end of a bucket does not belong to it. */
export const ageingDays: readonly number[] = [1, 7, 30, 90];

/** The buckets by their names, the youngest first. */
export function ageBuckets(days: readonly number[] = ageingDays): string[] {
  return [...days.map((end, at) => `${days[at - 1] ?? 0}-${end} d`), "older"];
}

interface Age {
  hours: number | null;
  bucket: string | null;
}

/** The age of something at a moment, in whole hours; of what has no beginning there is none. */
export function ageAt(since: string | null | undefined, now: string | null, days: readonly number[] = ageingDays): Age {
  if (since === null || since === undefined || now === null) return { hours: null, bucket: null };
  const hours = Math.max(0, Math.floor((Date.parse(now) - Date.parse(since)) / 3_600_000));
  const at = days.findIndex((end) => hours < end * 24);
  return { hours, bucket: ageBuckets(days).at(at) ?? "older" };
}
