import { Problem } from "../base/errors.ts";
import type { JsonObject } from "../base/canonical-json.ts";
import type { Call, WriteCall as Sent } from "../http/call.ts";

export type { WriteOutcome } from "../http/call.ts";
export { ReadFailure } from "../http/call.ts";

export type ReadCall = Pick<Call<unknown>, "customer" | "signal">;

export interface WriteCall extends ReadCall, Pick<Sent<unknown>, "nonce" | "beforeSending" | "mayLeave" | "recorded"> {
  body?: string | undefined;
}

/** Its user token is used, for paths without an enterprise (M7, M9, M10). */
export interface OfEnterprise {
  enterpriseGlobalId: string;
}

/** The answer fits the contract but is not credible: it neither proves that something exists nor that it does not. */
export class AmbiguousReading extends Problem {}

/** E3 answered null or without data, and no setting says that this means none (A13). */
export function saysNothing(channelCustomerId: string): AmbiguousReading {
  return new AmbiguousReading({
    code: "platform.ambiguous",
    message:
      `the platform (E3) answered null for the channel customer number ${quoted(channelCustomerId)}, so it is not ` +
      "known if an enterprise exists",
    cure:
      "ask the provider of the order service what null means. If it means that no enterprise exists, set " +
      "assumptions.nullEnterprises: none (A13)",
  });
}

interface Channel {
  channelCode: string;
  channelCustomerId: string;
}

export function notAskedFor(asked: Channel, came: Channel): AmbiguousReading {
  const words = (channel: Channel): string =>
    `the channel customer number ${quoted(channel.channelCustomerId)} ` +
    `under the channel code ${quoted(channel.channelCode)}`;
  return new AmbiguousReading({
    code: "platform.ambiguous",
    message: `E3 was asked for ${words(asked)} and answered with ${words(came)}, so the answer proves nothing`,
    cure:
      "ask the provider of the order service why E3 answers with another customer. Until then crm-sync creates " +
      "nothing for this customer",
  });
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text).replaceAll(/[\p{C}]/gu, "?");
}

export function sending(call: WriteCall & Partial<OfEnterprise>, body: JsonObject) {
  const { body: bodyText, enterpriseGlobalId: enterprise, ...rest } = call;
  return { ...rest, enterprise, body, bodyText };
}
