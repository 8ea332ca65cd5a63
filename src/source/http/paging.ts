import { sha256, type Json } from "../../base/canonical-json.ts";
import { pathOf, valueAt, type Path } from "../mapping/path.ts";
import { sourceProblem } from "../problems.ts";
import type { FileItem } from "../reader.ts";
import type { PagingSettings } from "./paging-settings.ts";
import { valueIn } from "./placement.ts";
import { shownUrl, type PageAnswer } from "./request.ts";

export interface PagePosition {
  parameters: Record<string, string | number>;
  url?: URL;
  /** No records are expected there: see `Follows`. */
  beyond?: "likely" | "surely";
}

interface PageSeen {
  answer: PageAnswer;
  document: Json;
  items: readonly FileItem[];
  sum: number;
  total: number | undefined;
  url: URL;
}

/** `next` throws a Problem if the page repeats or is on another server. */
export interface Paging {
  first: PagePosition;
  next(seen: PageSeen): PagePosition | undefined;
  /** Continues at a position of an earlier read. Undefined if the position does not fit this paging. */
  resume(position: PagePosition): PagePosition | undefined;
}

export function createPaging(settings: PagingSettings, who: string, key?: string): Paging {
  const loops = new LoopWatch(who);
  const keep = (position: PagePosition): PagePosition => position;
  switch (settings.kind) {
    case "none":
      return { first: { parameters: {} }, next: () => undefined, resume: () => undefined };
    case "page": {
      const end = new EndWatch(settings, who, { mayPassOver: true });
      let page = settings.first;
      const at = (): PagePosition => ({ parameters: { [settings.parameter]: page, ...sizeOf(settings) } });
      return {
        first: at(),
        next(seen) {
          const follows = end.after(seen);
          if (follows === "none") return undefined;
          if (follows !== "surely") loops.content(seen);
          page += 1;
          return asked(at(), follows);
        },
        resume({ parameters }) {
          const number = parameters[settings.parameter];
          if (typeof number !== "number") return undefined;
          page = number;
          return at();
        },
      };
    }
    case "offset": {
      const end = new EndWatch(settings, who, { mayPassOver: false });
      const at = (offset: number): PagePosition => ({
        parameters: { [settings.parameter]: offset, ...sizeOf(settings) },
      });
      return {
        first: at(0),
        next(seen) {
          const follows = end.after(seen);
          if (follows === "none") return undefined;
          loops.content(seen);
          return asked(at(seen.sum), follows);
        },
        resume: keep,
      };
    }
    case "cursor":
      return {
        first: { parameters: sizeOf(settings) },
        next(seen) {
          const { next, parameter } = settings;
          const more = hasMore(seen, settings.hasMore, who);
          if (more === false) return undefined;
          const cursor = valueIn(seen.document, next);
          if (isNone(cursor) && more !== true) return undefined;
          if (isNone(cursor) || (typeof cursor !== "string" && typeof cursor !== "number"))
            throw wrongNext(who, seen.url, next);
          loops.position(String(cursor), seen.url);
          return { parameters: { ...sizeOf(settings), [parameter]: cursor } };
        },
        resume: keep,
      };
    case "keyset": {
      const end = new EndWatch(settings, who, { mayPassOver: false });
      const keys = new KeyOrder(settings.key ?? key ?? ".", who);
      const at = (value: string | number | undefined): PagePosition => ({
        parameters: { ...sizeOf(settings), ...(value === undefined ? {} : { [settings.parameter]: value }) },
      });
      return {
        first: at(settings.first),
        next(seen) {
          const last = keys.follow(seen.items, seen.url);
          // A total in such a page may count only the records behind its key.
          const follows = end.after({ ...seen, total: undefined });
          return last === undefined || follows === "none" ? undefined : asked(at(last), follows);
        },
        resume({ parameters }) {
          const last = parameters[settings.parameter];
          if (last === undefined) return undefined;
          keys.begin(last);
          return at(last);
        },
      };
    }
    case "nextLink":
      return {
        first: { parameters: {} },
        next(seen) {
          const link = valueIn(seen.document, settings.next);
          if (isNone(link)) return undefined;
          if (typeof link !== "string") throw wrongNext(who, seen.url, settings.next);
          return follow(link, seen.url, who, loops);
        },
        resume: keep,
      };
    case "linkHeader":
      return {
        first: { parameters: {} },
        next(seen) {
          const link = nextOf(seen.answer.headers["link"]);
          return link === undefined ? undefined : follow(link, seen.url, who, loops);
        },
        resume: keep,
      };
  }
}

