import { Problem } from "../base/errors.ts";
import type { JsonObject } from "../base/canonical-json.ts";

export type { WriteOutcome } from "../http/call.ts";
export { ReadFailure } from "../http/call.ts";

interface Call {
  /** As the ledger names it. Customers that meet unlisted codes are counted by it (A2). */
  customer?: string | undefined;
}

export interface WriteCall extends Call {
  /** g_nonce: 32 hex characters, recorded before. */
  nonce: string;
  /** Stops the call only while nothing was sent. */
  signal?: AbortSignal | undefined;
  /** Commits the intent, after the permit and before the first byte. If it throws, the call stops and throws that. */
  beforeSending?: ((acceptedUntil?: number) => Promise<void>) | undefined;
  mayLeave?: (() => boolean) | undefined;
  /** The permit is kept until this resolves, when the ledger has the outcome. */
  recorded?: Promise<void> | undefined;
  body?: string | undefined;
}

export interface ReadCall extends Call {
  signal?: AbortSignal | undefined;
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

export function sending(call: WriteCall, body: JsonObject) {
  const { body: bodyText, ...rest } = call;
  return { ...rest, body, bodyText };
}
