import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import type { Dispatcher } from "undici";
import { isJsonObject, type Json } from "../../base/canonical-json.ts";
import type { Clock } from "../../base/clock.ts";
import { Problem } from "../../base/errors.ts";
import type { Randomness } from "../../base/ids.ts";
import type { KnownSecrets } from "../../base/known-secrets.ts";
import { toldCode } from "../../base/told-words.ts";
import type { Pace } from "../../http/pace.ts";
import { shownWords } from "../../http/redaction.ts";
import { retryAfterMs, retryRead, type FailedAttempt } from "../../http/retry.ts";
import { undici } from "../../http/undici.ts";
import { parseJson } from "../json.ts";
import { sourceProblem, type SourceProblemCode } from "../problems.ts";
import { AnswerComplaint, complaintIn, wordsOfFailure, type Received } from "./answer.ts";
import type { Credentials, Shown } from "./credentials.ts";
import { withPlacements, type BodyForm, type Draft, type Placement } from "./placement.ts";
import type { AnswerErrors } from "./request-settings.ts";

/** A page to request. Reads only, so it may be requested again. */
export interface PageRequest extends Draft {
  method: "GET" | "POST";
  /** Values to fill in, in this order. Those of the credentials come last. */
  placed?: readonly Placement[] | undefined;
  nothing?: readonly number[] | undefined;
  /** How to recognise an error in an answer, also in one with an error status. */
  errors?: AnswerErrors | undefined;
}

/** An answer with HTTP 2xx, or with a status of `nothing`. */
export interface PageAnswer extends Received {
  /** Date header: epoch milliseconds. */
  date: number | undefined;
  cookies: readonly string[];
}

/** `failed`: the service failed for now, or wants a retry. `no-answer`: no complete answer. */
const requestOutcomes = ["answered", "failed", "refused", "no-answer"] as const;

/** A longer Retry-After ends the read. */
const maxRetryAfterMs = 300_000;

/** For observers. Contains nothing of the request or answer. */
export interface SeenRequest {
  outcome: (typeof requestOutcomes)[number];
  ms: number;
}

interface RequestSettings {
  maxPageBytes: number;
  answerTimeoutMs: number;
  retries: number;
  retryBaseMs: number;
  retryMaxMs: number;
}

export interface RequestDeps {
  clock: Clock;
  random: Randomness;
  credentials: Credentials;
  known: KnownSecrets;
  dispatcher: Dispatcher;
  settings: RequestSettings;
  who: string;
  pace?: Pace | undefined;
  /** HTTP statuses that mean "does not exist". */
  lacking?: readonly number[] | undefined;
  /** Called after each request. Never throws. */
  onRequest?: ((seen: SeenRequest) => void) | undefined;
}

/** An address without query, user and password, fit for messages. */
export function shownUrl(url: URL): string {
  return `${url.origin}${url.pathname}`;
}

const transientStatus = new Set([408, 425, 429, 500, 502, 503, 504]);

/**
 * Retries network failures, 408, 425, 429 and 5xx with full jitter and Retry-After; 401 and an expired session once,
 * with fresh credentials. `accept` may throw an AnswerComplaint or a Problem, of which only `source.not-json` is
 * retried.
 */
export function requestPage<T>(
  page: PageRequest,
  deps: RequestDeps,
  accept: (answer: PageAnswer) => T,
  signal: AbortSignal | undefined,
): Promise<T> {
  const { retries, retryBaseMs, retryMaxMs } = deps.settings;
  const { clock, random } = deps;
  return retryRead(() => new Attempt(page, deps, signal).make(accept), {
    attempts: retries + 1,
    baseMs: retryBaseMs,
    capMs: retryMaxMs,
    clock,
    random,
    signal,
  });
}

const mostOfFailure = 65_536;

class Attempt {
  readonly #page: PageRequest;
  readonly #deps: RequestDeps;
  readonly #signal: AbortSignal | undefined;

  constructor(page: PageRequest, deps: RequestDeps, signal: AbortSignal | undefined) {
    this.#page = page;
    this.#deps = deps;
    this.#signal = signal;
  }

