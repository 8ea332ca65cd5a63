import { z } from "zod";
import type { JsonObject } from "../../base/canonical-json.ts";
import { decimalText, minorDigits } from "../../crm/currency.ts";
import type { Tolerances } from "./shape.ts";

interface ToleranceSettings {
  money: Readonly<Record<string, string>>;
  termSeconds: number;
  transitDays: number;
  ageing: readonly number[];
}

/** Undefined if the amount has more decimals than its currency. */
export function toleratedMinor(currency: string, amount: string): number | undefined {
  const digits = minorDigits(currency);
  const [, whole = "", fraction = ""] = /^(\d{1,9})(?:\.(\d+))?$/u.exec(amount) ?? [];
  return whole === "" || fraction.length > digits ? undefined : Number(whole + fraction.padEnd(digits, "0"));
}

export function tolerancesOf({ money, termSeconds, transitDays, ageing }: ToleranceSettings): Tolerances {
  return { money: minorsOf(money), seconds: termSeconds, transitDays, ageing };
}

function minorsOf(money: Readonly<Record<string, string>>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(money).map(([currency, amount]) => [currency, toleratedMinor(currency, amount) ?? 0]),
  );
}

export function tolerancesJson({ money = {}, seconds = 0, transitDays = 0, ageing }: Tolerances): JsonObject {
  const amounts = Object.entries(money).map(([currency, minor]): [string, string] => [
    currency,
    decimalText(minor, currency),
  ]);
  return { money: Object.fromEntries(amounts), seconds, transitDays, ageing: [...(ageing ?? ageingDays)] };
}

export const toleratedSchema: z.ZodType<Tolerances> = z
  .object({
    money: z.record(z.string(), z.string()),
    seconds: z.int().min(0),
    transitDays: z.number().min(0),
    ageing: z.array(z.number()),
  })
  .transform(({ money, ...others }) => ({ ...others, money: minorsOf(money) }));

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

/** The end is excluded. */
export const ageingDays: readonly number[] = [1, 7, 30, 90];

export function ageBuckets(days: readonly number[] = ageingDays): string[] {
  return [...days.map((end, at) => `${days[at - 1] ?? 0}-${end} d`), "older"];
}

interface Age {
  hours: number | null;
  bucket: string | null;
}

/** Whole hours; null without a beginning. */
export function ageAt(since: string | null | undefined, now: string | null, days: readonly number[] = ageingDays): Age {
  if (since === null || since === undefined || now === null) return { hours: null, bucket: null };
  const hours = Math.max(0, Math.floor((Date.parse(now) - Date.parse(since)) / 3_600_000));
  const at = days.findIndex((end) => hours < end * 24);
  return { hours, bucket: ageBuckets(days).at(at) ?? "older" };
}
