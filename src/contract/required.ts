import type { EndpointId } from "./endpoints.ts";
import type { AssumptionSettings } from "./assumption-settings.ts";
import { codecsOfWidth } from "./time-codec.ts";

/** What a payload can hold that makes a further setting necessary. */
export const payloadUses = [
  "asset-limit",
  "product-limit",
  "product-trial",
  "product-no-trial",
  "product-no-usage",
  "feature-trial",
  "feature-no-trial",
  "package",
  "repeated-product",
] as const;
export type PayloadUse = (typeof payloadUses)[number];

export interface MissingAssumption {
  /** `A24`. */
  row: string;
  /** Key under `assumptions` in the configuration, with dots: `timeCodecs.productLimit`. */
  key: string;
  /** What may stand there: words to choose from, or what is asked for. */
  choices: readonly string[];
}

interface Requirement extends MissingAssumption {
  endpoints: readonly EndpointId[];
  /** Absent where the endpoint always needs it. */
  use?: PayloadUse;
  isSet(settings: AssumptionSettings): boolean;
}

const requirements: readonly Requirement[] = [
  {
    row: "A9",
    key: "channelCode",
    choices: ["the channel code under which the platform knows your customers"],
    endpoints: ["E1", "E3", "E5"],
    isSet: (settings) => settings.channelCode !== undefined,
  },
  {
    row: "A20",
    key: "timeCodecs.assetLimit",
    choices: codecsOfWidth.long,
    endpoints: ["E5"],
    use: "asset-limit",
    isSet: (settings) => settings.timeCodecs.assetLimit !== undefined,
  },
  {
    row: "A20",
    key: "timeCodecs.productLimit",
    choices: codecsOfWidth.long,
    endpoints: ["E5"],
    use: "product-limit",
    isSet: (settings) => settings.timeCodecs.productLimit !== undefined,
  },
  {
    row: "A20",
    key: "timeCodecs.productTrialEnd",
    choices: codecsOfWidth.integer,
    endpoints: ["E5"],
    use: "product-trial",
    isSet: (settings) => settings.timeCodecs.productTrialEnd !== undefined,
  },
  {
    row: "A20",
    key: "timeCodecs.featureTrialEnd",
    choices: codecsOfWidth.date,
    endpoints: ["E5"],
    use: "feature-trial",
    isSet: (settings) => settings.timeCodecs.featureTrialEnd !== undefined,
  },
  {
    row: "A21",
    key: "sentinels.productUsage",
    choices: ["a whole number such as 0", "null"],
    endpoints: ["E5"],
    use: "product-no-usage",
    isSet: (settings) => settings.sentinels.productUsage !== undefined,
  },
  {
    row: "A21",
    key: "sentinels.productTrialEnd",
    choices: ["a whole number such as 0", "null"],
    endpoints: ["E5"],
    use: "product-no-trial",
    isSet: (settings) => settings.sentinels.productTrialEnd !== undefined,
  },
  {
    row: "A21",
    key: "sentinels.featureTrialEnd",
    choices: ["a whole number such as 0", "a date such as 9999-12-31", "null"],
    endpoints: ["E5"],
    use: "feature-no-trial",
    isSet: (settings) => settings.sentinels.featureTrialEnd !== undefined,
  },
  {
    row: "A22",
    key: "timeUnits",
    choices: ["every word of timeUnit with year, month, day or none, such as { YEAR: year }"],
    endpoints: ["E5"],
    isSet: (settings) => settings.timeUnits !== undefined,
  },
  {
    row: "A22",
    key: "productTypes",
    choices: ["the list of all words of productType"],
    endpoints: ["E5"],
    isSet: (settings) => settings.productTypes !== undefined,
  },
  {
    row: "A23",
    key: "packageOnlyParent",
    choices: ["package", "asset"],
    endpoints: ["E5"],
    use: "repeated-product",
    isSet: (settings) =>
      settings.packageOnlyParent !== undefined ||
      (settings.packageOnly === "block" && settings.packageProducts === "separate"),
  },
  {
    row: "A24",
    key: "rootParentMerchandiseNum",
    choices: ["the parent number that the platform expects on a package directly under an asset"],
    endpoints: ["E5"],
    use: "package",
    isSet: (settings) => settings.rootParentMerchandiseNum !== undefined,
  },
  {
    row: "A40",
    key: "operatorIdentity",
    choices: [
      "the name of the role that asks for it, such as licence desk; never a mobile number or an e-mail address",
    ],
    endpoints: ["E6", "E7"],
    isSet: (settings) => settings.operatorIdentity !== undefined,
  },
];

/**
 * The settings that an endpoint needs and that have no value. `uses` says what its payload holds; without it every use
 * counts, as for a check before anything is planned. The endpoint is blocked until the list is empty, nothing else is.
 */
export function missingAssumptions(
  settings: AssumptionSettings,
  endpoint: EndpointId,
  uses: Iterable<PayloadUse> = payloadUses,
): MissingAssumption[] {
  const used = new Set(uses);
  return requirements
    .filter((requirement) => requirement.endpoints.includes(endpoint))
    .filter((requirement) => requirement.use === undefined || used.has(requirement.use))
    .filter((requirement) => !requirement.isSet(settings))
    .map(({ row, key, choices }) => ({ row, key, choices }));
}

/** The endpoints that need a setting of a row before they can be sent, for the list of assumptions. */
export function endpointsThatNeed(row: string): EndpointId[] {
  return [
    ...new Set(requirements.filter((requirement) => requirement.row === row).flatMap(({ endpoints }) => endpoints)),
  ];
}
