import { createGunzip } from "node:zlib";
import { pipeline } from "node:stream";
import { request } from "undici";
import type { Dispatcher } from "undici";
import type { Clock } from "../../base/clock.ts";
import { Problem } from "../../base/errors.ts";
import type { Randomness } from "../../base/ids.ts";
import { retryAfterMs, retryRead } from "../../http/retry.ts";
import type { FailedAttempt } from "../../http/retry.ts";
import { sourceProblem } from "../problems.ts";
import type { SourceProblemCode } from "../problems.ts";
import type { Credentials } from "./credentials.ts";

/** A page that is asked for. Reads only: it may be asked for again. */
export interface PageRequest {
  url: URL;
  method: "GET" | "POST";
  headers: Readonly<Record<string, string>>;
  body: string | undefined;
}

/** An answer with HTTP 2xx. */
export interface PageAnswer {
  bytes: Buffer;
  /** Value of the Link header. */
  link: string | undefined;
  /** The clock of the service when it answered, epoch milliseconds. */
  date: number | undefined;
}

interface RequestSettings {
  maxPageBytes: number;
  retries: number;
  retryBaseMs: number;
  retryMaxMs: number;
  maxRetryAfterMs: number;
}

export interface RequestDeps {
  clock: Clock;
  random: Randomness;
  credentials: Credentials;
  dispatcher: Dispatcher;
  settings: RequestSettings;
  /** What messages call the source and the stream: `source crm, stream orders`. */
  who: string;
}

/** An address as people may see it: without query, user and password. */
export function shownUrl(url: URL): string {
  return `${url.origin}${url.pathname}`;
}

const transientStatus = new Set([408, 425, 429, 500, 502, 503, 504]);

/**
 * Asks for one page. Network failures, 408, 425, 429 and 5xx are asked again with full jitter, Retry-After kept; 401
 * once more with fresh credentials. Throws a Problem that names source, stream and address: `source.down`,
 * `source.wrong-password`, `source.refused`, `source.too-large`. A page is accepted by `accept`, which may throw a
 * Problem for an answer that another attempt could better.
 */
export function requestPage<T>(
  page: PageRequest,
  deps: RequestDeps,
  accept: (answer: PageAnswer) => T,
  signal: AbortSignal | undefined,
): Promise<T> {
  const { retries, retryBaseMs, retryMaxMs } = deps.settings;
  const { clock, random } = deps;
  return retryRead(() => once(page, deps, accept, signal), {
    attempts: retries + 1,
    baseMs: retryBaseMs,
    capMs: retryMaxMs,
    clock,
    random,
    signal,
  });
}

async function once<T>(
  page: PageRequest,
  deps: RequestDeps,
  accept: (answer: PageAnswer) => T,
  signal: AbortSignal | undefined,
): Promise<{ value: T } | FailedAttempt> {
  signal?.throwIfAborted();
  let result: PageAnswer | FailedAttempt;
  try {
    result = await send(page, deps, signal);
  } catch (thrown) {
    signal?.throwIfAborted();
    if (thrown instanceof Problem) throw thrown;
    const code =
      thrown instanceof Error && "code" in thrown && typeof thrown.code === "string" ? thrown.code : "no answer";
    return { error: down(page, deps, `cannot be reached or broke off: ${code}`), again: { kind: "wait" } };
  }
  if ("error" in result) return result;
  try {
    return { value: accept(result) };
  } catch (thrown) {
    if (thrown instanceof Problem && thrown.code === "source.not-json")
      return { error: thrown, again: { kind: "wait" } };
    throw thrown;
  }
}

async function send(
  page: PageRequest,
  deps: RequestDeps,
  signal: AbortSignal | undefined,
): Promise<PageAnswer | FailedAttempt> {
  const url = new URL(page.url);
  const shown = await deps.credentials.show(signal);
  for (const [name, value] of Object.entries(shown.parameters)) url.searchParams.set(name, value);
  const response = await request(url, {
    method: page.method,
    headers: { accept: "application/json", "accept-encoding": "gzip", ...page.headers, ...shown.headers },
    body: page.body ?? null,
    dispatcher: deps.dispatcher,
    ...(signal === undefined ? {} : { signal }),
  });
  const { statusCode } = response;
  if (statusCode >= 200 && statusCode < 300) {
    shown.accepted();
    const bytes = await bodyOf(response, page, deps);
    return { bytes, link: single(response.headers["link"]), date: dateOf(response.headers["date"]) };
  }
  await response.body.dump({ limit: 65_536 }).catch(() => undefined);
  if (statusCode === 401) {
    shown.refused();
    const error = refusedBy(page, deps, "source.wrong-password", "does not accept our credentials (HTTP 401)");
    return { error, again: { kind: "at-once", once: "credentials" } };
  }
  if (transientStatus.has(statusCode)) {
    const afterMs = retryAfterMs(single(response.headers["retry-after"]), deps.clock.now());
    const asked = afterMs === undefined ? "" : ` and asks to wait ${Math.ceil(afterMs / 1_000)} s`;
    const error = down(page, deps, `answers HTTP ${statusCode}${asked}`);
    const tooLong = afterMs !== undefined && afterMs > deps.settings.maxRetryAfterMs;
    return { error, again: tooLong ? "never" : { kind: "wait", afterMs } };
  }
  throw statusCode === 403
    ? refusedBy(page, deps, "source.wrong-password", "knows us and does not let us read this (HTTP 403)")
    : refusedBy(page, deps, "source.refused", `answers HTTP ${statusCode}`);
}

async function bodyOf(response: Dispatcher.ResponseData, page: PageRequest, deps: RequestDeps): Promise<Buffer> {
  const encoding = single(response.headers["content-encoding"])?.toLowerCase() ?? "identity";
  if (encoding !== "identity" && encoding !== "gzip") {
    throw refusedBy(page, deps, "source.refused", `answers in the encoding ${encoding}, which was not asked for`);
  }
  // pipeline destroys both streams when one fails; the iteration below throws the error.
  const body = encoding === "gzip" ? pipeline(response.body, createGunzip(), () => undefined) : response.body;
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    if (!Buffer.isBuffer(chunk)) continue;
    length += chunk.length;
    if (length > deps.settings.maxPageBytes) {
      throw sourceProblem(
        "source.too-large",
        shownUrl(page.url),
        `The ${deps.who} answers with a page of more than ${deps.settings.maxPageBytes} bytes.`,
        "Ask for smaller pages, or raise `maxPageBytes`.",
      );
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}

function dateOf(header: string | string[] | undefined): number | undefined {
  const date = Date.parse(single(header) ?? "");
  return Number.isNaN(date) ? undefined : date;
}

function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(", ") : value;
}

function down(page: PageRequest, deps: RequestDeps, what: string): Problem {
  return sourceProblem(
    "source.down",
    shownUrl(page.url),
    `The ${deps.who} ${what}.`,
    "See that the service runs and can be reached; the next run reads it again.",
  );
}

function refusedBy(page: PageRequest, deps: RequestDeps, code: SourceProblemCode, what: string): Problem {
  const cure =
    code === "source.wrong-password"
      ? "Correct `auth`, or the rights of its user."
      : "Correct `url`, `method` and `query`.";
  return sourceProblem(code, shownUrl(page.url), `The ${deps.who} ${what}.`, cure);
}
