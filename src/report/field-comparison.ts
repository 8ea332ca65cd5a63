import type { Json, JsonObject } from "../base/canonical-json.ts";

/** What names an order on the platform, known from the answer of E5 or by reading. */
export interface Envelope {
  channelOrderId: string;
  licenseOrderId: string | undefined;
  licenseType: string;
}

/**
 * The fields of a product that M7 shows: how E5 names them and how M7 does. What else E5 carries, no endpoint shows.
 */
const productFields: readonly (readonly [sent: string, shown: string])[] = [
  ["crmProductId", "crmProductId"],
  ["productUri", "productUri"],
  ["productName", "productName"],
  ["gmsPid", "gmsPid"],
  ["appKey", "appKey"],
  ["limitConcurrent", "limitConcurrent"],
  ["limitStartDate", "limitStartTime"],
  ["limitEndDate", "limitEndTime"],
  ["limitTimeDuration", "limitTimeDuration"],
  ["trial", "trial"],
  ["trialEndDate", "trialEndDate"],
  ["timeDurationExpression", "timeDurationExpression"],
  ["srcLicenseOrderId", "srcLicenseOrderId"],
];

const packageFields: readonly (readonly [sent: string, shown: string])[] = [
  ["merchandiseNum", "merchandiseNum"],
  ["merchandiseName", "merchandiseName"],
  ["parentMerchandiseNum", "parentMerchandiseNum"],
];

/**
 * Every field that was sent and that M7 shows otherwise. A trial end that does not apply was sent as a sentinel and is
 * not compared.
 */
export function differences(sent: JsonObject, envelope: Envelope, shown: JsonObject): string[] {
  const trial = textOf(sent["trial"]) === "1";
  const compared = productFields.filter(([name]) => name !== "trialEndDate" || trial);
  return [
    ...envelopeDifferences(envelope, shown),
    ...compared.flatMap(([name, as]) => difference(name, sent[name], shown[as])),
  ];
}

/** The same for a package. The parent of a root package was sent as a sentinel and is not compared (A24). */
export function packageDifferences(sent: JsonObject, envelope: Envelope, shown: JsonObject): string[] {
  const root = sent["root"] === true;
  const compared = packageFields.filter(([name]) => name !== "parentMerchandiseNum" || !root);
  return [
    ...envelopeDifferences(envelope, shown),
    ...compared.flatMap(([name, as]) => difference(name, sent[name], shown[as])),
  ];
}

function envelopeDifferences(envelope: Envelope, shown: JsonObject): string[] {
  const licence = envelope.licenseOrderId === "" ? undefined : envelope.licenseOrderId;
  const type = shown["licenseType"] === undefined || shown["licenseType"] === null ? undefined : envelope.licenseType;
  return [
    ...difference("channelOrderId", envelope.channelOrderId, shown["channelOrderId"]),
    ...difference("licenseOrderId", licence, shown["licenseOrderId"]),
    ...difference("licenseType", type, shown["licenseType"]),
  ];
}

/** Numbers and their texts are equal: a Long may come as either. What was not sent is not compared. */
function difference(name: string, sent: Json | undefined, shown: Json | undefined): string[] {
  if (sent === undefined || sent === null) return [];
  if (textOf(sent) === textOf(shown)) return [];
  return [`${name}: sent ${textOf(sent)}, shown ${shown === undefined || shown === null ? "nothing" : textOf(shown)}`];
}

function textOf(value: Json | undefined): string {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
