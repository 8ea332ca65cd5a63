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

export interface Call<T> {
  endpoint: EndpointId;
  target: PathTarget;
  query?: Readonly<Record<string, string>> | undefined;
  schema: z.ZodType<T>;
  check?: ((data: T) => string | undefined) | undefined;
  enterprise?: string | undefined;
  /** As the ledger names it. Customers with unlisted codes are counted by it (A2). */
  customer?: string | undefined;
  /** Stops a write only while nothing was sent. */
  signal?: AbortSignal | undefined;
}

export interface WriteCall<T> extends Call<T> {
  /** g_nonce: 32 hex characters, recorded before. */
  nonce: string;
  body?: JsonObject | undefined;
  bodyText?: string | undefined;
  /** Commits the intent, after the permit and before the first byte. If it throws, the call stops and throws that. */
  beforeSending?: ((acceptedUntil?: number) => Promise<void>) | undefined;
  mayLeave?: (() => boolean) | undefined;
  /** The permit is kept until this resolves: the outcome must reach the ledger before the next intent. */
  recorded?: Promise<void> | undefined;
}

/** A Date header, and when it was read by the monotonic and the wall clock. Milliseconds. */
export interface HeardTime {
  date: number;
  readAt: number;
  now: number;
}

export interface ServiceContext {
  base: string;
  settings: ServiceSettings;
  clock: Clock;
  logger: Logger;
  transport: Transport;
  circuit: Circuit;
  pace: Pace;
  budget: RetryBudget;
  headers: HeaderWriter;
  known: KnownSecrets;
  unknownFieldLog: UnknownFieldLog;
  heard: { last?: HeardTime };
  /** Called when the circuit opens, a probe failed or the circuit closes, and for each answer while it is closed. */
  onCircuit: (state: CircuitState) => void;
  onCall?: ((call: SeenCall) => void) | undefined;
}

/**
 * The outcome of a write's only attempt. `raw`: the redacted, shortened answer, never the request.
 * - `done`: HTTP 200, code 0 and data that fits.
 * - `partial`: 60027, with data that says which part.
 * - `rejected`: nothing changed, and the same call would be rejected again.
 * - `already`: the requested state exists (60002 on M4).
 * - `not-sent`: not one byte left: rejected, DNS, TLS, no token, no turn, circuit open.
 * - `unknown`: everything else.
 */
export type WriteOutcome<T> =
  | { kind: "done"; data: T; status: number; readonly raw: Json }
  | { kind: "partial"; data: T; code: string; status: number; raw: Json }
  | { kind: "rejected"; code: string; status: number; raw: Json }
  | { kind: "already"; code: string; status: number; raw: Json }
  | { kind: "not-sent"; reason: string }
  | { kind: "unknown"; reason: string; code?: string; status?: number; raw?: Json };

/** Never means an empty answer. `incomplete`: the pages of a list do not add up. `out-of-service`: HTTP 5xx. */
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
    cure: "Ask the provider of the service.",
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

/** A read that failed after its repetitions. It is never an empty answer. A command ends with 7. */
export class ReadFailure extends Problem {
  readonly endpoint: EndpointId;
  readonly kind: ReadFailureKind;
  readonly serviceCode: string | undefined;
  readonly status: number | undefined;

  constructor(init: {
    endpoint: EndpointId;
    kind: ReadFailureKind;
    reason: string;
    cure?: string | undefined;
    serviceCode?: string | undefined;
    status?: number | undefined;
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
  }
}
