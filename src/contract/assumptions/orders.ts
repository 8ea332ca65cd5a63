import { z } from "zod";
import { termUnits } from "../term.ts";
import { codecsOfWidth } from "../time-codec.ts";
import { licenseTypes, syncModes } from "../vocabulary.ts";
import { row } from "./row.ts";
import { template } from "./fields.ts";

/** What holds for calls of E5 and the records in them. */
export const orders = row({
  id: "A15",
  kind: "assumption",
  question: "How the result of an asynchronous E5 comes",
  default: "Orders are placed synchronously; asynchronous ones count once M6 or E8, and M7, show them",
  decidedBy: ["syncMode"],
  settings: {
    syncMode: z
      .enum(syncModes)
      .default("sync")
      .describe(
        "Processing mode of E5; async: it counts once M6 or E8, and M7, show it, within settle.asyncDeadlineMs (A15)",
      ),
  },
})
  .row({
    id: "A16",
    kind: "assumption",
    question: "Partial batches, their size, and a channelOrderId that is repeated",
    default: "One CRM order is one call with all its licence groups and is never split",
    decidedBy: ["channelOrderIdTemplate", "amendmentOrderIdTemplate"],
    settings: {
      channelOrderIdTemplate: template("id", ["namespace"])
        .default("{id}")
        .describe("How the channel order number is made from the id and namespace of an order (A16)"),
      amendmentOrderIdTemplate: template("n", ["order", "id", "namespace"])
        .default("{order}-{n}")
        .describe(
          "How the channel order number of an amendment is made from the order's own, its id and namespace, and how " +
            "many amendments there were (A16)",
        ),
    },
  })
  .row({
    id: "A17",
    kind: "assumption",
    question: "Number of the first order record",
    default: "1",
    decidedBy: ["sequenceBase"],
    settings: {
      sequenceBase: z.int().min(0).default(1).describe("Number of the first order record in an E5 call (A17)"),
    },
  })
  .row({
    id: "A18",
    kind: "choice",
    question: "What delete orders may leave out",
    default: "Everything that the contract does not list for them",
    decidedBy: ["deleteShape"],
    settings: {
      deleteShape: z
        .enum(["listed", "full"])
        .default("listed")
        .describe(
          "Whether delete orders hold the fields that the contract lists for them, or all fields of an order (A18)",
        ),
    },
  })
  .row({
    id: "A19",
    kind: "assumption",
    question: "Which values are cloud authorization types",
    default: "cloud_account, cloud_customer and cloud_personal",
    decidedBy: ["cloudTypes"],
    settings: {
      cloudTypes: z
        .array(z.enum(licenseTypes))
        .default(["cloud_account", "cloud_customer", "cloud_personal"])
        .describe("Licence types of which a delete order has to name its licence order (A19)"),
    },
  })
  .row({
    id: "A39",
    kind: "assumption",
    question: "srcLicenseOrderId on a new purchase of a cloud type",
    default: "Left out; blocked if the service answers 13004",
    decidedBy: "fixed",
    settings: {},
  })
  .row({
    id: "A42",
    kind: "assumption",
    question: "Deleting a product that is part of a package",
    default: "Held for a person",
    decidedBy: "fixed",
    settings: {},
  });

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
