import { valueIn } from "./path-of.ts";
import type { PageSeen } from "./paging.ts";
import { sourceProblem } from "../problems.ts";
import { shownUrl } from "./request.ts";

/**
 * Whether a page follows. `likely`: the list has ended by what was told of it, and one more page is asked for to be
 * sure; what that holds is read on. `surely`: the page before held nothing new, and the list is not to be trusted where
 * the next one holds something.
 */
type Follows = "page" | "likely" | "surely" | "none";

interface EndSettings {
  lastPage: "empty" | "short";
  size: number;
  hasMore?: string | undefined;
}

/**
 * Knows when a list has ended that is asked for page after page. A total and a short page are believed where the other
 * one agrees, or the next page is empty: a service may count only a part of its records, and may give fewer of them
 * than it is asked for.
 */
export class EndWatch {
  readonly #settings: EndSettings;
  readonly #who: string;
  readonly #mayPassOver: boolean;
  /** What the page that is seen next was asked for as. */
  #asked: Follows = "page";
  /** Records of the largest page so far. */
  #largest: number | undefined;
  #believesTotal = true;

  /** `mayPassOver`: what is behind a page without records can be asked for. */
  constructor(settings: EndSettings, who: string, { mayPassOver }: { mayPassOver: boolean }) {
    this.#settings = settings;
    this.#who = who;
    this.#mayPassOver = mayPassOver;
  }

  /** `given`: the records of the page with those that it repeats of the one before. */
  after(seen: PageSeen, given = seen.items.length): Follows {
    this.#asked = this.#follows(seen, given, this.#asked);
    return this.#asked;
  }

  #follows(seen: PageSeen, given: number, asked: Follows): Follows {
    const { lastPage, size } = this.#settings;
    const more = hasMore(seen, this.#settings.hasMore, this.#who);
    if (more !== undefined) return more ? "page" : "none";
    if (seen.items.length === 0) {
      const isSure = asked !== "page" || seen.total !== undefined || seen.sum === 0 || lastPage === "short";
      return isSure || !this.#mayPassOver ? "none" : "surely";
    }
    if (asked === "likely") this.#believesTotal = false;
    const before = this.#largest;
    this.#largest = Math.max(given, before ?? 0);
    const isShort = before !== undefined && given < before;
    if (seen.total !== undefined && this.#believesTotal)
      return seen.sum < seen.total ? "page" : isShort ? "none" : "likely";
    if (lastPage === "empty") return "page";
    return isShort ? "none" : before === undefined && given < size ? "likely" : "page";
  }
}

/** What an answer says of pages after it; undefined where the settings do not ask. */
export function hasMore(seen: PageSeen, path: string | undefined, who: string): boolean | undefined {
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
