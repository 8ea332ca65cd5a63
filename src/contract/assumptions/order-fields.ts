import { z } from "zod";
import { termUnits } from "../term.ts";
import { codecsOfWidth } from "../time-codec.ts";
import { row } from "./row.ts";

/** Sentinels have the type of their field: a Long, a 32-bit Integer, a Date. */
const longSentinel = z.int().nullable();
const integerSentinel = z
  .int()
  .min(-(2 ** 31))
  .max(2 ** 31 - 1)
  .nullable();
const dateSentinel = z.union([
  longSentinel,
  z
    .string()
    .regex(/^(?:|\d{8}|\d{4}-\d{2}-\d{2}(?:[T ].*)?)$/u, "is no date: write one such as 9999-12-31, or an empty text"),
]);

const timeZone = z.string().refine(
  (zone) => {
    try {
      Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(zone);
      return true;
    } catch {
      return false;
    }
  },
  { message: "is not a known time zone" },
);

/** What holds for the times and words of products and features in E5. */
export const orderFields = row({
  id: "A20",
  kind: "assumption",
  question: "Units of times",
  default: "None is assumed: each kind of time that is used needs its unit; times outside 2000–2100 are refused",
  decidedBy: ["timeCodecs"],
  settings: {
    timeCodecs: z
      .strictObject({
        assetLimit: z
          .enum(codecsOfWidth.long)
          .optional()
          .describe("limitStartDate and limitEndDate of an asset in E5, a Long"),
        productLimit: z
          .enum(codecsOfWidth.long)
          .optional()
          .describe("limitStartDate and limitEndDate of a product in E5, a Long"),
        productTrialEnd: z
          .enum(codecsOfWidth.integer)
          .optional()
          .describe("trialEndDate of a product in E5, an Integer of 32 bits"),
        featureTrialEnd: z.enum(codecsOfWidth.date).optional().describe("trialEndDate of a feature in E5, a Date"),
        readLimit: z
          .enum(codecsOfWidth.long)
          .optional()
          .describe(
            "limitStartTime and limitEndTime of a product in M7, a Long: a product with a limit is deleted by it",
          ),
      })
      .prefault({})
      .describe("Unit of each kind of time on the wire: epoch_ms, epoch_s, yyyymmdd or iso; none is assumed (A20)"),
    dateZone: timeZone.default("UTC").describe("Time zone in which a yyyymmdd names a day (A20)"),
  },
  needs: [
    { key: "timeCodecs.assetLimit", endpoints: ["E5"], use: "asset-limit", choices: codecsOfWidth.long },
    { key: "timeCodecs.productLimit", endpoints: ["E5"], use: "product-limit", choices: codecsOfWidth.long },
    { key: "timeCodecs.productTrialEnd", endpoints: ["E5"], use: "product-trial", choices: codecsOfWidth.integer },
    { key: "timeCodecs.featureTrialEnd", endpoints: ["E5"], use: "feature-trial", choices: codecsOfWidth.date },
    { key: "timeCodecs.readLimit", endpoints: ["E5"], use: "delete-limit", choices: codecsOfWidth.long },
  ],
})
  .row({
    id: "A21",
    kind: "assumption",
    question: "What required trial and limit fields hold where they do not apply",
    default: "None is assumed: each such field needs its value",
    decidedBy: ["sentinels"],
    settings: {
      sentinels: z
        .strictObject({
          productUsage: longSentinel
            .optional()
            .meta({ description: "limitTimeDuration of a product that usage does not limit", examples: [0] }),
          productTrialEnd: integerSentinel
            .optional()
            .meta({ description: "trialEndDate of a product that is no trial", examples: [0] }),
          featureTrialEnd: dateSentinel
            .optional()
            .meta({ description: "trialEndDate of a feature that is no trial", examples: ["9999-12-31"] }),
          shownNoLimit: z
            .array(dateSentinel)
            .default([null, 0])
            .describe("What M7 shows as the limit of a product that has none"),
        })
        .prefault({})
        .describe("What required fields hold where they do not apply (A21)"),
    },
    needs: [
      {
        key: "sentinels.productUsage",
        endpoints: ["E5"],
        use: "product-no-usage",
        choices: ["a whole number such as 0", "null"],
      },
      {
        key: "sentinels.productTrialEnd",
        endpoints: ["E5"],
        use: "product-no-trial",
        choices: ["a whole number such as 0", "null"],
      },
      {
        key: "sentinels.featureTrialEnd",
        endpoints: ["E5"],
        use: "feature-no-trial",
        choices: ["a whole number such as 0", "a date such as 9999-12-31", "null"],
      },
    ],
  })
  .row({
    id: "A22",
    kind: "assumption",
    question: "Words of timeUnit and productType, form of a term",
    default:
      "None are assumed: both lists are needed; another word is quarantined; expression, unit and limits must agree",
    decidedBy: ["timeUnits", "productTypes"],
    settings: {
      timeUnits: z
        .record(z.string().min(1), z.enum(termUnits))
        .optional()
        .meta({
          description:
            "Every word of timeUnit and its unit: year, month, day or none; any other word is quarantined (A22)",
          examples: [{ YEAR: "year", MONTH: "month" }],
        }),
      productTypes: z
        .array(z.string().min(1))
        .min(1)
        .optional()
        .meta({
          description: "Every word of productType; any other one is quarantined (A22)",
          examples: [["standard"]],
        }),
    },
    needs: [
      {
        key: "timeUnits",
        endpoints: ["E5"],
        choices: ["every word of timeUnit with year, month, day or none, such as { YEAR: year }"],
      },
      { key: "productTypes", endpoints: ["E5"], choices: ["the list of all words of productType"] },
    ],
  });
