import { Problem } from "../base/errors.ts";
import type { JsonObject } from "../base/canonical-json.ts";

export type { WriteOutcome } from "../http/call.ts";
export { ReadFailure } from "../http/call.ts";

interface Call {
  /** Whom the call is for, in the words of the ledger: customers that meet unlisted codes are counted by it (A2). */
  customer?: string | undefined;
}

export interface WriteCall extends Call {
  /** g_nonce, 32 hex characters, written down before. */
  nonce: string;
  /** Stops the call as long as it is not sent; afterwards it runs to its end. */
  signal?: AbortSignal | undefined;
  /**
   * Awaited once the call has its permit and before its first byte: the intent is committed here. What it throws stops
   * the call and is thrown. `acceptedUntil`: see `SignedHeaders`.
   */
  beforeSending?: ((acceptedUntil?: number) => Promise<void>) | undefined;
  /** Asked right before the first byte; false: it does not leave. */
  mayLeave?: (() => boolean) | undefined;
  /** The permit is kept until this resolves: until the outcome is handed to the ledger. */
  recorded?: Promise<void> | undefined;
  /** The body's text, where the caller has made it already: exactly these bytes are sent. */
  body?: string | undefined;
}

export interface ReadCall extends Call {
  signal?: AbortSignal | undefined;
}

/** The enterprise whose user token is used, for paths that do not name it (M7, M9, M10). */
export interface OfEnterprise {
  enterpriseGlobalId: string;
}

/**
 * An answer that has the contract's form and cannot be believed: it proves neither that something is there nor that it
 * is not.
 */
export class AmbiguousReading extends Problem {}

/** E3 answered null or without data, and the settings do not say that this means none (A13). */
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

/** Under what E3 finds customers. */
interface Channel {
  channelCode: string;
  channelCustomerId: string;
}

/** E3 answered with another customer than it was asked for. */
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

/** A text that came from outside, for a message: short, and without what a terminal would obey. */
function quoted(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text).replaceAll(/[\p{C}]/gu, "?");
}

/** The particulars of a write with its body, as an object and, where the caller has made it already, as text. */
export function sending(call: WriteCall, body: JsonObject) {
  const { body: bodyText, ...rest } = call;
  return { ...rest, body, bodyText };
}
