import { z } from "zod";
import { isJsonObject } from "../base/canonical-json.ts";
import type { EndpointId } from "./endpoints.ts";
import { limits } from "./limits.ts";
import { placeholdersOf } from "./template.ts";
import { termUnits } from "./term.ts";
import { codecsOfWidth } from "./time-codec.ts";
import { licenseTypes, syncModes } from "./vocabulary.ts";

const licenseType = z.enum(licenseTypes);
const customerSelector = z.enum(["default", "non-default"]);

function template(required: string, others: readonly string[] = []) {
  const optional = others.map((name) => `{${name}}`).join(", ");
  return z.string().refine(
    (text) => {
      const used = placeholdersOf(text);
      return used.includes(required) && used.every((name) => name === required || others.includes(name));
    },
    { message: `must hold {${required}}${others.length === 0 ? "" : ` and may hold ${optional}`}` },
  );
}

const assetNumber = template("digits");

/** A sentinel has the type of its field: a Long, a 32-bit Integer, a Date. */
const longSentinel = z.int().nullable();
const integerSentinel = z.int32().nullable();
const dateSentinel = z.union([
  longSentinel,
  z
    .string()
    .regex(/^(?:|\d{8}|\d{4}-\d{2}-\d{2}(?:[T ].*)?)$/u, "is no date: write one such as 9999-12-31, or an empty text"),
]);

const timeZone = z.string().refine((zone) => {
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(zone);
    return true;
  } catch {
    return false;
  }
}, "is not a known time zone");