function sizeOf({ sizeParameter, size }: { sizeParameter?: string | undefined; size: number }): Record<string, number> {
  return sizeParameter === undefined ? {} : { [sizeParameter]: size };
}

function isNone(value: Json | undefined): boolean {
  return value === undefined || value === null || value === "" || value === false;
}

function asked(position: PagePosition, follows: "page" | "likely" | "surely"): PagePosition {
  return follows === "page" ? position : { ...position, beyond: follows };
}

/** Refuses another origin, because it would get our credentials. */
function follow(link: string, from: URL, who: string, loops: LoopWatch): PagePosition {
  if (!URL.canParse(link, from)) throw wrongNext(who, from, "the link");
  const url = new URL(link, from);
  if (url.origin !== from.origin) {
    throw sourceProblem(
      "source.refused",
      shownUrl(from),
      `The ${who} names a next page on another server, ${url.origin}. crm-sync does not send its credentials there.`,
      "Set `baseUrl` to the address that the service uses in its answers.",
    );
  }
  url.username = "";
  url.password = "";
  loops.position(url.href, from);
  return { parameters: {}, url };
}

/** The target of rel="next" in a Link header (RFC 8288). */
export function nextOf(header: string | undefined): string | undefined {
  for (const match of (header ?? "").matchAll(/<([^>]*)>((?:\s*;\s*[\w*-]+\s*(?:=\s*(?:"[^"]*"|[^",;\s]+))?)*)/g)) {
    const relations = /;\s*rel\s*=\s*(?:"([^"]*)"|([^",;\s]+))/i.exec(match[2] ?? "");
    const names = (relations?.[1] ?? relations?.[2] ?? "").toLowerCase().split(/\s+/);
    if (names.includes("next")) return match[1];
  }
  return undefined;
}

class LoopWatch {
  readonly #who: string;
  readonly #positions = new Set<string>();
  #lastContent = "";

  constructor(who: string) {
    this.#who = who;
  }

  position(text: string, url: URL): void {
    const mark = text.length <= 64 ? text : sha256(text);
    if (this.#positions.has(mark)) throw this.#problem(url);
    this.#positions.add(mark);
  }

  /** Throws if a service that ignores its parameters gives the same page twice in a row. */
  content(seen: PageSeen): void {
    const mark = sha256(seen.answer.bytes.toString("latin1"));
    if (mark === this.#lastContent) throw this.#problem(seen.url);
    this.#lastContent = mark;
  }

  #problem(url: URL): Error {
    return sourceProblem(
      "source.page-loop",
      shownUrl(url),
      `The ${this.#who} gave the same page twice.`,
      "Correct `paging`: the service may ignore its parameter.",
    );
  }
}

function wrongNext(who: string, url: URL, path: string): Error {
  return sourceProblem(
    "source.wrong-shape",
    shownUrl(url),
    `The ${who} has something at ${path} that leads to no page.`,
    "Correct `paging.next`.",
  );
}

type Key = string | number;

/** If a key is not greater than the one before, the list has another order and records may be missing. */
class KeyOrder {
  readonly #key: string;
  readonly #path: Path;
  readonly #who: string;
  #last: Key | undefined;
  #asNumber: boolean | undefined;

  constructor(key: string, who: string) {
    this.#key = key;
    this.#path = pathOf(key);
    this.#who = who;
  }

  begin(last: Key): void {
    this.#last = last;
    this.#asNumber ??= isWhole(last);
  }

  follow(items: readonly FileItem[], url: URL): Key | undefined {
    for (const item of items) this.#take(item, url);
    return items.length === 0 ? undefined : this.#last;
  }

