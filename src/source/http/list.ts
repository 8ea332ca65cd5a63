import { isJsonObject } from "../../base/canonical-json.ts";
import type { Json, JsonObject } from "../../base/canonical-json.ts";
import { toInstant } from "../../base/clock.ts";
import { exitCodes, Problem } from "../../base/errors.ts";
import { toItem } from "../file/items.ts";
import { keyReader } from "../keys.ts";
import { valueAt } from "../mapping/path.ts";
import { sourceProblem } from "../problems.ts";
import type { ReadOptions, ReadOutcome, SourceItem, Staging } from "../reader.ts";
import type { RecordLimits } from "../limits.ts";
import { compileShape, pathOf, readPage } from "./page.ts";
import type { Page } from "./page.ts";
import { NewestChange } from "./newest-change.ts";
import { createPaging } from "./paging.ts";
import type { PagePosition } from "./paging.ts";
import { requestPage, shownUrl } from "./request.ts";
import type { PageAnswer, RequestDeps } from "./request.ts";
import type { HttpListSettings, SinceSettings } from "./http-source-settings.ts";

/** What one list of a service is asked with and how its answers are read: of a stream, its details or a table. */
export interface ListSettings extends HttpListSettings {
  limits: RecordLimits;
  /** Field that identifies a record. */
  key?: string | undefined;
  since?: SinceSettings | undefined;
}

export interface ListDeps {
  request: RequestDeps;
  /** Where keys are kept to find those that stand twice; without it they are not looked for. */
  staging?: Staging | undefined;
}

/** One list of a service. Making one costs nothing, so that a chain of requests may make one for each of them. */
export interface List {
  /** The records in batches, page by page; the next page is asked for while the last one is worked on. */
  read(options: ReadOptions): AsyncGenerator<SourceItem[], ReadOutcome, void>;
  /** Reads the first page and throws it away: what keeps it from being read, if anything does. */
  check(signal: AbortSignal | undefined): Promise<Problem | undefined>;
}

/** The list behind an address. What messages call it stands in `deps.request.who`. */
export function createList(settings: ListSettings, url: URL, deps: ListDeps): List {
  return new PagedList(settings, url, deps);
}

interface Fetched extends Page {
  answer: PageAnswer;
  url: URL;
}

type FetchResult = { page: Fetched } | { problem: Problem } | { thrown: unknown };

/** Name under which keys are staged to find those that stand twice. */
const seenPart = "#seen";

class PagedList implements List {
  readonly #who: string;
  readonly #settings: ListSettings;
  readonly #url: URL;
  readonly #request: RequestDeps;
  readonly #staging: Staging | undefined;

  constructor(settings: ListSettings, url: URL, { request, staging }: ListDeps) {
    this.#who = request.who;
    this.#settings = settings;
    this.#url = url;
    this.#request = request;
    this.#staging = staging;
  }

