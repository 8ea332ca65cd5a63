import { sha256 } from "../../base/canonical-json.ts";
import { Problem } from "../../base/errors.ts";
import { batchesOf, keyReader, toItem } from "../json.ts";
import type { ReadOutcome, SourceItem, Staging } from "../reader.ts";
import { readAnswer, type Page } from "./answer.ts";
import { ListProblems, mostPasses } from "./list-problems.ts";
import {
  beginReading,
  beyondList,
  forgotten,
  isNoPage,
  lowerCased,
  positionOf,
  positionText,
  totalOf,
  type ListReadOptions,
  type ListSettings,
  type Position,
  type Reading,
} from "./list-reading.ts";
import { identityOf, merelyCounts, movingOf, Passes } from "./moving.ts";
import type { PagePosition } from "./paging.ts";
import type { Placement } from "./placement.ts";
import { requestPage, shownUrl, type PageAnswer, type RequestDeps } from "./request.ts";

interface ListDeps {
  request: RequestDeps;
  /** Where keys are kept to find those that stand twice. */
  staging: Staging;
}

interface Fetched extends Page {
  answer: PageAnswer;
  url: URL;
}

type FetchResult = { page: Fetched } | { problem: Problem } | { thrown: unknown };

export class List {
  readonly #who: string;
  readonly #settings: ListSettings;
  readonly #url: URL;
  readonly #deps: ListDeps;
  readonly #problems: ListProblems;
  readonly #keyOf: ReturnType<typeof keyReader>;

  constructor(settings: ListSettings, url: URL, deps: ListDeps) {
    this.#who = deps.request.who;
    this.#settings = settings;
    this.#url = url;
    this.#deps = deps;
    this.#problems = new ListProblems(this.#who, url, settings);
    this.#keyOf = keyReader(settings.key);
  }

  async check(signal: AbortSignal | undefined): Promise<Problem | undefined> {
    const reading = this.#begin({}, undefined);
    const result = await this.#ask(reading, signal);
    if ("thrown" in result) throw result.thrown;
    if ("problem" in result) return result.problem;
    const { problem } = this.#take(reading, result.page);
    return problem ?? reading.beyond;
  }