  #take(item: FileItem, url: URL): void {
    const place = "bad" in item ? item.bad.place : item.row.place;
    const key = "bad" in item ? undefined : valueAt({ item: item.row.value, parent: undefined }, this.#path);
    if ((typeof key !== "string" && typeof key !== "number") || key === "") {
      const message = `The ${this.#who} has a record without a key at ${this.#key}, so there is no next page.`;
      throw this.#wentBack(place, message, "Correct `paging.key`.");
    }
    this.#asNumber ??= isWhole(key);
    if (this.#asNumber && !isWhole(key)) {
      const message = `The ${this.#who} has a key at ${this.#key} that is not a whole number.`;
      throw this.#wentBack(place, message, "Correct `paging.key`.");
    }
    if (this.#last !== undefined && !this.#isBehind(this.#last, key)) {
      throw this.#wentBack(
        shownUrl(url),
        `The ${this.#who} is not in the order of its keys at ${this.#key}, so records may be missing.`,
        "Request the ascending order of that key in `query` or `body`, and check that `paging.parameter` has an effect.",
      );
    }
    this.#last = key;
  }

  #isBehind(before: Key, key: Key): boolean {
    return this.#asNumber === true ? BigInt(before) < BigInt(key) : String(before) < String(key);
  }

  #wentBack(place: string, message: string, cure: string): Error {
    return sourceProblem("source.order-went-back", place, message, cure);
  }
}

function isWhole(key: Key): boolean {
  return typeof key === "number" ? Number.isSafeInteger(key) : /^-?\d{1,40}$/u.test(key);
}

/** `likely`: one more page is requested and used. `surely`: after an empty page, records make the read incomplete. */
type Follows = "page" | "likely" | "surely" | "none";

interface EndSettings {
  lastPage: "empty" | "short";
  size: number;
  hasMore?: string | undefined;
}

/** A total or short page needs proof by the other or an empty page: services may count or give too few records. */
class EndWatch {
  readonly #settings: EndSettings;
  readonly #who: string;
  readonly #mayPassOver: boolean;
  #asked: Follows = "page";
  #largest: number | undefined;
  #believesTotal = true;

  /** `mayPassOver`: pages behind an empty page can be requested. */
  constructor(settings: EndSettings, who: string, { mayPassOver }: { mayPassOver: boolean }) {
    this.#settings = settings;
    this.#who = who;
    this.#mayPassOver = mayPassOver;
  }

  after(seen: PageSeen): Follows {
    this.#asked = this.#follows(seen, this.#asked);
    return this.#asked;
  }

  #follows(seen: PageSeen, asked: Follows): Follows {
    const { lastPage, size } = this.#settings;
    const more = hasMore(seen, this.#settings.hasMore, this.#who);
    if (more !== undefined) return more ? "page" : "none";
    if (seen.items.length === 0) {
      const isSure = asked !== "page" || seen.total !== undefined || seen.sum === 0 || lastPage === "short";
      return isSure || !this.#mayPassOver ? "none" : "surely";
    }
    if (asked === "likely") this.#believesTotal = false;
    const given = seen.items.length;
    const before = this.#largest;
    this.#largest = Math.max(given, before ?? 0);
    const isShort = before !== undefined && given < before;
    if (seen.total !== undefined && this.#believesTotal)
      return seen.sum < seen.total ? "page" : isShort ? "none" : "likely";
    if (lastPage === "empty") return "page";
    return isShort ? "none" : before === undefined && given < size ? "likely" : "page";
  }
}

/** Undefined without the setting. Throws a Problem if the answer has no usable value. */
function hasMore(seen: PageSeen, path: string | undefined, who: string): boolean | undefined {
  if (path === undefined) return undefined;
  const told = valueIn(seen.document, path);
  if (told === true || told === 1 || told === "true") return true;
  if (told === false || told === 0 || told === "false") return false;
  throw sourceProblem(
    "source.wrong-shape",
    shownUrl(seen.url),
    `The ${who} does not say at ${path} whether more pages follow.`,
    "Correct `paging.hasMore`, or leave it out.",
  );
}
