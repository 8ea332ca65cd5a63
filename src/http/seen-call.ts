import { endpoints } from "../contract/endpoints.ts";
import type { EndpointId, ServiceName } from "../contract/endpoints.ts";
import type { Classified } from "./classification.ts";
import type { Attempt } from "./conclusion.ts";

/**
 * What became of one call, each repetition being one of its own.
 * - `done`: success, or what was asked for is there already. `partial`: part was done.
 * - `refused`: a code that speaks about what was sent.
 * - `failed`: a code by which the service failed, or one that the contract does not list for the endpoint.
 * - `token`, `limited`, `odd`: HTTP 401 or a code about a token; HTTP 429; anything that is not the contract's form.
 * - `no-answer`: bytes may have left, and no whole answer came. `unreached`: not one byte left.
 * - `stopped`: somebody stopped it. `not-sent`: no permit was given; the service knows nothing of it.
 */
export const callOutcomes = [
  "done",
  "partial",
  "refused",
  "failed",
  "token",
  "limited",
  "odd",
  "no-answer",
  "unreached",
  "stopped",
  "not-sent",
] as const;
export type CallOutcome = (typeof callOutcomes)[number];

/** A call as observers are told of it: words of closed lists and a number, nothing of what was sent or answered. */
export interface SeenCall {
  service: ServiceName;
  endpoint: EndpointId;
  outcome: CallOutcome;
  /**
   * The business code of the answer where the contract lists it for the endpoint, `0` for success, `other` for any
   * other code; of what was not sent, why; else `none`.
   */
  code: string;
  /** From the first byte to the whole answer or the failure; 0 where nothing was sent. */
  ms: number;
}

/** What observers are told of an attempt that took so long. */
export function seenCall(endpoint: EndpointId, ended: Attempt<unknown>, ms: number): SeenCall {
  const { service } = endpoints[endpoint];
  return { service, endpoint, ...outcomeOf(endpoint, ended), ms };
}

type Named = Pick<SeenCall, "outcome" | "code">;

function outcomeOf(endpoint: EndpointId, ended: Attempt<unknown>): Named {
  if (ended.kind === "answered") return ofAnswer(endpoint, ended.result);
  if (ended.kind === "unsent") return { outcome: "not-sent", code: ended.why };
  const { reason, written } = ended.failure;
  if (reason === "stopped") return { outcome: "stopped", code: "none" };
  return { outcome: written ? "no-answer" : "unreached", code: "none" };
}

function ofAnswer(endpoint: EndpointId, result: Classified<unknown>): Named {
  switch (result.kind) {
    case "success":
      return { outcome: "done", code: "0" };
    case "partial":
      return { outcome: "partial", code: listed(endpoint, result.code) };
    case "unauthorized":
      return { outcome: "token", code: "none" };
    case "limited":
      return { outcome: "limited", code: "none" };
    case "odd":
      return { outcome: "odd", code: "none" };
    case "code":
      return { outcome: ofEffect[result.meaning.effect], code: listed(endpoint, result.code) };
  }
}

const ofEffect = {
  rejected: "refused",
  settle: "refused",
  unknown: "failed",
  "already-done": "done",
  "refresh-token": "token",
  partial: "partial",
} as const;

/** A service may answer with any text as its code: only those of the contract are named. */
function listed(endpoint: EndpointId, code: string): string {
  return endpoints[endpoint].codes.includes(code) ? code : "other";
}
