import type { Json } from "../../base/canonical-json.ts";
import { toInstant } from "../../base/clock.ts";
import { valueAt } from "../mapping/path.ts";
import type { Path } from "../mapping/path.ts";
import type { FileItem } from "../file/row.ts";
import { pathOf } from "./path-of.ts";
import type { SinceSettings } from "./http-source-settings.ts";

/**
 * Changes of one instant may become visible one after the other: the next reading begins at least this much before the
 * newest.
 */
const leastOverlapMs = 1_000;

/** What the pages of a reading have shown of its changes. */
export interface ChangesSeen {
  newest: number | null;
  rows: number;
  serviceTime: number | null;
}

/**
 * Where the next reading of changes begins: at the newest change that was read, or by the clock of the service as its
 * first answer shows it, whichever is earlier, less the overlap. Our own clock has no part in it: it may be wrong in
 * either direction.
 */
export class NewestChange {
  readonly #since: SinceSettings;
  readonly #path: Path | undefined;
  readonly #asked: number | undefined;
  #newest: number | undefined;
  #rows = 0;
  #serviceTime: number | undefined;
  #pages = 0;

  constructor(since: SinceSettings, asked: string | undefined) {
    this.#since = since;
    this.#path = since.changedAt === undefined ? undefined : pathOf(since.changedAt);
    this.#asked = asked === undefined ? undefined : Date.parse(asked);
  }

  /** Takes a page into account. The first one tells the time at which everything before it was visible. */
  see(page: { items: readonly FileItem[]; answer: { date: number | undefined } }): void {
    if (this.#pages === 0) this.#serviceTime = page.answer.date;
    this.#pages += 1;
    this.#rows += page.items.length;
    if (this.#path === undefined) return;
    for (const item of page.items) {
      if ("bad" in item) continue;
      const time = changeTime(valueAt({ item: item.row.value, parent: undefined }, this.#path), this.#since.format);
      if (time !== undefined && (this.#newest === undefined || time > this.#newest)) this.#newest = time;
    }
  }

  /** What was seen so far, for a reading that goes on where this one was cut. */
  seen(): ChangesSeen {
    return { newest: this.#newest ?? null, rows: this.#rows, serviceTime: this.#serviceTime ?? null };
  }

  /** Begins with what an earlier reading had seen. */
  begin({ newest, rows, serviceTime }: ChangesSeen): void {
    this.#newest = newest ?? undefined;
    this.#rows = rows;
    this.#serviceTime = serviceTime ?? undefined;
    this.#pages = 1;
  }

  /** What to ask for next time; undefined where nothing tells: then everything is read. */
  cursor(): string | undefined {
    const overlap = Math.max(this.#since.overlapMs, leastOverlapMs);
    const service = this.#serviceTime === undefined ? undefined : this.#serviceTime - overlap;
    const read = this.#read(overlap) ?? service ?? this.#asked;
    return read === undefined ? undefined : toInstant(Math.min(read, service ?? read));
  }

  /** Undefined: the records do not tell, the clock of the service has to. */
  #read(overlap: number): number | undefined {
    if (this.#path === undefined) return undefined;
    if (this.#newest !== undefined) return Math.max(this.#newest - overlap, this.#asked ?? Number.NEGATIVE_INFINITY);
    return this.#rows === 0 ? this.#asked : undefined;
  }
}

/** A time without zone is none: nobody can tell which instant it is. */
function changeTime(value: Json | undefined, format: SinceSettings["format"]): number | undefined {
  if (format !== "iso" && (typeof value === "number" || (typeof value === "string" && /^\d{1,16}$/u.test(value)))) {
    const time = Number(value) * (format === "epoch_s" ? 1_000 : 1);
    return Number.isFinite(time) && Math.abs(time) < 8.64e15 ? Math.floor(time) : undefined;
  }
  if (typeof value !== "string") return undefined;
  try {
    return Temporal.Instant.from(value).epochMilliseconds;
  } catch {
    return undefined;
  }
}
