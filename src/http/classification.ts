import type { z } from "zod";

import type { Json } from "../base/canonical-json.ts";
import { parseAnswer, readEnvelope, UnfitAnswer } from "../contract/answer-json.ts";
import { checked } from "../contract/fits.ts";
import type { CodeMeaning } from "../contract/codes.ts";
import { meaningOf } from "../contract/codes.ts";
import type { EndpointId } from "../contract/endpoints.ts";
import type { TransportAnswer } from "./transport.ts";

/** What an answer says, whether it answers a read or a write. */
export type Classified<T> =
  | { kind: "success"; data: T; answer: Json }
  | { kind: "partial"; data: T; code: string; answer: Json }
  | { kind: "code"; code: string; meaning: CodeMeaning; answer: Json }
  /** HTTP 401: the token is not accepted, whatever the body says. */
  | { kind: "unauthorized"; answer: Json | undefined }
  /** HTTP 429: the service is called too often. */
  | { kind: "limited"; answer: Json | undefined }
  /** Anything else. `alive` where the service answered in its own form, so that only this answer is odd. */
  | { kind: "odd"; reason: string; alive: boolean; answer: Json | undefined };

export interface Expectation<T> {
  endpoint: EndpointId;
  schema: z.ZodType<T>;
  /** What is wrong with data that has the right shape, such as too few asset numbers. */
  check?: ((data: T) => string | undefined) | undefined;
  tokenCodes: readonly string[];
}

/**
 * Reads an answer (A1): success is HTTP 200 with code 0 and data that fits; an error code counts in HTTP 200 and 299
 * alike; HTTP 299 is never a success, although it is a 2xx.
 */
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

/**
 * A code as it is kept and shown. A service is held to no form of it: what is longer, or written in words, may be
 * anybody's name or number, so it is not repeated.
 */
function shownCode(code: string): string {
  return /^[A-Z]{0,3}[-_]?\d{1,6}$/u.test(code) ? code : "unreadable";
}

function fit<T>(data: Json, expected: Expectation<T>): { data: T } | { reason: string } {
  const parsed = checked(expected.schema, data);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    // The place, and the words of our own checks, which quote nothing: the message of any other issue may quote a
    // value.
    const place =
      issue === undefined || issue.path.length === 0 ? "" : ` at ${issue.path.map(String).join(".").slice(0, 120)}`;
    const why = issue?.code === "custom" ? `: ${issue.message}` : "";
    return { reason: `the data does not fit${place}${why}` };
  }
  const problem = expected.check?.(parsed.data);
  return problem === undefined ? { data: parsed.data } : { reason: problem };
}
