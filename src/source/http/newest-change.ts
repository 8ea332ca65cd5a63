import { toInstant } from "../../base/clock.ts";
import type { Clock } from "../../base/clock.ts";
import { valueAt } from "../mapping/path.ts";
import type { Path } from "../mapping/path.ts";
import type { FileItem } from "../reader.ts";
import { pathOf } from "./path-of.ts";
import type { SinceSettings } from "./http-source-settings.ts";
import { readTime } from "./time-format.ts";
import type { TimeFormat } from "./time-format.ts";

/**
 * Changes of one instant may become visible one after the other, and a Date header has no fractions of a second: the
 * next reading begins at least this much before the time that it goes by.
 */
const leastOverlapMs = 1_000;
const dayMs = 86_400_000;

/** What the first part of a reading has seen, for one that goes on with it. Instants in epoch milliseconds. */
export interface ChangesSeen {
  /** The clock of the service at its first answer. */
  serviceTime?: number | undefined;
  /** The clock of the service then, at the latest, by the records: see `NewestChange`. */
  began?: number | undefined;
  rows: number;
}

/**
 * Where the next reading of changes begins: at the time of the service when its first answer was made, less the
 * overlap. What changed after that may have been passed by already when a later page showed something newer. That time
 * is taken from the first answer (its Date header) and from the records, whichever is earlier: a record that was
 * changed at a time was read no earlier, so the reading began no earlier than that time less the time that it had taken
 * until then. Our own clock has no part in it: it may be wrong in either direction. How long something takes is
 * measured by a clock that nobody sets.
 */
export class NewestChange {
  readonly #since: SinceSettings;
  readonly #path: Path | undefined;
  readonly #written: TimeFormat;
  readonly #asked: number | undefined;
  readonly #clock: Pick<Clock, "now" | "monotonic">;
  readonly #begunAt: number;
  readonly #isResumed: boolean;
  /** The latest time at which the reading began, by its records. */
  #began: number | undefined;
  #rows: number;
  #serviceTime: number | undefined;
  #pages = 0;

  /** `before`: what the part saw that this one goes on with. */
  constructor(
    since: SinceSettings,
    asked: string | undefined,
    clock: Pick<Clock, "now" | "monotonic">,
    before?: ChangesSeen,
  ) {
    this.#since = since;
    this.#path = since.changedAt === undefined ? undefined : pathOf(since.changedAt);
    this.#written = { format: since.changedFormat ?? since.format, zone: since.zone };
    this.#asked = asked === undefined ? undefined : Date.parse(asked);
    this.#clock = clock;
    this.#begunAt = clock.monotonic();
    this.#isResumed = before !== undefined;
    this.#serviceTime = before?.serviceTime;
    this.#began = before?.began;
    this.#rows = before?.rows ?? 0;
  }

  /** What was seen until now. */
  get seen(): ChangesSeen {
    return {
      ...(this.#serviceTime === undefined ? {} : { serviceTime: this.#serviceTime }),
      ...(this.#began === undefined ? {} : { began: this.#began }),
      rows: this.#rows,
    };
  }

  /** Takes a page into account, when it has come. */
  see(page: { items: readonly FileItem[]; answer: { date: number | undefined } }): void {
    // Of a part that goes on nobody knows how long ago the reading began: what the first part saw stands.
    if (this.#pages === 0 && !this.#isResumed) this.#serviceTime = page.answer.date;
    this.#pages += 1;
    this.#rows += page.items.length;
    if (this.#path === undefined || this.#isResumed) return;
    const took = this.#clock.monotonic() - this.#begunAt;
    for (const item of page.items) {
      if ("bad" in item) continue;
      const time = readTime(valueAt({ item: item.row.value, parent: undefined }, this.#path), this.#written);
      if (time !== undefined && (this.#began === undefined || time - took > this.#began)) this.#began = time - took;
    }
  }

  /** What to ask for next time; undefined where nothing tells: then everything is read. */
  cursor(): string | undefined {
    const overlap = Math.max(this.#since.overlapMs, leastOverlapMs);
    // The clock of the service was set back: what it changes now bears times before those that were asked for.
    if (this.#asked !== undefined && this.#serviceTime !== undefined && this.#serviceTime < this.#asked)
      return undefined;
    // A record that is wrongly of a time to come would hide all changes until then. Where the service tells no time to
    // bound it by, ours says whether it can be: one day off is more than any clock is.
    if (this.#serviceTime === undefined && this.#began !== undefined && this.#began > this.#clock.now() + dayMs)
      return undefined;
    const service = this.#serviceTime === undefined ? undefined : this.#serviceTime - overlap;
    const read = this.#read(overlap) ?? service ?? this.#asked;
    return read === undefined ? undefined : toInstant(Math.floor(Math.min(read, service ?? read)));
  }

  /** Undefined: the records do not tell, the clock of the service has to. */
  #read(overlap: number): number | undefined {
    if (this.#path === undefined) return undefined;
    if (this.#began !== undefined) return this.#began - overlap;
    return this.#rows === 0 ? this.#asked : undefined;
  }
}
