import type { z } from "zod";
import type { Json, JsonObject } from "../base/canonical-json.ts";
import type { KnownSecrets } from "../base/known-secrets.ts";
import { parseAnswer, readEnvelope, UnfitAnswer } from "../contract/answer-json.ts";
import { meaningOf, type CodeMeaning } from "../contract/codes.ts";
import { endpoints, type EndpointId, type ServiceName } from "../contract/endpoints.ts";
import { checked } from "../contract/fits.ts";
import { ReadFailure, type ReadFailureKind, type WriteOutcome } from "./call.ts";
import type { SignedHeaders } from "./headers.ts";
import { keepable, keepableText, privateValuesOf } from "./redaction.ts";
import type { FailedAttempt } from "./retry.ts";
import type { TransportAnswer, TransportFailure } from "./transport.ts";

export type Classified<T> =
  | { kind: "success"; data: T; answer: Json }
  | { kind: "partial"; data: T; code: string; answer: Json }
  | { kind: "code"; code: string; meaning: CodeMeaning; answer: Json }
  | { kind: "unauthorized"; answer: Json | undefined }
  | { kind: "limited"; answer: Json | undefined }
  /** Anything else. `alive`: the service answered in its own form, so only this answer is odd. */
  | { kind: "odd"; reason: string; alive: boolean; answer: Json | undefined };

interface Expectation<T> {
  endpoint: EndpointId;
  schema: z.ZodType<T>;
  check?: ((data: T) => string | undefined) | undefined;
  tokenCodes: readonly string[];
}

/** Success is HTTP 200, code 0 and fitting data, never HTTP 299. Error codes count in both (A1). */
export function classify<T>(answer: TransportAnswer, expected: Expectation<T>): Classified<T> {
  const { status } = answer;
  let json: Json | undefined;
  let unfit: string | undefined;
  try {
    json = parseAnswer(answer.text.startsWith("\uFEFF") ? answer.text.slice(1) : answer.text);
  } catch (thrown) {
    unfit = thrown instanceof UnfitAnswer ? thrown.message : undefined;
  }
  if (status === 401) return { kind: "unauthorized", answer: json };
  if (status === 429) return { kind: "limited", answer: json };
  if (status !== 200 && status !== 299)
    return { kind: "odd", reason: `HTTP ${status}`, alive: status >= 400 && status < 500, answer: json };
  if (unfit !== undefined)
    return { kind: "odd", reason: `HTTP ${status} with ${unfit}`, alive: true, answer: undefined };
  if (json === undefined)
    return { kind: "odd", reason: `HTTP ${status} with a body that is not JSON`, alive: false, answer: undefined };

  const envelope = readEnvelope(json);
  if (envelope.kind === "odd")
    return { kind: "odd", reason: `HTTP ${status}, ${envelope.reason}`, alive: false, answer: json };
  if (envelope.kind === "success") {
    if (status !== 200) return { kind: "odd", reason: `HTTP ${status} with code 0`, alive: true, answer: json };
    const fitted = fit(envelope.data, expected);
    return "reason" in fitted
      ? { kind: "odd", reason: fitted.reason, alive: true, answer: json }
      : { kind: "success", data: fitted.data, answer: json };
  }
  const code = shownCode(envelope.code);
  const meaning = meaningOf(envelope.code, expected.endpoint, expected.tokenCodes);
  if (meaning.effect === "partial") {
    const fitted = fit(envelope.data, expected);
    return "reason" in fitted
      ? { kind: "odd", reason: `code ${code}, but ${fitted.reason}`, alive: true, answer: json }
      : { kind: "partial", data: fitted.data, code, answer: json };
  }
  return { kind: "code", code, meaning, answer: json };
}

/** A service may put anything into a code. Longer codes or words may name a person, so they are not repeated. */
function shownCode(code: string): string {
  return /^[A-Z]{0,3}[-_]?\d{1,6}$/u.test(code) ? code : "unreadable";
}

function fit<T>(data: Json, expected: Expectation<T>): { data: T } | { reason: string } {
  const parsed = checked(expected.schema, data);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    // Only messages of our own checks: others may quote a value.
    const place =
      issue === undefined || issue.path.length === 0 ? "" : ` at ${issue.path.map(String).join(".").slice(0, 120)}`;
    const why = issue?.code === "custom" ? `: ${issue.message}` : "";
    return { reason: `the data does not fit${place}${why}` };
  }
  const problem = expected.check?.(parsed.data);
  return problem === undefined ? { data: parsed.data } : { reason: problem };
}

export type Attempt<T> =
  | { kind: "answered"; answer: TransportAnswer; result: Classified<T>; signed: SignedHeaders }
  | { kind: "failed"; failure: TransportFailure }
  | Unsent;

export interface Unsent {
  kind: "unsent";
  why: "aborted" | "circuit-open" | "no-turn" | "token";
  reason: string;
}

const again: FailedAttempt["again"] = { kind: "wait" };

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

/** Both tokens may have expired. Each is renewed once. */
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

export function readFailureOf<T>(endpoint: EndpointId, ended: Attempt<T>): ReadFailure {
  if (ended.kind === "unsent") return new ReadFailure({ endpoint, kind: ended.why, reason: ended.reason });
  if (ended.kind === "failed") {
    const { reason, status } = ended.failure;
    return new ReadFailure({ endpoint, kind: reason === "stopped" ? "aborted" : "transport", reason, status });
  }
  const { answer, result } = ended;
  const { status } = answer;
  const failure = (kind: ReadFailureKind, reason: string) => new ReadFailure({ endpoint, kind, reason, status });
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
      });
    case "odd":
      return failure(status >= 500 && !saysCode(result.answer) ? "out-of-service" : "odd-answer", result.reason);
    default:
      return failure("odd-answer", "a partial answer to a read");
  }
}

function saysCode(answer: Json | undefined): boolean {
  return answer !== undefined && readEnvelope(answer).kind === "error";
}

/** `request`: the body as an object or as the sent text, to redact the answer. */
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
      // Rarely needed, and redacting costs more than the rest of a call.
      get raw() {
        return keptOf(answer, result, known, privateValues());
      },
    };
  return notDone(answer, result, known, privateValues());
}

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

/**
 * The outcome of one call. Each repetition is a call.
 * - `done`: success, or the requested state exists. `partial`: part was done.
 * - `refused`: a code about the sent data.
 * - `failed`: the service failed, or the contract does not list the code.
 * - `token`: HTTP 401 or a code about a token. `limited`: HTTP 429. `odd`: does not fit the contract.
 * - `no-answer`: bytes may have left, and no whole answer came. `unreached`: no byte left.
 * - `stopped`: somebody stopped it. `not-sent`: no permit, the service knows nothing of it.
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
type CallOutcome = (typeof callOutcomes)[number];

/** For observers: fixed words and a number, nothing that was sent or answered. */
export interface SeenCall {
  service: ServiceName;
  endpoint: EndpointId;
  outcome: CallOutcome;
  /** The listed business code, `0` for success, or `other`. For an unsent call the reason. Else `none`. */
  code: string;
  /** From the first byte to the end. 0 if nothing was sent. */
  ms: number;
}

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

/** A service may answer any text as its code: only listed codes are shown. */
function listed(endpoint: EndpointId, code: string): string {
  return endpoints[endpoint].codes.includes(code) ? code : "other";
}