  /** Yields records page by page. Requests the next page while the caller works on the current one. */
  async *read(options: ListReadOptions): AsyncGenerator<SourceItem[], ReadOutcome, void> {
    const stop = new AbortController();
    const signal = options.signal === undefined ? stop.signal : AbortSignal.any([options.signal, stop.signal]);
    let reading = this.#begin(options, positionOf(options.resume, options.since));
    let passes: Passes | undefined;
    try {
      let pending = this.#ask(reading, signal);
      if (reading.resumed) {
        const first = await pending;
        if ("problem" in first && forgotten.has(first.problem.code)) {
          reading = this.#begin(options, undefined);
          pending = this.#ask(reading, signal);
        }
      }
      if (options.resume !== undefined && !reading.resumed) options.beginsAnew?.();
      passes = this.#passes(reading);
      const full = this.#isFull(reading);
      const pages = this.#pages(reading, pending, signal);
      let problem: Problem | undefined;
      for (;;) {
        const next = await pages.next();
        if (next.done === true) {
          problem = next.value;
          break;
        }
        const found = passes?.see(next.value);
        const isHeld = passes?.holds === true || this.#isReadAgain(reading);
        const items = found === undefined || !isHeld ? next.value : found;
        reading.yielded -= next.value.length - items.length;
        yield* batchesOf(items, options.batchSize ?? 500);
        options.signal?.throwIfAborted();
      }
      if (problem === undefined && passes !== undefined && this.#isReadAgain(reading))
        problem = yield* this.#readAgain(reading, passes, signal);
      else if (problem === undefined)
        problem =
          this.#problems.count(reading) ??
          (full ? this.#problems.shift(passes?.twice("this")) : undefined) ??
          reading.beyond;
      if (problem === undefined && passes?.holds === true && !this.#isReadAgain(reading))
        yield* this.#held(reading, passes, "this");
      // Rows held back still count: the list was not shorter.
      const rows = passes?.holds === true ? reading.sum : reading.yielded;
      if (problem !== undefined) return { complete: false, full, rows, problem };
      const cursor = this.#mayMove(reading) ? undefined : reading.newest?.cursor();
      return { complete: true, full, rows: reading.yielded, ...(cursor === undefined ? {} : { cursor }) };
    } finally {
      stop.abort();
      passes?.close();
    }
  }

  async *#pages(
    reading: Reading,
    first: Promise<FetchResult>,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<SourceItem[], Problem | undefined, void> {
    const { options } = reading;
    for (let pending = first; ;) {
      const result = await pending;
      options.signal?.throwIfAborted();
      if ("thrown" in result) throw result.thrown;
      if ("problem" in result) return isNoPage(reading, result.problem) ? reading.beyond : result.problem;
      const { next, problem } = this.#take(reading, result.page);
      if (next !== undefined) pending = this.#ask(reading, signal);
      const reached = next === undefined ? undefined : this.#reached(reading);
      yield result.page.items.map((item) => ("bad" in item ? item : toItem(item.row, this.#keyOf)));
      options.signal?.throwIfAborted();
      if (reached !== undefined) options.reached?.(reached);
      if (next === undefined) return problem;
    }
  }

  async *#held(reading: Reading, passes: Passes, of: "this" | "before"): AsyncGenerator<SourceItem[], void, void> {
    for (const items of passes.rows(of, reading.options.batchSize ?? 500)) {
      reading.yielded += items.length;
      yield items;
      reading.options.signal?.throwIfAborted();
    }
  }

  /** Reads until a pass provably missed no record. Yields new records; for parts of records, all rows of that pass. */
  async *#readAgain(
    first: Reading,
    passes: Passes,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<SourceItem[], Problem | undefined, void> {
    const { reached: _reached, resume: _resume, ...options } = first.options;
    let doubt: Problem | undefined;
    for (let before = first, pass = 2; pass <= mostPasses; pass += 1) {
      passes.begin();
      const reading = this.#begin(options, undefined);
      const pages = this.#pages(reading, this.#ask(reading, signal), signal);
      for (let next = await pages.next(); ; next = await pages.next()) {
        if (next.done !== true) {
          const bad = passes.see(next.value);
          first.yielded += bad.length;
          if (bad.length > 0) yield bad;
        } else if (next.value === undefined) break;
        else return next.value;
      }
      for (const fresh of passes.holds ? [] : passes.fresh(options.batchSize ?? 500)) {
        first.yielded += fresh.length;
        yield fresh;
        options.signal?.throwIfAborted();
      }
      const lost = passes.lostSinceBefore();
      doubt =
        this.#problems.count(before) ??
        this.#problems.shift(passes.twice("before")) ??
        this.#problems.lost(lost) ??
        before.beyond;
      if (passes.differ()) doubt ??= this.#problems.differed();
      if (doubt === undefined) {
        if (passes.holds) yield* this.#held(first, passes, "before");
        return undefined;
      }
      before = reading;
    }
    return doubt;
  }

  #begin(options: ListReadOptions, from: Position | undefined): Reading {
    return beginReading(
      this.#settings,
      { who: this.#who, url: this.#url, clock: this.#deps.request.clock },
      options,
      from,
    );
  }

  #take(reading: Reading, page: Fetched): { next?: PagePosition | undefined; problem?: Problem } {
    this.#dropRepeated(reading, page);
    const unexpected = this.#endProblem(reading, page);
    const records = page.items.length;
    reading.sum += records;
    reading.yielded += records;
    reading.newest?.see(page);
    try {
      const said = totalOf(this.#settings, page);
      reading.total = (this.#settings.paging.kind === "keyset" ? reading.total : said) ?? said ?? reading.total;
      const { total, totalHeader } = this.#settings;
      const isNothing = page.isNothing === true;
      if (reading.total === undefined && !isNothing && (total ?? totalHeader) !== undefined)
        throw this.#problems.noTotal(page.url);
      const next = isNothing ? undefined : reading.paging.next({ ...page, sum: reading.sum, total: reading.total });
      if (unexpected !== undefined) throw unexpected;
      if (next === undefined) {
        if (!isNothing) reading.beyond = this.#problems.beyond(page, reading);
        return {};
      }
      const { number, sum } = reading;
      if (next.beyond !== undefined) reading.beyond = this.#problems.beyond(page, reading);
      else if (number >= this.#settings.maxPages) throw this.#problems.tooManyPages();
      reading.counts ||= merelyCounts(this.#settings.paging, { from: page.url, next, number, records, sum });
      reading.position = next;
      reading.number += 1;
      return { next };
    } catch (thrown) {
      if (!(thrown instanceof Problem)) throw thrown;
      return { problem: thrown };
    }
  }

  /** Everything was requested, and no record can have moved past us during a cut. */
  #isFull(reading: Reading): boolean {
    return reading.asked === undefined && !this.#mayMove(reading);
  }

  /** After a resume, records may have moved to pages that were already read. A keyset prevents this. */
  #mayMove({ resumed }: Reading): boolean {
    return resumed && this.#settings.paging.kind !== "keyset";
  }

  #isReadAgain({ counts, number, position }: Reading): boolean {
    return number > (position.beyond === "likely" ? 2 : 1) && movingOf(this.#settings.paging, counts) === "again";
  }

  #passes(reading: Reading): Passes | undefined {
    const { paging, key, limits, areParts = false } = this.#settings;
    if (reading.resumed || paging.kind === "none") return undefined;
    const isWatched = reading.asked === undefined && key !== undefined;
    const mayBeAgain = movingOf(paging, true) === "again";
    if (!isWatched && !mayBeAgain) return undefined;
    return new Passes(this.#deps.staging.open(), this.#keyOf, limits, { ofRecords: areParts && mayBeAgain });
  }

  /** Behind the end, a service may repeat a page. Such a page counts as empty. */
  #dropRepeated({ position, pages }: Reading, page: Fetched): void {
    if ((this.#settings.total ?? this.#settings.totalHeader) === undefined) return;
    const mark = sha256(page.items.map((item) => identityOf(item, this.#keyOf)).join("\n"));
    if (position.beyond === "likely" && pages.has(mark)) page.items = [];
    pages.add(mark);
  }

  /** Records behind an empty page mean that the end of the list is unknown. */
  #endProblem({ position }: Reading, page: Fetched): Problem | undefined {
    if (position.beyond !== "surely" || page.items.length === 0) return undefined;
    page.items = [];
    return this.#problems.moreBehind(page.url);
  }

  #reached({ position, number, sum, total, newest, options }: Reading): string | undefined {
    if (options.reached === undefined) return undefined;
    const reached: Position = {
      form: 1,
      since: options.since ?? null,
      page: number,
      parameters: position.parameters,
      url: position.url?.href ?? null,
      sum,
      total: total ?? null,
      changes: newest?.seen ?? null,
    };
    return positionText(reached);
  }

  /** Requests the current page. Never rejects, so that it can run ahead of its caller. */
  async #ask(reading: Reading, signal: AbortSignal | undefined): Promise<FetchResult> {
    const { method, query, body, bodyAs, parametersIn, errors, nothing } = this.#settings;
    const { position, number, asked, options } = reading;
    const { request } = this.#deps;
    try {
      const url = position.url === undefined ? new URL(this.#url) : new URL(position.url);
      const isOwn = position.url === undefined;
      if (isOwn) for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
      const placed: Placement[] = [...(options.placed ?? []), ...(asked ?? [])].filter(
        (one) => isOwn || one.in !== "query",
      );
      for (const [parameter, value] of Object.entries(position.parameters))
        placed.push({ in: parametersIn, parameter, value });
      const named = { place: `${shownUrl(url)}#page=${number}`, who: this.#who, known: request.known };
      const headers = lowerCased(this.#settings.headers);
      const page = await requestPage(
        { url, method, headers, body, bodyAs, placed, errors, nothing },
        position.beyond === undefined ? request : { ...request, lacking: beyondList(reading.total !== undefined) },
        (answer): Fetched => ({
          ...readAnswer(answer, { form: this.#settings, changesOnly: asked !== undefined }, named),
          answer,
          url,
        }),
        signal,
      );
      return { page };
    } catch (thrown) {
      return thrown instanceof Problem ? { problem: thrown } : { thrown };
    }
  }
}
