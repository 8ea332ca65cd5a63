/** A token as its source gave it. */
export interface TokenReading {
  token: string;
  /** In how many milliseconds the service stops to accept it, counted from the asking; absent where nobody says. */
  expiresInMs?: number | undefined;
  /** After how many milliseconds its source is asked again, where nobody says when it expires. */
  rereadMs?: number | undefined;
  /** The scopes that the token endpoint says it has, separated by blanks; absent where it says nothing. */
  scope?: string | undefined;
}

/** Where a token is read from. `read` rejects with any error; only the text of a TokenFailure is shown. */
export interface TokenReader {
  /** In words, without a secret. */
  place: string;
  /** True where reading again can give another token: not for the environment, which was read at the start. */
  renewable: boolean;
  read(): Promise<TokenReading>;
}

/**
 * Why there is no token: the token endpoint refused, a secret is missing, no usable answer came, or the token is of no
 * use.
 */
export type TokenFailureReason =
  | { kind: "refused"; status: number; code?: string | undefined; said?: string | undefined }
  | { kind: "no-secret"; reference: string }
  | { kind: "no-answer" }
  | { kind: "unusable" };

/** No usable token. The text names where it should have come from, never a token. */
export class TokenFailure extends Error {
  readonly reason: TokenFailureReason;

  constructor(message: string, reason: TokenFailureReason = { kind: "unusable" }, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}
