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