/** Keys without a default stay absent until the answer is known. `missingAssumptions` says who needs them. */
export const assumptionSettingsSchema = z.strictObject({
  channelCode: z
    .string()
    .min(1)
    .optional()
    .meta({
      description: "Channel code of orders and of bound customers; E3 is searched for it (A9)",
      examples: ["CRM"],
    }),
  otherChannelCodes: z
    .array(z.string().min(1))
    .default([])
    .meta({
      description: "Further channel codes under which E3 looks for a customer, such as the one that E2 gives (A9)",
      examples: [["PORTAL"]],
    }),
  crmCustomerIdTemplate: template("id", ["namespace"])
    .default("{id}")
    .describe("How the CRM customer number of E2, E4 and E5 is made from the id and namespace of a customer (A8)"),
  channelCustomerIdTemplate: template("id", ["namespace"])
    .default("{id}")
    .describe("How the channel customer number of E1, E3 and E5 is made from the id and namespace of a customer (A8)"),
  nullEnterprises: z
    .enum(["ambiguous", "none"])
    .default("ambiguous")
    .describe("What null or no data in E3 means: ambiguous (crm-sync creates nothing), or no enterprise (A13)"),
  enterpriseCreation: z
    .enum(["E2", "E1"])
    .default("E2")
    .describe("E2 creates an enterprise with its customers; E1 binds a customer to an enterprise (A11)"),
  boundEnterpriseUpdate: z
    .enum(["never", "send"])
    .default("never")
    .describe(
      "Whether a customer that E1 bound gets an E4 when its name, branch or " +
        "address changes; the contract names E4 for customers of E2 only (A11)",
    ),
  customerSelection: z
    .strictObject({
      default: customerSelector
        .default("default")
        .describe("Which one takes orders of the licence types not named below"),
      byLicenseType: z
        .partialRecord(licenseType, customerSelector)
        .default({})
        .meta({ description: "Which one, by licence type", examples: [{ cloud_account: "non-default" }] }),
    })
    .prefault({})
    .describe(
      "Which customer of an enterprise takes an order, by licence type; not exactly one hit blocks the order (A12)",
    ),
  emptyAddress: z
    .enum(["omit", "empty"])
    .default("omit")
    .describe("Whether E4 leaves an address that the CRM no longer has out, or sends an empty one (A14)"),
  syncMode: z
    .enum(syncModes)
    .default("sync")
    .describe(
      "Processing mode of E5; async: it counts once M6 or E8, and M7, show it, within settle.asyncDeadlineMs (A15)",
    ),
  channelOrderIdTemplate: template("id", ["namespace"])
    .default("{id}")
    .describe("How the channel order number is made from the id and namespace of an order (A16)"),
  amendmentOrderIdTemplate: template("n", ["order", "id", "namespace"])
    .default("{order}-{n}")
    .describe(
      "How the channel order number of an amendment is made from the order's own, its id and namespace, and how " +
        "many amendments there were (A16)",
    ),
  sequenceBase: z.int().min(0).default(1).describe("Number of the first order record in an E5 call (A17)"),
  deleteShape: z
    .enum(["listed", "full"])
    .default("listed")
    .describe(
      "Whether delete orders hold the fields that the contract lists for them, or all fields of an order (A18)",
    ),
  cloudTypes: z
    .array(z.enum(licenseTypes))
    .default(["cloud_account", "cloud_customer", "cloud_personal"])
    .describe("Licence types of which a delete order has to name its licence order (A19)"),
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
  timeUnits: z
    .record(z.string().min(1), z.enum(termUnits))
    .optional()
    .meta({
      description: "Every word of timeUnit and its unit: year, month, day or none; any other word is quarantined (A22)",
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
  packageProducts: z
    .enum(["separate", "repeat"])
    .default("separate")
    .describe(
      "Whether the products of a package are listed in the package only, or in the products of the asset too (A23)",
    ),
  packageOnly: z
    .enum(["block", "repeat"])
    .default("block")
    .describe(
      "What becomes of an asset that holds packages only: blocked, " +
        "or its products repeated, which may grant twice (A23)",
    ),
  packageOnlyParent: z
    .enum(["package", "asset"])
    .optional()
    .describe("Parent of a repeated product: its package or the asset instance (A23)"),
  rootParentMerchandiseNum: z
    .string()
    .optional()
    .meta({
      description: "parentMerchandiseNum of a package that stands directly under an asset (A24)",
      examples: [""],
    }),
  assetNumberTemplates: z
    .strictObject({
      default: assetNumber.default("{digits}").describe("For the licence types not named below; holds {digits}"),
      byLicenseType: z
        .partialRecord(licenseType, assetNumber)
        .default({})
        .meta({ description: "By licence type", examples: [{ softkey: "S{digits}" }] }),
    })
    .prefault({})
    .describe("How an asset number is made from the digits of E9, by licence type (A25)"),
  poolBatch: z
    .int()
    .min(1)
    .max(limits.assetNumbersPerCall)
    .default(limits.assetNumbersPerCall)
    .describe("Numbers taken from E9 at once (A25)"),
  assetFirstDigits: z
    .array(z.string().regex(/^\d$/))
    .min(1)
    .default([...limits.assetFirstDigits])
    .describe("First digits that E9 may hand out; any other one stops the pool (A25)"),
  staffPage: z
    .strictObject({
      base: z.int().min(0).max(1).default(1).describe("Number of the first page"),
      size: z.int().min(1).max(1000).default(50).describe("Rows to a page"),
    })
    .prefault({})
    .describe("Number of the first page and rows per page of M5 (A27)"),
  enterpriseCodeMaxLength: z
    .int()
    .min(0)
    .max(62)
    .default(20)
    .describe("Length assumed for an enterprise code that is not known yet (A29)"),
  passwordSource: z
    .enum(["generate", "crm"])
    .default("generate")
    .describe("Where initial passwords of staff come from (A30)"),
  generatedPasswordLength: z.int().min(8).max(64).default(16).describe("Length of generated passwords (A30)"),
  lengthUnit: z
    .enum(["characters", "bytes"])
    .default("characters")
    .describe("Whether the limits of 30 and 200 count characters or bytes (A31)"),
  defaultDepartmentId: z
    .string()
    .regex(/^\d+$/)
    .optional()
    .meta({
      description: "Department of staff for whom the CRM names none; needed where the service answers 40009 (A32)",
      examples: ["100"],
    }),
  clearedStaffFields: z
    .enum(["omit", "empty"])
    .default("omit")
    .describe("What M2 is sent for a note or mobile number that the CRM no longer has (A41)"),
  leftOutStaffFields: z
    .enum(["unknown", "kept"])
    .default("unknown")
    .describe(
      "Whether M2 keeps a note or mobile number that is left out; while it is unknown, M2 is not sent where the " +
        "platform shows one that the CRM never gave (A41)",
    ),
  visibleLicenseTypes: z
    .array(licenseType)
    .optional()
    .describe("Licence types that M6 shows, where that is known; else it is learned from what M6 has shown (A43)"),
  emptyAssets: z
    .enum(["ambiguous", "empty"])
    .default("ambiguous")
    .describe(
      "What an asset means in which M7 shows neither products nor " +
        "packages: ambiguous, so that an order may be there, or empty (A43)",
    ),
  operatorIdentity: z
    .string()
    .min(1)
    .max(60)
    .regex(/^[^@]*\p{L}[^@]*$/u, {
      error: "expected the name of a role, not a mobile number or an e-mail address",
    })
    .optional()
    .meta({
      description:
        "Role that disables and enables locks, as E6 and E7 say it; never a mobile number or an e-mail address (A40)",
      examples: ["licence desk"],
    }),
});
export type AssumptionSettings = z.infer<typeof assumptionSettingsSchema>;

/** Channel codes under which E3 looks for a customer, our own first (A9). */
export function channelCodesOf(settings: Pick<AssumptionSettings, "channelCode" | "otherChannelCodes">): string[] {
  const own = settings.channelCode === undefined ? [] : [settings.channelCode];
  return [...new Set([...own, ...settings.otherChannelCodes])];
}

/** `before`: the endpoints that need it, by default E5. `use`: only payloads with this use need it. */
type Need = readonly [
  row: `A${number}`,
  key: string,
  use: string | undefined,
  choices: readonly string[],
  before?: readonly EndpointId[],
];

const whole = ["a whole number such as 0", "null"] as const;
const role = "the name of the role that asks for it, such as licence desk; never a mobile number or an e-mail address";

const needs = [
  [
    "A9",
    "channelCode",
    undefined,
    ["the channel code under which the platform knows your customers"],
    ["E1", "E3", "E5"],
  ],
  ["A20", "timeCodecs.assetLimit", "asset-limit", codecsOfWidth.long],
  ["A20", "timeCodecs.productLimit", "product-limit", codecsOfWidth.long],
  ["A20", "timeCodecs.productTrialEnd", "product-trial", codecsOfWidth.integer],
  ["A20", "timeCodecs.featureTrialEnd", "feature-trial", codecsOfWidth.date],
  ["A20", "timeCodecs.readLimit", "delete-limit", codecsOfWidth.long],
  ["A21", "sentinels.productUsage", "product-no-usage", whole],
  ["A21", "sentinels.productTrialEnd", "product-no-trial", whole],
  ["A21", "sentinels.featureTrialEnd", "feature-no-trial", [whole[0], "a date such as 9999-12-31", whole[1]]],
  ["A22", "timeUnits", undefined, ["every word of timeUnit with year, month, day or none, such as { YEAR: year }"]],
  ["A22", "productTypes", undefined, ["the list of all words of productType"]],
  ["A23", "packageOnlyParent", "repeated-product", ["package", "asset"]],
  [
    "A24",
    "rootParentMerchandiseNum",
    "package",
    ["the parent number that the platform expects on a package directly under an asset"],
  ],
  ["A40", "operatorIdentity", undefined, [role], ["E6", "E7"]],
] as const satisfies readonly Need[];

export type PayloadUse = NonNullable<(typeof needs)[number][2]>;
export const payloadUses: readonly PayloadUse[] = needs.flatMap(([, , use]) => use ?? []);

export interface MissingAssumption {
  row: string;
  key: string;
  choices: readonly string[];
}

/** Settings without a value that block this endpoint. Without `uses` all uses count, as before planning. */
export function missingAssumptions(
  settings: AssumptionSettings,
  endpoint: EndpointId,
  uses: Iterable<PayloadUse> = payloadUses,
): MissingAssumption[] {
  const used: ReadonlySet<string> = new Set(uses);
  const { packageOnly, packageProducts } = settings;
  const repeatsNothing = packageOnly === "block" && packageProducts === "separate";
  const missing: MissingAssumption[] = [];
  for (const [row, key, use, choices, before] of allNeeds) {
    const isNeeded = (before ?? ["E5"]).includes(endpoint) && (use === undefined || used.has(use));
    if (!isNeeded || (use === "repeated-product" && repeatsNothing)) continue;
    if (valueOf(settings, key) === undefined) missing.push({ row, key, choices });
  }
  return missing;
}

const allNeeds: readonly Need[] = needs;

export function requiredBefore(row: string): EndpointId[] {
  const endpoints = allNeeds.flatMap(([of, , , , before = ["E5"]]) => (of === row ? before : []));
  return [...new Set(endpoints)];
}

function valueOf(settings: AssumptionSettings, key: string): unknown {
  return key.split(".").reduce<unknown>((value, name) => (isJsonObject(value) ? value[name] : undefined), settings);
}