  async make<T>(accept: (answer: PageAnswer) => T): Promise<{ value: T } | FailedAttempt> {
    await this.#deps.pace?.turn(this.#signal);
    this.#signal?.throwIfAborted();
    const shown = await this.#deps.credentials.show(this.#signal);
    const { clock, onRequest } = this.#deps;
    const since = clock.monotonic();
    const seen = (outcome: SeenRequest["outcome"]): void => onRequest?.({ outcome, ms: clock.monotonic() - since });
    let result: PageAnswer | FailedAttempt;
    try {
      result = await this.#send(shown);
      seen("error" in result ? "failed" : "answered");
    } catch (thrown) {
      this.#signal?.throwIfAborted();
      seen(thrown instanceof Problem ? "refused" : "no-answer");
      if (thrown instanceof Problem) throw thrown;
      return { error: this.#down(reasonOf(thrown)), again: { kind: "wait" } };
    }
    if ("error" in result) return result;
    try {
      const value = accept(result);
      shown.accepted();
      return { value };
    } catch (thrown) {
      if (thrown instanceof AnswerComplaint) return this.#complained(thrown, shown);
      shown.accepted();
      if (thrown instanceof Problem && thrown.code === "source.not-json")
        return { error: thrown, again: { kind: "wait" } };
      throw thrown;
    }
  }

  async #send(shown: Shown): Promise<PageAnswer | FailedAttempt> {
    const { method, bodyAs, placed = [] } = this.#page;
    const draft = withPlacements(this.#page, [...placed, ...(shown.placed ?? [])], this.#deps.who);
    const body = method === "GET" ? undefined : bodyText(draft.body, bodyAs);
    const late = AbortSignal.timeout(this.#deps.settings.answerTimeoutMs);
    const response = await undici().request(draft.url, {
      method,
      headers: {
        ...(body === undefined ? {} : { "content-type": typeOf[bodyAs ?? "json"] }),
        accept: "application/json",
        "accept-encoding": "gzip",
        ...draft.headers,
        ...shown.headers,
      },
      body: body ?? null,
      dispatcher: this.#deps.dispatcher,
      signal: this.#signal === undefined ? late : AbortSignal.any([this.#signal, late]),
    });
    const headers = headersOf(response.headers);
    if (this.#page.nothing?.includes(response.statusCode) === true) {
      await response.body.dump();
      const { statusCode: nothing } = response;
      return { bytes: Buffer.alloc(0), headers, cookies: [], date: dateOf(headers["date"]), nothing };
    }
    if (response.statusCode >= 200 && response.statusCode < 300) {
      const bytes = await this.#bodyOf(response);
      const cookies = [response.headers["set-cookie"] ?? []].flat();
      return { bytes, headers, cookies, date: dateOf(headers["date"]) };
    }
    return this.#failed(response, headers["retry-after"], shown);
  }

  async #failed(
    response: Dispatcher.ResponseData,
    retryAfter: string | undefined,
    shown: Shown,
  ): Promise<FailedAttempt> {
    const { statusCode } = response;
    const document = await startOf(response, mostOfFailure);
    const told = document === undefined ? undefined : wordsOfFailure(document);
    const said = this.#words(told?.words, told?.code);
    const complaint = document === undefined ? undefined : complaintIn(document, this.#page.errors);
    if (statusCode === 401 || complaint?.means === "expired") {
      shown.refused();
      const error = this.#refused(
        "source.wrong-password",
        `does not accept our credentials (HTTP ${statusCode})${said}`,
      );
      return { error, again: this.#renewed() };
    }
    if (transientStatus.has(statusCode) || complaint?.means === "retry") {
      const afterMs = retryAfterMs(retryAfter, this.#deps.clock.now());
      const asked = afterMs === undefined ? "" : ` and asks to wait ${Math.ceil(afterMs / 1_000)} s`;
      const error = this.#down(`answers HTTP ${statusCode}${asked}${said}`);
      return { error, again: afterMs !== undefined && afterMs > maxRetryAfterMs ? "never" : { kind: "wait", afterMs } };
    }
    const isLacking = this.#deps.lacking?.includes(statusCode) === true;
    throw statusCode === 403
      ? this.#refused(
          "source.wrong-password",
          `accepts our credentials, but does not let us read this (HTTP 403)${said}`,
        )
      : this.#refused(isLacking ? "source.not-found" : "source.refused", `answers HTTP ${statusCode}${said}`);
  }

  #complained({ complaint }: AnswerComplaint, shown: Shown): FailedAttempt {
    const { words, code, means } = complaint;
    const said = this.#words(words, code);
    if (means === "expired") {
      shown.refused();
      const error = this.#refused("source.wrong-password", `says that our session is over${said}`);
      return { error, again: this.#renewed() };
    }
    shown.accepted();
    const error = sourceProblem(
      "source.error-answer",
      shownUrl(this.#page.url),
      `The ${this.#deps.who} answers with an error${said}.`,
      "Correct the cause of the error. If the answer is not an error, describe in `errors` how to recognise an error.",
    );
    return { error, again: means === "retry" ? { kind: "wait" } : "never" };
  }

  #renewed(): FailedAttempt["again"] {
    return this.#deps.credentials.renewable === false ? "never" : { kind: "at-once", once: "credentials" };
  }

  #words(words: string | undefined, code: string | undefined): string {
    const { known } = this.#deps;
    const asked = shownUrl(this.#page.url);
    const clean = words === undefined ? "" : shownWords(words, known, 200, asked).replace(/[.\s]+$/u, "");
    const name = code === undefined ? "" : (toldCode(known.words(code)) ?? "");
    if (clean === "" && name === "") return "";
    return `: ${[clean === "" ? "" : JSON.stringify(clean), name === "" ? "" : `(${name})`].join(" ").trim()}`;
  }

  async #bodyOf(response: Dispatcher.ResponseData): Promise<Buffer> {
    const { maxPageBytes } = this.#deps.settings;
    const encoding = headersOf(response.headers)["content-encoding"]?.toLowerCase() ?? "identity";
    if (encoding !== "identity" && encoding !== "gzip")
      throw this.#refused("source.refused", `answers in the encoding ${encoding}, which crm-sync did not request`);
    // pipeline destroys both streams when one fails; the iteration below throws the error.
    const body = encoding === "gzip" ? pipeline(response.body, createGunzip(), () => undefined) : response.body;
    const bytes = await upTo(body, maxPageBytes);
    if (bytes !== undefined) return bytes;
    throw sourceProblem(
      "source.too-large",
      shownUrl(this.#page.url),
      `The ${this.#deps.who} answers with a page of more than ${maxPageBytes} bytes.`,
      "Ask for smaller pages, or raise `maxPageBytes`.",
    );
  }

  #down(what: string): Problem {
    const cure = "Check that the service runs and can be reached; the next run reads it again.";
    return sourceProblem("source.down", shownUrl(this.#page.url), `The ${this.#deps.who} ${what}.`, cure);
  }

  #refused(code: SourceProblemCode, what: string): Problem {
    const cure =
      code === "source.wrong-password"
        ? "Correct `auth`, or the rights of its user."
        : "Correct `url`, `method` and `query`.";
    return sourceProblem(code, shownUrl(this.#page.url), `The ${this.#deps.who} ${what}.`, cure);
  }
}

const typeOf: Readonly<Record<BodyForm, string>> = {
  json: "application/json",
  form: "application/x-www-form-urlencoded",
};

function bodyText(body: Json | undefined, bodyAs: BodyForm | undefined): string {
  if (bodyAs !== "form") return JSON.stringify(body ?? {});
  const form = new URLSearchParams();
  for (const [name, value] of isJsonObject(body) ? Object.entries(body) : [])
    form.set(name, typeof value === "string" ? value : JSON.stringify(value ?? null));
  return form.toString();
}

/** All bytes of a body; undefined where they are more than `most`. */
async function upTo(body: AsyncIterable<unknown>, most: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    if (!Buffer.isBuffer(chunk)) continue;
    length += chunk.length;
    if (length > most) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}

/** The JSON of a failed answer, if it has any. */
async function startOf(response: Dispatcher.ResponseData, most: number): Promise<Json | undefined> {
  try {
    const bytes = await upTo(response.body, most);
    const parsed = parseJson(bytes?.toString("utf8") ?? "", { maxBytes: most, maxDepth: 64, maxMembers: 1_000 });
    return parsed.ok ? parsed.value : undefined;
  } catch {
    return undefined;
  }
}

function headersOf(raw: Dispatcher.ResponseData["headers"]): Record<string, string> {
  return Object.fromEntries(
    Object.entries(raw).map(([name, value]) => [name.toLowerCase(), [value ?? ""].flat().join(", ")]),
  );
}

function dateOf(header: string | undefined): number | undefined {
  const date = Date.parse(header ?? "");
  return Number.isNaN(date) ? undefined : date;
}

const words: readonly (readonly [RegExp, string])[] = [
  [/^ECONNREFUSED$/u, "cannot be reached: nothing listens at this address"],
  [/^(?:ENOTFOUND|EAI_)/u, "cannot be reached: the name of its host is not known"],
  [/^(?:UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN)$/u, "cannot be reached from here"],
  [
    /^(?:UND_ERR_(?:SOCKET|ABORTED|RES_CONTENT_LENGTH_MISMATCH)|ECONNRESET|ECONNABORTED|EPIPE)$/u,
    "gave no whole answer: the connection broke off in the middle of the answer",
  ],
  [/^UND_ERR_(?:HEADERS|BODY)_TIMEOUT$/u, "took too long to answer"],
  [/^Z_/u, "gave an incomplete answer: its compressed data is damaged or cut off"],
  [/^HPE_/u, "answers with something that is no HTTP"],
  [/CERT|SELF_SIGNED|ISSUER|^ERR_TLS/u, "shows a certificate that is not trusted"],
  [/SSL|^EPROTO$/u, "does not speak TLS with us"],
];

/** Explains a network error by its code. Its message may quote a header or body, so it is not used. */
function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return "gave no answer";
  if (thrown.name === "TimeoutError") return "took too long to answer";
  const code = codeOf(thrown);
  if (code === undefined) return "gave no answer";
  const known = words.find(([pattern]) => pattern.test(code))?.[1];
  return `${known ?? "cannot be reached, or the connection broke off"} (${code})`;
}

/** With several addresses of a host: the code of the first one. */
function codeOf(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error)) return undefined;
  if ("code" in thrown && typeof thrown.code === "string") return thrown.code;
  return thrown instanceof AggregateError ? codeOf(thrown.errors[0]) : undefined;
}
