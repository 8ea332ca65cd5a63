import { z } from "zod";
import type { JsonObject } from "../../base/canonical-json.ts";
import { decimalText, minorDigits } from "../../crm/currency.ts";
import { ageingDays } from "./ageing.ts";
import type { Tolerances } from "./shape.ts";

/** Tolerances as a configuration has them: amounts as decimals of their currency. */
export interface ToleranceSettings {
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
