import { durationMs } from "../../base/duration.ts";
import type { Json } from "../../base/canonical-json.ts";
import type { Problem } from "../../base/errors.ts";
import { shownWords } from "../../http/redaction.ts";
import { sourceProblem } from "../problems.ts";
import { askJson } from "./ask-json.ts";
import { addressOf } from "./http-source-settings.ts";
import type { JobSettings } from "./job-settings.ts";
import { valueIn } from "./path-of.ts";
import type { Placement } from "./placement.ts";
import { shownUrl } from "./request.ts";
import type { RequestDeps } from "./request.ts";
import type { AnswerErrors } from "./answer/answer-settings.ts";

/** What the answers of a job gave for its addresses. */
export type JobValues = Record<string, string | number>;

export interface JobDeps {
  request: RequestDeps;
  baseUrl: string | undefined;
  /** The address of the list; the job may lead to no other server. */
  list: URL;
  errors: AnswerErrors | undefined;
}

const leastWaitMs = 1_000;

/**
 * Has the service make an export and waits until it is there. Throws a Problem: as any request does, or
 * `source.job-failed` for one that failed or took too long.
 */
export async function runJob(
  job: JobSettings,
  placed: readonly Placement[],
  deps: JobDeps,
  signal: AbortSignal | undefined,
): Promise<JobValues> {
  const { request, baseUrl, errors } = deps;
  const { clock, who } = request;
  const { method, body } = job.start;
  const url = sameServer(addressOf(job.start.url, baseUrl), deps);
  const headers = Object.fromEntries(
    Object.entries(job.start.headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const started = await askJson({ url, method, headers, body, placed, errors }, request, signal);
  const values = taken(job, started.document, {});
  const everyMs = Math.max(leastWaitMs, durationMs(job.every));
  const atMostMs = durationMs(job.atMost);
  const began = clock.monotonic();
  for (let waitedMs = 0; ; waitedMs += everyMs) {
    const status = sameServer(filledAddress(addressOf(job.status, baseUrl), values, who), deps);
    const { document, answer } = await askJson(
      { url: status, method: "GET", headers: {}, body: undefined, errors },
      request,
      signal,
    );
    Object.assign(values, taken(job, document, values));
    const state = valueIn(document, job.state);
    if (typeof state !== "string")
      throw failed(status, `The ${who} does not say at ${job.state} how far its export is.`);
    if (job.done.includes(state)) return values;
    if (job.failed.includes(state)) {
      const words = job.message === undefined ? undefined : valueIn(document, job.message);
      const said = typeof words === "string" ? shownWords(words, answer.secrets, 200).replace(/[.\s]+$/u, "") : "";
      const why = said === "" ? "" : `: ${JSON.stringify(said)}`;
      throw failed(status, `The export of the ${who} ended as ${shownWords(state, answer.secrets, 40)}${why}.`);
    }
    if (Math.max(waitedMs, clock.monotonic() - began) >= atMostMs)
      throw failed(status, `The export of the ${who} was not ready after ${job.atMost}.`);
    await clock.sleep(everyMs, signal);
  }
}

function taken(job: JobSettings, document: Json, before: JobValues): JobValues {
  const values = { ...before };
  for (const [name, path] of Object.entries(job.take)) {
    const value = valueIn(document, path);
    if (typeof value === "number" || (typeof value === "string" && value !== "")) values[name] = value;
  }
  return values;
}

/**
 * An address with the names in braces replaced by what a job gave. A value that is an address itself, and stands alone,
 * is taken as it is. Throws a Problem for a name that nothing was given for.
 */
export function filledAddress(address: URL, values: Readonly<JobValues>, who: string): URL {
  const written = address.href.replaceAll(/%7B([a-z][A-Za-z0-9]{0,39})%7D/giu, "{$1}");
  const only = /^[^?#]*\/\{([a-z][A-Za-z0-9]{0,39})\}$/u.exec(written)?.[1];
  const value = only === undefined || !Object.hasOwn(values, only) ? undefined : values[only];
  if (typeof value === "string" && (URL.canParse(value) || value.startsWith("/"))) return new URL(value, address);
  return new URL(
    written.replaceAll(/\{([a-z][A-Za-z0-9]{0,39})\}/gu, (_whole, name: string) => {
      const found = Object.hasOwn(values, name) ? values[name] : undefined;
      if (found === undefined) {
        const message = `The export of the ${who} gave nothing for {${name}}, which an address needs.`;
        throw failed(address, message);
      }
      return encodeURIComponent(String(found));
    }),
  );
}

/** Refuses an address on another server: it would be shown our credentials. */
export function sameServer(url: URL, { list, request }: Pick<JobDeps, "list" | "request">): URL {
  if (url.origin === list.origin) return url;
  throw sourceProblem(
    "source.refused",
    shownUrl(list),
    `The ${request.who} has its export on another server, ${url.origin}, which is not given our credentials.`,
    "Set `url` to the address that the service itself uses.",
  );
}

function failed(url: URL, message: string): Problem {
  return sourceProblem(
    "source.job-failed",
    shownUrl(url),
    message,
    "See in the service what became of it, or raise `job.atMost`; the next run asks for it again.",
  );
}
