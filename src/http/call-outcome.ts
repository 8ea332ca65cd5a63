import type { Json } from "../base/canonical-json.ts";
import { exitCodes, Problem } from "../base/errors.ts";
import { serviceNameOf } from "../contract/endpoints.ts";
import type { EndpointId } from "../contract/endpoints.ts";

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
