import type { z } from "zod";
import type { Json, JsonObject } from "../base/canonical-json.ts";
import type { Clock } from "../base/clock.ts";
import { exitCodes, Problem } from "../base/errors.ts";
import type { KnownSecrets } from "../base/known-secrets.ts";
import type { Logger } from "../base/logger.ts";
import { serviceNameOf, type EndpointId, type PathTarget } from "../contract/endpoints.ts";
import type { Circuit, CircuitState } from "./circuit.ts";
import type { UnknownFieldLog } from "./client.ts";
import type { SeenCall } from "./conclusion.ts";
import type { HeaderWriter } from "./headers.ts";
import type { ServiceSettings } from "./http-settings.ts";
import type { Pace } from "./pace.ts";
import type { RetryBudget } from "./retry.ts";
import type { Transport } from "./transport.ts";

/** A call to a service, as a read makes it. */
export interface Call<T> {
  endpoint: EndpointId;
  target: PathTarget;
  /** Query parameters besides g_nonce. */
  query?: Readonly<Record<string, string>> | undefined;
  /** Shape of the answer's data. */
  schema: z.ZodType<T>;
  /** What is wrong with data of the right shape. */
  check?: ((data: T) => string | undefined) | undefined;
  /** Whose user token is used, where the path does not name the enterprise. */
  enterprise?: string | undefined;
  /** Whom the call is for, in the words of the ledger: customers with unlisted codes are counted (A2). */
  customer?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** A call that changes something. */
export interface WriteCall<T> extends Call<T> {
  /** g_nonce, 32 hex characters, written down by the caller before. */
  nonce: string;
  body?: JsonObject | undefined;
  /** The body's text where the caller has made it already: exactly these bytes are sent. */
  bodyText?: string | undefined;
  /**
   * Awaited once the call has its permit (circuit, concurrency, rate, token) and before its first byte: the intent is
   * committed here. Not awaited where the permit is refused. What it throws stops the call, gives the permit back and
   * is thrown by `write`. `acceptedUntil`: see `SignedHeaders`.
   */
  beforeSending?: ((acceptedUntil?: number) => Promise<void>) | undefined;
  /** Asked right before the first byte; false: it does not leave. */
  mayLeave?: (() => boolean) | undefined;
  /**
   * The permit is kept until this resolves: until the outcome is on its way into the ledger, ahead of the next call's
   * intent.
   */
  recorded?: Promise<void> | undefined;
}

/** A Date header, and when it was read by the monotonic clock and by the wall clock. Milliseconds. */
export interface HeardTime {
  date: number;
  readAt: number;
  now: number;
}

/** What all calls to one service share, reads and writes alike. */
export interface ServiceContext {
  /** Path in front of every endpoint's. */
  base: string;
  settings: ServiceSettings;
  clock: Clock;
  logger: Logger;
  transport: Transport;
  circuit: Circuit;
  pace: Pace;
  budget: RetryBudget;
  headers: HeaderWriter;
  /** What no answer may show. */
  known: KnownSecrets;
  unknownFieldLog: UnknownFieldLog;
  /** What the service's last Date header said. */
  heard: { last?: HeardTime };
  /** Told when the circuit opens, when a probe failed, when it closes, and of each answer while it is closed. */
  onCircuit: (state: CircuitState) => void;
  /** Told of each call that ended, and of each that was not sent. It never throws. */
  onCall?: ((call: SeenCall) => void) | undefined;
}

/**
 * What became of the one attempt of a write. `raw` is the answer after redaction and cut to size, never the request.
 * - `done`: HTTP 200, code 0 and data that fits.
 * - `partial`: 60027, with data that says which part.
 * - `rejected`: nothing was changed, and the same call would be refused again.
 * - `already`: what was asked for is there already (60002 on M4).
 * - `not-sent`: not one byte of the request left: refused, DNS, TLS, no token, no turn, circuit open.
 * - `unknown`: everything else.
 */
export type WriteOutcome<T> =
  | { kind: "done"; data: T; status: number; readonly raw: Json }
  | { kind: "partial"; data: T; code: string; status: number; raw: Json }
  | { kind: "rejected"; code: string; status: number; raw: Json }
  | { kind: "already"; code: string; status: number; raw: Json }
  | { kind: "not-sent"; reason: string }
  | { kind: "unknown"; reason: string; code?: string; status?: number; raw?: Json };

/**
 * Why a read gave nothing. None of them means "there is none".
 * `incomplete`: the pages of a list do not add up; `odd-answer`: not the contract's form; `out-of-service`: HTTP 5xx;
 * `token`: no usable token.
 */
export type ReadFailureKind =
  | "aborted"
  | "circuit-open"
  | "code"
  | "incomplete"
  | "no-turn"
  | "odd-answer"
  | "out-of-service"
  | "token"
  | "transport";

const words: Record<ReadFailureKind, { what: string; cure: string }> = {
  aborted: { what: "was stopped", cure: "Start it again." },
  "circuit-open": {
    what: "was not sent, because earlier calls to the service failed (its circuit is open)",
    cure: "Wait: after a while crm-sync tries one call by itself.",
  },
  code: { what: "was refused", cure: "Look up the code in docs/reference/codes.md." },
  incomplete: {
    what: "returned an incomplete list",
    cure: "Nothing was removed because of this list. The next run reads it again.",
  },
  "no-turn": {
    what: "waited too long for its turn: the rate limit of the service lets fewer calls out",
    cure: "In the settings of the service, raise callsPerSecond if its provider allows more calls, or lower callsAtOnce.",
  },
  "odd-answer": {
    what: "got an answer in an unexpected form",
    cure: "Ask the provider of the service. The answer is kept, without secrets.",
  },
  "out-of-service": {
    what: "got no answer, because the service is out of service (HTTP 5xx)",
    cure: "Nothing: the next run tries again. If the problem stays, ask the provider of the service.",
  },
  token: {
    what: "has no usable token",
    cure: "Check the settings of the token, and that its account may still use the service.",
  },
  transport: {
    what: "did not reach the service or got no answer",
    cure: "Check the address in the settings, the network, and that the service runs.",
  },
};

/** A read that gave nothing, after its repetitions. Never to be taken for an empty answer; it ends a command with 7. */
export class ReadFailure extends Problem {
  readonly endpoint: EndpointId;
  readonly kind: ReadFailureKind;
  /** The business code of the service, such as 60017. */
  readonly serviceCode: string | undefined;
  readonly status: number | undefined;
  /** The answer after redaction, where there was one. */
  readonly raw: Json | undefined;

  constructor(init: {
    endpoint: EndpointId;
    kind: ReadFailureKind;
    reason: string;
    cure?: string | undefined;
    serviceCode?: string | undefined;
    status?: number | undefined;
    raw?: Json | undefined;
  }) {
    const { what, cure } = words[init.kind];
    super({
      code: `service.${init.kind}`,
      message:
        init.kind === "out-of-service"
          ? `the ${serviceNameOf(init.endpoint)} is out of service (${init.reason})`
          : `${init.endpoint} ${what}: ${init.reason}`,
      cure: init.cure ?? cure,
      exitCode: init.kind === "aborted" ? exitCodes.other : exitCodes.sourceDown,
      place: init.endpoint,
    });
    this.endpoint = init.endpoint;
    this.kind = init.kind;
    this.serviceCode = init.serviceCode;
    this.status = init.status;
    this.raw = init.raw;
  }
}
