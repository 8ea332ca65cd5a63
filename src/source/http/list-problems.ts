import type { Json } from "../../base/canonical-json.ts";
import type { Problem } from "../../base/errors.ts";
import { sourceProblem } from "../problems.ts";
import { moreBeyond } from "./more-beyond.ts";
import { shownUrl } from "./request.ts";

interface About {
  total?: string | undefined;
  totalHeader?: string | undefined;
  maxPages: number;
}

/** Why a list was not read whole, although each of its pages was. */
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
      `The ${this.#who} has no number of all records at ${where}.`,
      "Correct `total`, or leave it out.",
    );
  }

  count({ sum, total }: { sum: number; total: number | undefined }): Problem | undefined {
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
  shift(twice: { key: string; places: string[] } | undefined): Problem | undefined {
    if (twice === undefined) return undefined;
    const { key, places } = twice;
    return sourceProblem(
      "source.count-differs",
      places.at(-1) ?? shownUrl(this.#url),
      `The ${this.#who} gave the record ${key} ${places.length} times; ` +
        `its list moved while it was read, or \`key\` is not unique.`,
      "Ask for a fixed order in `query`, or page by cursor.",
    );
  }

  lost(lost: { key: string; place: string } | undefined, passes: number): Problem | undefined {
    if (lost === undefined) return undefined;
    return this.moved(this.#url, `each of the ${passes} times; a record was not there again`);
  }

  moved(url: URL, how: string): Problem {
    return sourceProblem(
      "source.moved",
      shownUrl(url),
      `The list of the ${this.#who} moved while it was read, ${how}: a record may be on no page.`,
      "The next run reads it again. If it stays so, ask for a fixed order in `query`, page by `keyset` " +
        "where the service can, or set `paging.moving`.",
    );
  }

  seamAlone(url: URL): Problem {
    return sourceProblem(
      "source.moved",
      shownUrl(url),
      `The ${this.#who} gave a page that held only the last record of the page before, and then more.`,
      "Where it cuts pages short, set `paging.moving: again`.",
    );
  }

  /** The first answer is taken for all there is, and says itself that there is more. */
  beyond({ url, document, items }: { url: URL; document: Json; items: readonly unknown[] }): Problem | undefined {
    const records = items.length;
    const [more] = moreBeyond(document, records);
    if (more === undefined) return undefined;
    const says = more.what === "total" ? `says ${more.value}` : "names a next page";
    return sourceProblem(
      "source.wrong-shape",
      shownUrl(url),
      `The ${this.#who} reads one page of ${records} records and takes it for all, but ${more.place} ${says}.`,
      "Correct `paging`, and set `total` where the service says a number.",
    );
  }

  tooManyPages(): Problem {
    return sourceProblem(
      "source.too-many-pages",
      shownUrl(this.#url),
      `The ${this.#who} has more than ${this.#settings.maxPages} pages.`,
      "Raise `maxPages` if that is right.",
    );
  }
}
