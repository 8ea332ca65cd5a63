import { isJsonObject, type Json } from "../../base/canonical-json.ts";
import type { Problem } from "../../base/errors.ts";
import { formatRawPath, pathOf } from "../mapping/path.ts";
import { sourceProblem } from "../problems.ts";
import type { PagingSettings } from "./paging-settings.ts";
import { nextOf, type PagePosition } from "./paging.ts";
import { shownUrl, type PageAnswer } from "./request.ts";

export const mostPasses = 3;

interface About {
  records?: string | undefined;
  paging: PagingSettings;
  total?: string | undefined;
  totalHeader?: string | undefined;
  maxPages: number;
  query: Readonly<Record<string, unknown>>;
}

interface LastAnswer {
  url: URL;
  document: Json;
  answer: Pick<PageAnswer, "headers">;
}

interface Progress {
  sum: number;
  position: PagePosition;
}

export class ListProblems {
  readonly #who: string;
  readonly #url: URL;
  readonly #settings: About;

  constructor(who: string, url: URL, settings: About) {
    this.#who = who;
    this.#url = url;
    this.#settings = settings;
  }

  noTotal(url: URL): Problem {
    const where =
      this.#settings.totalHeader === undefined ? this.#settings.total : `the header ${this.#settings.totalHeader}`;
    return sourceProblem(
      "source.wrong-shape",
      shownUrl(url),
      `The ${this.#who} does not give the number of all records at ${where}.`,
      "Correct `total`, or remove it.",
    );
  }

