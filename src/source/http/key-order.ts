import type { FileItem } from "../reader.ts";
import { valueAt } from "../mapping/path.ts";
import type { Path } from "../mapping/path.ts";
import { sourceProblem } from "../problems.ts";
import { pathOf } from "./path-of.ts";
import { shownUrl } from "./request.ts";

type Key = string | number;

interface OrderSettings {
  order: "ascending" | "descending";
  compare?: "number" | "text" | undefined;
}

/**
 * Follows the keys of a list that is read by them: each page begins behind the last key of the one before. A key that
 * does not come behind the one before it means that the list has another order, and records may have been passed over.
 */
export class KeyOrder {
  readonly #settings: OrderSettings;
  readonly #key: string;
  readonly #path: Path;
  readonly #who: string;
  #last: Key | undefined;
  #asNumber: boolean | undefined;

  constructor(settings: OrderSettings, key: string, who: string) {
    this.#settings = settings;
    this.#key = key;
    this.#path = pathOf(key);
    this.#who = who;
    this.#asNumber = settings.compare === undefined ? undefined : settings.compare === "number";
  }

  /** The key that an earlier reading had come to. */
  begin(last: Key): void {
    this.#last = last;
    this.#asNumber ??= isWhole(last);
  }

  /** The last key of a page, if it has records. Throws a Problem where a key is missing or goes back. */
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
      throw this.#wentBack(place, message, "Set `paging.compare: text`, or correct `paging.key`.");
    }
    if (this.#last !== undefined && !this.#isBehind(this.#last, key)) {
      throw this.#wentBack(
        shownUrl(url),
        `The ${this.#who} is not in the order of its keys at ${this.#key}, so records may be missing.`,
        "Request the order of that key in `query` or `body`. Check that `paging.parameter` has an effect, " +
          "and that `paging.order` and `paging.compare` match the order of the service.",
      );
    }
    this.#last = key;
  }

  #isBehind(before: Key, key: Key): boolean {
    const [low, high] = this.#settings.order === "ascending" ? [before, key] : [key, before];
    return this.#asNumber === true ? BigInt(low) < BigInt(high) : String(low) < String(high);
  }

  #wentBack(place: string, message: string, cure: string): Error {
    return sourceProblem("source.order-went-back", place, message, cure);
  }
}

function isWhole(key: Key): boolean {
  return typeof key === "number" ? Number.isSafeInteger(key) : /^-?\d{1,40}$/u.test(key);
}