  async check(signal: AbortSignal | undefined): Promise<Problem | undefined> {
    const { first } = createPaging(this.#settings.paging, this.#who);
    const result = await this.#fetch(first, 1, undefined, signal);
    if ("thrown" in result) throw result.thrown;
    return "problem" in result ? result.problem : undefined;
  }

  async *read(options: ReadOptions): AsyncGenerator<SourceItem[], ReadOutcome, void> {
    const { since, paging: pagingSettings, key } = this.#settings;
    const newest = since === undefined ? undefined : new NewestChange(since, options.since);
    const asked =
      options.since === undefined || since === undefined
        ? undefined
        : { [since.parameter]: sinceValue(options.since, since) };
    const full = asked === undefined;
    const stop = new AbortController();
    const signal = options.signal === undefined ? stop.signal : AbortSignal.any([options.signal, stop.signal]);
    const paging = createPaging(pagingSettings, this.#who);
    const keyOf = keyReader(key);
    const watched = full && keyOf !== undefined && pagingSettings.kind !== "none" ? this.#staging?.open() : undefined;
    let sum = 0;
    let total: number | undefined;
    try {
      let position: PagePosition | undefined = paging.first;
      let pending = this.#fetch(position, 1, asked, signal);
      for (let number = 1; position !== undefined; number += 1) {
        const result = await pending;
        options.signal?.throwIfAborted();
        if ("thrown" in result) throw result.thrown;
        if ("problem" in result) return { complete: false, full, rows: sum, problem: result.problem };
        const { page } = result;
        sum += page.items.length;
        newest?.see(page);
        let problem: Problem | undefined;
        try {
          total = this.#totalOf(page) ?? total;
          if (total === undefined && this.#settings.total !== undefined) throw this.#noTotal(page.url);
          position = paging.next({ ...page, records: page.items.length, sum, total });
          if (position !== undefined && number >= this.#settings.maxPages) throw this.#tooManyPages();
        } catch (thrown) {
          if (!(thrown instanceof Problem)) throw thrown;
          problem = thrown;
          position = undefined;
        }
        if (position !== undefined) pending = this.#fetch(position, number + 1, asked, signal);
        const items = page.items.map((item) => ("bad" in item ? item : toItem(item.row, keyOf)));
        watched?.put(seenPart, items.flatMap(stagedKey));
        yield* batches(items, options.batchSize ?? 500);
        options.signal?.throwIfAborted();
        if (position !== undefined) continue;
        problem ??= this.#countProblem(sum, total) ?? this.#shiftProblem(watched?.duplicates(seenPart));
        if (problem !== undefined) return { complete: false, full, rows: sum, problem };
      }
      const cursor = newest?.cursor();
      return { complete: true, full, rows: sum, ...(cursor === undefined ? {} : { cursor }) };
    } finally {
      stop.abort();
      watched?.close();
    }
  }

  /** One page. Never rejects, so that it can run ahead of who waits for it. */
  async #fetch(
    position: PagePosition,
    number: number,
    asked: Record<string, string | number> | undefined,
    signal: AbortSignal | undefined,
  ): Promise<FetchResult> {
    const { method, headers, query, body, parametersIn, since, records, limits } = this.#settings;
    const inBody: Record<string, string | number> = {};
    const url = new URL(position.url ?? this.#url);
    if (position.url === undefined) {
      for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
    }
    const place = (parameters: Record<string, string | number>, where: "query" | "body"): void => {
      if (where === "body") Object.assign(inBody, parameters);
      else for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, String(value));
    };
    place(position.parameters, parametersIn);
    if (asked !== undefined && (position.url === undefined || since?.in === "body")) place(asked, since?.in ?? "query");
    const shape = compileShape(records, limits);
    const at = `${shownUrl(url)}#page=${number}`;
    const text = bodyText(method, body, inBody);
    const type = text === undefined ? {} : { "content-type": "application/json" };
    try {
      const page = await requestPage(
        { url, method, headers: { ...type, ...lowerCased(headers) }, body: text },
        this.#request,
        (answer): Fetched => ({ ...readPage(answer.bytes, shape, at, this.#who), answer, url }),
        signal,
      );
      return { page };
    } catch (thrown) {
      return thrown instanceof Problem ? { problem: thrown } : { thrown };
    }
  }

  /** Some services say the total on the first page only. */
  #totalOf(page: Fetched): number | undefined {
    if (this.#settings.total === undefined) return undefined;
    const found = valueAt({ item: page.document, parent: undefined }, pathOf(this.#settings.total));
    const total = typeof found === "string" && /^\d{1,15}$/.test(found) ? Number(found) : found;
    return typeof total === "number" && Number.isSafeInteger(total) && total >= 0 ? total : undefined;
  }

  #noTotal(url: URL): Problem {
    return sourceProblem(
      "source.wrong-shape",
      shownUrl(url),
      `The ${this.#who} has no number of all records at ${this.#settings.total}.`,
      "Correct `total`, or leave it out.",
    );
  }

  #countProblem(sum: number, total: number | undefined): Problem | undefined {
    if (total === undefined || sum === total) return undefined;
    return sourceProblem(
      "source.count-differs",
      shownUrl(this.#url),
      `The ${this.#who} speaks of ${total} records and gave ${sum}.`,
      "The list may have changed while it was read; the next run " +
        "reads it again. If it stays so, correct `total` or `paging`.",
    );
  }

  /** A record on two pages means that the list moved while it was read; another record may then be on none. */
  #shiftProblem(duplicates: Iterable<{ key: string; places: string[] }> | undefined): Problem | undefined {
    for (const { key, places } of duplicates ?? []) {
      return sourceProblem(
        "source.count-differs",
        places.at(-1) ?? shownUrl(this.#url),
        `The ${this.#who} gave the record ${key} ${places.length} times; ` +
          `its list moved while it was read, or \`key\` is not unique.`,
        "Ask for a fixed order in `query`, or page by cursor.",
      );
    }
    return undefined;
  }

  #tooManyPages(): Problem {
    return sourceProblem(
      "source.too-many-pages",
      shownUrl(this.#url),
      `The ${this.#who} has more than ${this.#settings.maxPages} pages.`,
      "Raise `maxPages` if that is right.",
    );
  }
}

function stagedKey(item: SourceItem): { key: string; place: string; text: string }[] {
  return "raw" in item && item.raw.key !== undefined ? [{ key: item.raw.key, place: item.raw.place, text: "" }] : [];
}

function* batches(items: SourceItem[], size: number): Generator<SourceItem[], void, void> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size);
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function bodyText(method: "GET" | "POST", body: Json | undefined, parameters: JsonObject): string | undefined {
  if (method === "GET") return undefined;
  if (isJsonObject(body)) return JSON.stringify({ ...body, ...parameters });
  return JSON.stringify(body ?? parameters);
}

/** The value that asks for changes since an instant. Throws a Problem (usage) for a text that is no instant. */
function sinceValue(text: string, since: SinceSettings): string | number {
  let epochMs: number;
  try {
    epochMs = Temporal.Instant.from(text).epochMilliseconds;
  } catch {
    throw new Problem({
      code: "source.wrong-since",
      message: `${JSON.stringify(text)} is no instant.`,
      cure: "Give an ISO time with Z or an offset, such as 2026-11-20T08:00:00Z.",
      exitCode: exitCodes.usage,
    });
  }
  const value =
    since.format === "iso" ? toInstant(epochMs) : since.format === "epoch_ms" ? epochMs : Math.floor(epochMs / 1_000);
  return since.template === "{since}" ? value : since.template.replaceAll("{since}", String(value));
}