  count({ sum, total }: { sum: number; total: number | undefined }): Problem | undefined {
    if (total === undefined || sum === total) return undefined;
    return sourceProblem(
      "source.count-differs",
      shownUrl(this.#url),
      `The ${this.#who} says that it has ${total} records, but gave ${sum}.`,
      "The list may have changed while it was read; the next run reads it again. If this happens again, correct " +
        "`total` or `paging`.",
    );
  }

  /** The list moved during the read, so another record may be on no page. */
  shift(twice: { key: string; places: string[] } | undefined): Problem | undefined {
    if (twice === undefined) return undefined;
    const { key, places } = twice;
    return sourceProblem(
      "source.count-differs",
      places.at(-1) ?? shownUrl(this.#url),
      `The ${this.#who} gave the record ${key} ${places.length} times; the list changed while it was read, or ` +
        "`key` is not unique.",
      "Set a fixed order in `query`, or use paging by cursor.",
    );
  }

  lost(lost: { key: string; place: string } | undefined): Problem | undefined {
    if (lost === undefined) return undefined;
    return this.moved(this.#url, `each of the ${mostPasses} times: a record was missing the next time`);
  }

  differed(): Problem {
    const how = `each of the ${mostPasses} times: its rows, which have no key, differed`;
    return this.moved(this.#url, how, "set `rowKey`, which identifies a row, ");
  }

  moved(url: URL, how: string, first = ""): Problem {
    return sourceProblem(
      "source.moved",
      shownUrl(url),
      `The ${this.#who} changed while it was read, ${how}. A record may be missing.`,
      `The next run reads it again. If this happens again, ${first}set a fixed order in \`query\`, use paging by ` +
        "`keyset` if the service can, or set `paging.moving`.",
    );
  }

  moreBehind(url: URL): Problem {
    return sourceProblem(
      "source.moved",
      shownUrl(url),
      `The ${this.#who} gave a page that held no record, and then more.`,
      "If the service leaves records out of its pages, set `total` or `paging.hasMore`, or use paging by `keyset`.",
    );
  }

  /** The paging says that the list has ended, but the answer shows signs of more records. */
  beyond({ url, document, answer }: LastAnswer, { sum, position }: Progress): Problem | undefined {
    const { paging, records: recordsAt, total, query } = this.#settings;
    if (paging.sure) return undefined;
    const { next, hasMore } = { next: undefined, hasMore: undefined, ...paging };
    const more = moreBeyond(document, sum, {
      recordsAt: pathOf(recordsAt ?? ".").steps,
      heeded: [next, hasMore, total].flatMap((path) => (path === undefined ? [] : formatRawPath(pathOf(path).steps))),
      idle: new Set(Object.values({ ...query, ...position.parameters }).map(String)),
      saysLast: hasMore !== undefined,
    });
    const link = paging.kind === "linkHeader" ? undefined : nextOf(answer.headers["link"]);
    if (more === undefined && link === undefined) return undefined;
    const place = link === undefined ? more?.place : "the header Link";
    const what = link === undefined ? more?.says : "the header Link names a next page";
    if (paging.kind === "none")
      return this.#beyond(
        url,
        `was read as one page of ${sum} records, but ${what}`,
        "Set `paging` to the paging of the service, and `total` if it gives a number. If the one page is " +
          "complete, write `paging: { kind: none, sure: true }`.",
      );
    return this.#beyond(
      url,
      `ended after ${sum} records by \`paging\` (${paging.kind}), but in the last answer ` + what,
      `Correct \`paging\`${next === undefined ? "" : `, whose \`next\` is ${next}`}: ${place} shows more records. ` +
        "If the list is complete, write `sure: true` into `paging`.",
    );
  }

  #beyond(url: URL, what: string, cure: string): Problem {
    return sourceProblem("source.more-beyond", shownUrl(url), `The ${this.#who} ${what}.`, cure);
  }

  tooManyPages(): Problem {
    return sourceProblem(
      "source.too-many-pages",
      shownUrl(this.#url),
      `The ${this.#who} has more than ${this.#settings.maxPages} pages.`,
      "If the list is really that long, raise `maxPages`.",
    );
  }
}

interface ListEnd {
  recordsAt: readonly (string | number)[];
  heeded: readonly string[];
  /** Values that the answer may repeat from the request, and texts that mean "no cursor". */
  idle: ReadonlySet<string>;
  /** The service said explicitly that no page follows. A cursor is then the position of the last record. */
  saysLast: boolean;
}

const namesNext =
  /^(?:(?:odata)?next(?:page|link|cursor|url|recordsurl|pagetoken)?|(?:end)?cursor|after|continuationtoken|scrollid)$/u;
const namesPosition = /^next(?:page|cursor|start|offset)?$/u;
const namesMore = /^(?:hasmore|hasnext|hasnextpage|moreitems|moreitemsincollection|morerecords)$/u;
const namesTotal = /^(?:total|count|found)(?:count|size|records|items|elements|results)?$/u;
const isAddress = /^(?:https?:\/)?[/?]/u;
const isNoCursor = /^(?:null|none|false|0|-1)$/iu;

const deepest = 4;

/** Guesses by member names outside lists and `recordsAt`. Empty if the answer says it is the last. */
function moreBeyond(
  document: Json,
  records: number,
  { recordsAt, heeded, idle, saysLast }: ListEnd,
): { place: string; says: string } | undefined {
  const at = JSON.stringify(recordsAt);
  let first: { place: string; says: string } | undefined;
  let isLast = false;
  const look = (value: Json, steps: readonly string[]): void => {
    if (Array.isArray(value) || JSON.stringify(steps) === at) return;
    if (isJsonObject(value)) {
      if (steps.length >= deepest) return;
      for (const [name, member] of Object.entries(value)) if (member !== undefined) look(member, [...steps, name]);
      return;
    }
    const name = (steps.at(-1) ?? "").toLowerCase().replaceAll(/[^a-z]/gu, "");
    const place = formatRawPath(steps);
    const text = String(value);
    const tells = (): boolean => {
      if (namesMore.test(name)) return text === "true";
      // A `count` may be the requested number of records.
      if (namesTotal.test(name))
        return /^\d{1,15}$/u.test(text) && Number(text) > records && !(name === "count" && idle.has(text));
      if (typeof value === "string" && namesNext.test(name))
        return !(text === "" || isNoCursor.test(text) || idle.has(text) || (saysLast && !isAddress.test(text)));
      return typeof value === "number" && namesPosition.test(name) && value > 0 && !idle.has(text) && !saysLast;
    };
    if (namesMore.test(name) && text === "false") isLast = true;
    if (heeded.includes(place) || !tells()) return;
    first ??= { place, says: namesTotal.test(name) ? `${place} says ${text}` : `${place} names a next page` };
  };
  look(document, []);
  return isLast ? undefined : first;
}
