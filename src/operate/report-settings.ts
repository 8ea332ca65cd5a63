import { z } from "zod";
import { ageingDays, toleratedMinor } from "../report/statement/tolerances.ts";

const toleranceSettings = z
  .strictObject({
    money: z
      .record(
        z.string().regex(/^[A-Z]{3}$/u, "a currency is three capital letters, such as EUR"),
        z.string().regex(/^\d{1,9}(?:\.\d+)?$/u, "an amount is a text of digits, such as '0.05'"),
      )
      .default({})
      .superRefine((money, context) => {
        for (const [currency, amount] of Object.entries(money))
          if (toleratedMinor(currency, amount) === undefined)
            context.addIssue({
              code: "custom",
              path: [currency],
              message: `${amount} has more decimals than ${currency}`,
            });
      })
      .meta({
        description:
          "By how much the amount of an order or a line in the CRM may differ from the one it was sent with and " +
          "still count as matched, by currency; without it amounts are equal or different.",
        examples: [{ EUR: "0.05", JPY: "1" }],
      }),
    termSeconds: z
      .int()
      .min(0)
      .max(604_800)
      .default(0)
      .describe("By how many seconds two dates of a term may differ and still count as equal."),
    transitDays: z
      .int()
      .min(0)
      .max(365)
      .default(0)
      .describe("Changes sent fewer days ago that the platform does not show count as in transit, not as missing."),
    ageing: z
      .array(z.int().min(1).max(3650))
      .min(1)
      .max(10)
      .default([...ageingDays])
      .refine(
        (days) => days.every((end, at) => end > (days[at - 1] ?? 0)),
        "the days at which classes end rise from one to the next",
      )
      .describe("Days at which the classes end by which statements group how old something is."),
  })
  .prefault({});

export const reportSettingsSchema = z
  .strictObject({
    tolerances: toleranceSettings.describe(
      "When figures count as equal, in transit or old. Statements name these settings, and closed periods " +
        "keep theirs.",
    ),
  })
  .prefault({});
