import type { Json } from "../../base/canonical-json.ts";
import { sha256 } from "../../base/canonical-json.ts";
import { valueAt } from "../mapping/path.ts";
import { sourceProblem } from "../problems.ts";
import type { PageAnswer } from "./request.ts";
import { shownUrl } from "./request.ts";
import { pathOf } from "./page.ts";
import type { PagingSettings } from "./http-source-settings.ts";

/** Where the next page is: parameters to set, or an address of its own. */
export interface PagePosition {
  parameters: Record<string, string | number>;
  url?: URL;
}

/** What a page showed, as far as paging needs it. */
interface PageSeen {
  answer: PageAnswer;
  document: Json;
  /** Records on this page, and on all pages so far. */
  records: number;
  sum: number;
  /** Number of all records, where the answer says it. */
  total: number | undefined;
  url: URL;
}

/**
 * Finds the way through a list. `next` answers undefined after the last page, and throws a Problem for a way that leads
 * back or elsewhere.
 */
export interface Paging {
  first: PagePosition;
  next(seen: PageSeen): PagePosition | undefined;
}

/** The way through the list of a stream. In one piece: a case for each kind of paging. */
export function createPaging(settings: PagingSettings, who: string): Paging {
  const loops = new LoopWatch(who);
  switch (settings.kind) {
    case "none":
      return { first: { parameters: {} }, next: () => undefined };
    case "page": {
      let page = settings.first;
      const at = (): PagePosition => ({ parameters: { [settings.parameter]: page, ...sizeOf(settings) } });
      return {
        first: at(),
        next(seen) {
          if (isLast(seen, settings)) return undefined;
          loops.content(seen);
          page += 1;
          return at();
        },
      };
    }
    case "offset": {
      const at = (offset: number): PagePosition => ({
        parameters: { [settings.parameter]: offset, ...sizeOf(settings) },
      });
      return {
        first: at(0),
        next(seen) {
          if (isLast(seen, settings)) return undefined;
          loops.content(seen);
          return at(seen.sum);
        },
      };
    }
    case "cursor": {
      const path = pathOf(settings.next);
      return {
        first: { parameters: sizeOf(settings) },
        next(seen) {
          const cursor = valueAt({ item: seen.document, parent: undefined }, path);
          if (cursor === undefined || cursor === null || cursor === "" || cursor === false) return undefined;
          if (typeof cursor !== "string" && typeof cursor !== "number") throw wrongNext(who, seen.url, settings.next);
          loops.position(String(cursor), seen.url);
          return { parameters: { ...sizeOf(settings), [settings.parameter]: cursor } };
        },
      };
    }
    case "nextLink": {
      const path = pathOf(settings.next);
      return {
        first: { parameters: {} },
        next(seen) {
          const link = valueAt({ item: seen.document, parent: undefined }, path);
          if (link === undefined || link === null || link === "" || link === false) return undefined;
          if (typeof link !== "string") throw wrongNext(who, seen.url, settings.next);
          return follow(link, seen.url, who, loops);
        },
      };
    }
    case "linkHeader":
      return {
        first: { parameters: {} },
        next(seen) {
          const link = nextOf(seen.answer.link);
          return link === undefined ? undefined : follow(link, seen.url, who, loops);
        },
      };
  }
}

function sizeOf({ sizeParameter, size }: { sizeParameter?: string | undefined; size: number }): Record<string, number> {
  return sizeParameter === undefined ? {} : { [sizeParameter]: size };
}

function isLast(seen: PageSeen, settings: { lastPage: "empty" | "short"; size: number }): boolean {
  if (seen.records === 0) return true;
  if (seen.total !== undefined) return seen.sum >= seen.total;
  return settings.lastPage === "short" && seen.records < settings.size;
}

/** The next page's address. Another origin is refused: it would be shown our credentials. */
function follow(link: string, from: URL, who: string, loops: LoopWatch): PagePosition {
  if (!URL.canParse(link, from)) throw wrongNext(who, from, "the link");
  const url = new URL(link, from);
  if (url.origin !== from.origin) {
    throw sourceProblem(
      "source.refused",
      shownUrl(from),
      `The ${who} names a next page on another server, ${url.origin}, which is not given our credentials.`,
      "Set `baseUrl` to the address that the service itself uses.",
    );
  }
  url.username = "";
  url.password = "";
  loops.position(url.href, from);
  return { parameters: {}, url };
}

/** The target of rel="next" in a Link header (RFC 8288). */
function nextOf(header: string | undefined): string | undefined {
  for (const match of (header ?? "").matchAll(/<([^>]*)>((?:\s*;\s*[\w*-]+\s*(?:=\s*(?:"[^"]*"|[^",;\s]+))?)*)/g)) {
    const relations = /;\s*rel\s*=\s*(?:"([^"]*)"|([^",;\s]+))/i.exec(match[2] ?? "");
    const names = (relations?.[1] ?? relations?.[2] ?? "").toLowerCase().split(/\s+/);
    if (names.includes("next")) return match[1];
  }
  return undefined;
}

/** Notices a list that leads back to a page it was on. */
class LoopWatch {
  readonly #who: string;
  readonly #positions = new Set<string>();
  #lastContent = "";

  constructor(who: string) {
    this.#who = who;
  }

  /** A cursor or an address that was there before. */
  position(text: string, url: URL): void {
    const mark = text.length <= 64 ? text : sha256(text);
    if (this.#positions.has(mark)) throw this.#problem(url);
    this.#positions.add(mark);
  }

  /** The same page twice in a row, from a service that does not heed its parameters. */
  content(seen: PageSeen): void {
    const mark = sha256(seen.answer.bytes.toString("latin1"));
    if (mark === this.#lastContent) throw this.#problem(seen.url);
    this.#lastContent = mark;
  }

  #problem(url: URL): Error {
    return sourceProblem(
      "source.page-loop",
      shownUrl(url),
      `The ${this.#who} gives a page that it gave before.`,
      "Correct `paging`: the service may not know the parameter.",
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
