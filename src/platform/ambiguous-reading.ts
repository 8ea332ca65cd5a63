import { Problem } from "../base/errors.ts";

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
