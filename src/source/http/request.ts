import { createGunzip } from "node:zlib";
import { pipeline } from "node:stream";
import { request } from "undici";
import type { Dispatcher } from "undici";
import type { Clock } from "../../base/clock.ts";
import { Problem } from "../../base/errors.ts";
import type { Randomness } from "../../base/ids.ts";
import { backoffMs } from "../../http/retry.ts";
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

/** A failure that another attempt may cure, and how long the service asks us to wait. */
interface Transient {
  problem: Problem;
  waitMs: number | undefined;
}

type Attempt = { answer: PageAnswer } | { again: Transient } | { unauthorized: Problem };

const transientStatus = new Set([408, 425, 429, 500, 502, 503, 504]);

/**
 * Asks for one page. Network failures, 408, 425, 429 and 5xx are asked again with full jitter, Retry-After kept; 401 once more with fresh credentials. Throws a
 * Problem that names source, stream and address: `source.down`, `source.wrong-password`, `source.refused`, `source.too-large`. A page is accepted by `accept`, which may
 * throw a Problem for an answer that another attempt could better.
 */
export async function requestPage<T>(
  page: PageRequest,
  deps: RequestDeps,
  accept: (answer: PageAnswer) => T,
  signal: AbortSignal | undefined,
): Promise<T> {
  let refreshed = false;
  for (let attempt = 0; ; attempt += 1) {
    signal?.throwIfAborted();
    const result = await once(page, deps, accept, signal);
    if ("accepted" in result) return result.accepted;
    if ("unauthorized" in result) {
      if (refreshed) throw result.unauthorized;
      refreshed = true;
      await deps.credentials.refresh();
      attempt -= 1;
      continue;
    }
    const { problem, waitMs } = result.again;
    if (attempt >= deps.settings.retries) throw problem;
    if (waitMs !== undefined && waitMs > deps.settings.maxRetryAfterMs) throw problem;
    const backoff = backoffMs(
      attempt,
      { baseMs: deps.settings.retryBaseMs, capMs: deps.settings.retryMaxMs },
      deps.random,
    );
    await deps.clock.sleep(Math.max(backoff, waitMs ?? 0), signal);
  }
}

async function once<T>(
  page: PageRequest,
  deps: RequestDeps,
  accept: (answer: PageAnswer) => T,
  signal: AbortSignal | undefined,
): Promise<{ accepted: T } | Exclude<Attempt, { answer: PageAnswer }>> {
  let result: Attempt;
  try {
    result = await send(page, deps, signal);
  } catch (thrown) {
    signal?.throwIfAborted();
    if (thrown instanceof Problem) throw thrown;
    const code =
      thrown instanceof Error && "code" in thrown && typeof thrown.code === "string" ? thrown.code : "no answer";
    return { again: { problem: down(page, deps, `cannot be reached or broke off: ${code}`), waitMs: undefined } };
  }
  if (!("answer" in result)) return result;
  try {
    return { accepted: accept(result.answer) };
  } catch (thrown) {
    if (thrown instanceof Problem && thrown.code === "source.not-json")
      return { again: { problem: thrown, waitMs: undefined } };
    throw thrown;
  }
}

async function send(page: PageRequest, deps: RequestDeps, signal: AbortSignal | undefined): Promise<Attempt> {
  const url = new URL(page.url);
  for (const [name, value] of Object.entries(await deps.credentials.parameters())) url.searchParams.set(name, value);
  const headers = {
    accept: "application/json",
    "accept-encoding": "gzip",
    ...page.headers,
    ...(await deps.credentials.headers()),
  };
  const response = await request(url, {
    method: page.method,
    headers,
    body: page.body ?? null,
    dispatcher: deps.dispatcher,
    ...(signal === undefined ? {} : { signal }),
  });
  const { statusCode } = response;
  if (statusCode >= 200 && statusCode < 300) {
    const bytes = await bodyOf(response, page, deps);
    return { answer: { bytes, link: single(response.headers["link"]), date: dateOf(response.headers["date"]) } };
  }
  await response.body.dump({ limit: 65_536 }).catch(() => undefined);
  if (statusCode === 401)
    return {
      unauthorized: refusedBy(page, deps, "source.wrong-password", "does not accept our credentials (HTTP 401)"),
    };
  if (transientStatus.has(statusCode)) {
    const waitMs = retryAfterMs(single(response.headers["retry-after"]), deps.clock);
    const asked = waitMs === undefined ? "" : ` and asks to wait ${Math.ceil(waitMs / 1_000)} s`;
    return { again: { problem: down(page, deps, `answers HTTP ${statusCode}${asked}`), waitMs } };
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

/** Retry-After as milliseconds from now: a number of seconds, or an HTTP date. */
function retryAfterMs(value: string | undefined, clock: Clock): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value.trim())) return Number(value) * 1_000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - clock.now());
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
