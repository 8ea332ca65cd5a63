import type { Json, JsonObject } from "../base/canonical-json.ts";
import type { KnownSecrets } from "../base/known-secrets.ts";
import { readEnvelope } from "../contract/answer-json.ts";
import type { EndpointId } from "../contract/endpoints.ts";
import type { Classified } from "./classification.ts";
import type { SignedHeaders } from "./headers.ts";
import { ReadFailure } from "./call-outcome.ts";
import type { ReadFailureKind, WriteOutcome } from "./call-outcome.ts";
import { keepable, keepableText, privateValuesOf } from "./redaction.ts";
import type { FailedAttempt } from "./retry.ts";
import type { TransportAnswer, TransportFailure } from "./transport.ts";

/** One attempt as it ended. */
export type Attempt<T> =
  | { kind: "answered"; answer: TransportAnswer; result: Classified<T>; signed: SignedHeaders }
  | { kind: "failed"; failure: TransportFailure }
  | Unsent;

/** Nothing of the call has left. */
export interface Unsent {
  kind: "unsent";
  why: "aborted" | "circuit-open" | "no-turn" | "token";
  reason: string;
}

const again: FailedAttempt["again"] = { kind: "wait" };

/** Whether and how often a read that ended like this may be made again. */
export function repetition<T>(ended: Attempt<T>): FailedAttempt["again"] {
  if (ended.kind === "unsent") return "never";
  if (ended.kind === "failed")
    return ended.failure.reason === "stopped" || ended.failure.reason === "the answer is too large" ? "never" : again;
  const { result } = ended;
  switch (result.kind) {
    case "unauthorized":
      return renewed("any");
    case "limited":
      return again;
    case "odd":
      if (!result.alive) return again;
      return ended.answer.status === 200 ? { kind: "wait", once: "odd data" } : "never";
    case "code":
      if (result.meaning.effect === "refresh-token") return renewed(result.meaning.token ?? "any");
      return result.meaning.effect === "unknown" && result.meaning.listed ? again : "never";
    default:
      return "never";
  }
}

/** Both tokens may have expired at the same time, and each is renewed once. */
function renewed(token: "application" | "user" | "any"): FailedAttempt["again"] {
  return { kind: "at-once", once: `token ${token}` };
}

function keptOf<T>(
  answer: TransportAnswer,
  result: Classified<T>,
  known: KnownSecrets,
  privateValues: readonly string[],
): Json {
  return result.answer === undefined
    ? keepableText(answer.text, known, privateValues)
    : keepable(known.tree(result.answer, "words"), answer.text.length, privateValues);
}

/** A read that gave nothing, with its reason. */
export function readFailureOf<T>(endpoint: EndpointId, ended: Attempt<T>, known: KnownSecrets): ReadFailure {
  if (ended.kind === "unsent") return new ReadFailure({ endpoint, kind: ended.why, reason: ended.reason });
  if (ended.kind === "failed") {
    const { reason, status } = ended.failure;
    return new ReadFailure({ endpoint, kind: reason === "stopped" ? "aborted" : "transport", reason, status });
  }
  const { answer, result } = ended;
  const raw = keptOf(answer, result, known, []);
  const { status } = answer;
  const failure = (kind: ReadFailureKind, reason: string) => new ReadFailure({ endpoint, kind, reason, status, raw });
  switch (result.kind) {
    case "unauthorized":
      return failure("token", "HTTP 401, also with a renewed token");
    case "limited":
      return failure("transport", "HTTP 429, too many calls");
    case "code":
      return new ReadFailure({
        endpoint,
        kind: result.meaning.effect === "refresh-token" ? "token" : "code",
        reason: `code ${result.code}, ${result.meaning.meaning}`,
        cure: result.meaning.cure,
        serviceCode: result.code,
        status,
        raw,
      });
    case "odd":
      return failure(status >= 500 && !saysCode(result.answer) ? "out-of-service" : "odd-answer", result.reason);
    default:
      return failure("odd-answer", "a partial answer to a read");
  }
}

/** Whether an answer says in the service's own form what was wrong. */
function saysCode(answer: Json | undefined): boolean {
  return answer !== undefined && readEnvelope(answer).kind === "error";
}

/**
 * What became of a write. `request` is its body, as an object or as the text that was sent, for redacting the answer.
 */
export function writeOutcomeOf<T>(
  ended: Attempt<T>,
  request: JsonObject | string | undefined,
  known: KnownSecrets,
): WriteOutcome<T> {
  if (ended.kind === "unsent") return { kind: "not-sent", reason: ended.reason };
  if (ended.kind === "failed") {
    const { written, reason, status } = ended.failure;
    if (!written) return { kind: "not-sent", reason };
    return { kind: "unknown", reason, ...(status === undefined ? {} : { status }) };
  }
  const { answer, result } = ended;
  const { status } = answer;
  const privateValues = (): string[] => privateValuesOf(typeof request === "string" ? parsed(request) : request);
  if (result.kind === "success")
    return {
      kind: "done",
      data: result.data,
      status,
      // Hardly anybody asks for it, and redacting costs more than all the rest of a call.
      get raw() {
        return keptOf(answer, result, known, privateValues());
      },
    };
  return notDone(answer, result, known, privateValues());
}

/** The same of an answer that is no plain success. */
function notDone<T>(
  answer: TransportAnswer,
  result: Exclude<Classified<T>, { kind: "success" }>,
  known: KnownSecrets,
  privateValues: readonly string[],
): WriteOutcome<T> {
  const { status } = answer;
  const raw = keptOf(answer, result, known, privateValues);
  switch (result.kind) {
    case "partial":
      return { kind: "partial", data: result.data, code: result.code, status, raw };
    case "unauthorized":
      return { kind: "unknown", reason: "HTTP 401; the token is renewed before the next call", status, raw };
    case "limited":
      return { kind: "unknown", reason: "HTTP 429, too many calls", status, raw };
    case "odd":
      return { kind: "unknown", reason: result.reason, status, raw };
    case "code": {
      const { code } = result;
      const { effect, meaning } = result.meaning;
      if (effect === "rejected") return { kind: "rejected", code, status, raw };
      if (effect === "already-done") return { kind: "already", code, status, raw };
      return { kind: "unknown", reason: `code ${code}, ${meaning}`, code, status, raw };
    }
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
