import type { Clock } from "../base/clock.ts";
import type { KnownSecrets } from "../base/known-secrets.ts";
import { SecretFailure } from "./secrets.ts";

export interface TokenReading {
  token: string;
  /** Milliseconds from the request until the service no longer accepts it. Undefined: unknown. */
  expiresInMs?: number | undefined;
  /** Milliseconds until the next read of its source, if the expiry is unknown. */
  rereadMs?: number | undefined;
  scope?: string | undefined;
}

/** `read` may throw any error. Only the text of a TokenFailure is shown. */
export interface TokenReader {
  /** In words, without a secret. */
  place: string;
  /** Whether another read can give another token. Not for the environment, which was read at the start. */
  renewable: boolean;
  read(): Promise<TokenReading>;
}

type TokenFailureReason =
  | { kind: "refused"; status: number; code?: string | undefined; said?: string | undefined }
  | { kind: "no-secret"; reference: string }
  | { kind: "no-answer" }
  | { kind: "unusable" };

/** No usable token. The text names its source, never a token. */
export class TokenFailure extends Error {
  readonly reason: TokenFailureReason;

  constructor(message: string, reason: TokenFailureReason = { kind: "unusable" }, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}

/** Waits for a shared promise until this caller's signal. Other callers continue to wait. */
export function abortable<T>(shared: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return shared;
  if (signal.aborted) return Promise.reject(signal.reason instanceof Error ? signal.reason : new Error("stopped"));
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason instanceof Error ? signal.reason : new Error("stopped"));
    signal.addEventListener("abort", stop, { once: true });
    shared.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

export interface TokenProvider {
  token(signal?: AbortSignal): Promise<string>;
  held(): string | undefined;
  /** When the token ends at the latest, on the monotonic clock. Undefined: unknown. */
  endOf(token: string): number | undefined;
  /** The next caller renews it, once for all. If the new token is rejected too, nobody gets one for a while (A5). */
  reject(token: string): void;
  accepted(): void;
  readonly renewable: boolean;
}

/** Pause after a failed renewal, so that our requests do not lock a rejected account. */
const restAfterFailureMs = 5_000;
/** Pause after the renewed token is the rejected one, or is rejected too. */
const restAfterRefusalMs = 30_000;

/** How long before its end a token is renewed, at most a tenth of its life. */
const renewedAheadMs = 60_000;

/** `scope`: needed for the service (auth_order, auth_me). A token without it is not used. */
export function createTokenProvider(
  reader: TokenReader,
  { clock, known }: { clock: Clock; known: KnownSecrets },
  scope?: string,
): TokenProvider {
  let held: { token: string; renewAt: number; expiresAt: number; endsAt: number | undefined } | undefined;
  let refused: { token: string; at: number } | undefined;
  let failure: { error: TokenFailure; until: number } | undefined;
  let refusedInRow = 0;
  let renewal: Promise<string> | undefined;

  function accept(reading: TokenReading, askedAt: number): string {
    known.addToken(reading.token);
    if (!/^[\x21-\x7e]+$/.test(reading.token)) {
      throw new TokenFailure(`${reader.place} gave a token with characters that a header cannot hold`);
    }
    const scopes = reading.scope?.split(" ").filter((name) => name !== "") ?? [];
    if (scope !== undefined && scopes.length > 0 && !scopes.includes(scope)) {
      throw new TokenFailure(
        `${reader.place} gave a token without the scope ${scope}; ask for it ` +
          `(scope: ${scope}), and check that it was approved for the application`,
      );
    }
    if (refused?.token === reading.token && clock.monotonic() - refused.at < restAfterRefusalMs) {
      throw new TokenFailure(`${reader.place} still gives the token that the service refused`);
    }
    const { expiresInMs, rereadMs } = reading;
    const life = expiresInMs ?? rereadMs ?? Number.POSITIVE_INFINITY;
    // If its life is unknown, a token is kept until it is rejected.
    const ahead = Number.isFinite(life) ? Math.min(renewedAheadMs, life / 10) : 0;
    // It was made between the request and now.
    const endsAt = expiresInMs === undefined ? undefined : clock.monotonic() + expiresInMs;
    held = { token: reading.token, renewAt: askedAt + life - ahead, expiresAt: askedAt + life, endsAt };
    refused = undefined;
    failure = undefined;
    return reading.token;
  }

  async function renew(): Promise<string> {
    const askedAt = clock.monotonic();
    try {
      return accept(await reader.read(), askedAt);
    } catch (thrown) {
      const error = asTokenFailure(thrown, reader.place, known);
      failure = { error, until: clock.monotonic() + restAfterFailureMs };
      throw error;
    } finally {
      renewal = undefined;
    }
  }

  function renewOnce(): Promise<string> {
    if (renewal === undefined) {
      if (failure !== undefined && failure.until > clock.monotonic()) return Promise.reject(failure.error);
      renewal = renew();
    }
    return renewal;
  }

  function fresh(now: number): string | undefined {
    return held !== undefined && now < held.renewAt ? used(held.token) : undefined;
  }

  /** Tokens added since may have displaced this one. */
  function used(token: string): string {
    known.addToken(token);
    return token;
  }

  return {
    held: () => fresh(clock.monotonic()),
    endOf: (token) => (held?.token === token ? held.endsAt : undefined),
    async token(signal) {
      signal?.throwIfAborted();
      const now = clock.monotonic();
      const token = fresh(now);
      if (token !== undefined) return token;
      const stillValid = held !== undefined && now < held.expiresAt ? held.token : undefined;
      try {
        return await abortable(renewOnce(), signal);
      } catch (thrown) {
        if (stillValid !== undefined && held?.token === stillValid && thrown instanceof TokenFailure)
          return used(stillValid);
        throw thrown;
      }
    },
    reject(token) {
      if (held?.token !== token) return;
      held = undefined;
      refused = { token, at: clock.monotonic() };
      refusedInRow += 1;
      if (refusedInRow < 2) return;
      refusedInRow = 0;
      failure = {
        error: new TokenFailure(`the service refused a token of ${reader.place}, and the renewed one too`),
        until: clock.monotonic() + restAfterRefusalMs,
      };
    },
    accepted() {
      refusedInRow = 0;
    },
    renewable: reader.renewable,
  };
}

/** The text of other errors may quote the output of a command. */
function asTokenFailure(thrown: unknown, place: string, known: KnownSecrets): TokenFailure {
  if (thrown instanceof TokenFailure) {
    const { reason, message, cause } = thrown;
    if (reason.kind !== "refused") return thrown;
    const { code, said } = reason;
    // A token endpoint may send any code.
    const told = (text: string | undefined): string | undefined => (text === undefined ? undefined : known.words(text));
    return new TokenFailure(known.words(message), { ...reason, code: told(code), said: told(said) }, cause);
  }
  const why = thrown instanceof SecretFailure ? `: it ${thrown.state}` : "";
  return new TokenFailure(`${place} gave no token${why}`);
}
