import { z } from "zod";
import type { Json } from "../../base/canonical-json.ts";
import { toInstant, type Clock } from "../../base/clock.ts";
import { exitCodes, Problem } from "../../base/errors.ts";
import type { RecordLimits } from "../json.ts";
import { pathOf, valueAt, type Path } from "../mapping/path.ts";
import type { FileItem, ReadOptions } from "../reader.ts";
import { isClean } from "../without-secrets.ts";
import type { HttpListSettings, SinceSettings } from "./http-source-settings.ts";
import { createPaging, type PagePosition, type Paging } from "./paging.ts";
import { valueIn, type Placement } from "./placement.ts";
import type { PageAnswer } from "./request.ts";
import { readTime, writeTime, type TimeFormat } from "./time-format.ts";

/** What one list of a service is asked with and how its answers are read: of a stream, its details or a table. */
export interface ListSettings extends HttpListSettings {
  limits: RecordLimits;
  /** Field that identifies a record. */
  key?: string | undefined;
  since?: SinceSettings | undefined;
  /** Its rows are parts of records, details or grouped, and no records of their own. */
  areParts?: boolean | undefined;
}

export interface ListReadOptions extends ReadOptions {
  /** Values that this reading is asked with, beside those of the settings: of the record that it is chained to. */
  placed?: readonly Placement[] | undefined;
}

/** One reading on its way through the list. */
export interface Reading {
  options: ListReadOptions;
  paging: Paging;
  position: PagePosition;
  /** Number of the page at that position. */
  number: number;
  /** Records of the pages before it, those of an earlier reading included, and those of this reading. */
  sum: number;
  yielded: number;
  total: number | undefined;
  newest: NewestChange | undefined;
  asked: readonly Placement[] | undefined;
  /** Whether it goes on where an earlier one was cut. */
  resumed: boolean;
  /** By what each page is known again, where the service says how many records there are. */
  pages: Set<string>;
  /** Whether the way to a page was a mere count. */
  counts: boolean;
  /** Where it ended by its own rule although the last answer speaks of more. */
  beyond: Problem | undefined;
}

/** A reading of a list from its start, or from where an earlier one was cut. */
export function beginReading(
  settings: ListSettings,
  { who, url, clock }: { who: string; url: URL; clock: Pick<Clock, "monotonic" | "now"> },
  options: ListReadOptions,
  from: Position | undefined,
): Reading {
  const { since, key } = settings;
  const paging = createPaging(settings.paging, who, key);
  const seen = (before?: ChangesSeen): NewestChange | undefined =>
    since === undefined ? undefined : new NewestChange(since, options.since, clock, before);
  const asked = options.since === undefined || since === undefined ? undefined : askedSince(options.since, since);
  const anew: Reading = {
    options,
    paging,
    position: paging.first,
    number: 1,
    sum: 0,
    yielded: 0,
    total: undefined,
    newest: seen(),
    asked,
    resumed: false,
    pages: new Set(),
    counts: false,
    beyond: undefined,
  };
  const page = from === undefined ? undefined : pageOf(from);
  if (from === undefined || page === undefined) return anew;
  const position = page.url === undefined || page.url.origin === url.origin ? paging.resume(page) : undefined;
  const hasChanges = (from.changes === null) === (since === undefined);
  if (position === undefined || !hasChanges) return anew;
  const { page: number, sum, total } = from;
  return {
    ...anew,
    newest: seen(from.changes ?? undefined),
    position,
    number,
    sum,
    total: total ?? undefined,
    resumed: true,
  };
}

/** What asks for changes since an instant. Throws a Problem (usage) for a text that is no instant. */
function askedSince(text: string, since: SinceSettings): Placement[] {
  let epochMs: number;
  try {
    epochMs = Temporal.Instant.from(text).epochMilliseconds;
  } catch {
    throw new Problem({
      code: "source.wrong-since",
      message: `${JSON.stringify(text)} is not a point in time.`,
      cure: "Write a date and time with Z or an offset, such as 2026-11-20T08:00:00Z.",
      exitCode: exitCodes.usage,
    });
  }
  const time = writeTime(epochMs, since);
  const value = since.template === "{since}" ? time : since.template.replaceAll("{since}", String(time));
  return [since.parameter].flat().map((parameter) => ({ in: since.in, parameter, whole: true, value }));
}

/** The number of all records, where an answer says it; some services say it on the first page only. */
export function totalOf(
  { total, totalHeader }: { total?: string | undefined; totalHeader?: string | undefined },
  page: { document: Json; answer: PageAnswer },
): number | undefined {
  if (total === undefined && totalHeader === undefined) return undefined;
  const found: Json | undefined =
    totalHeader === undefined ? valueIn(page.document, total ?? ".") : page.answer.headers[totalHeader.toLowerCase()];
  const number = typeof found === "string" && /^\d{1,15}$/.test(found) ? Number(found) : found;
  return typeof number === "number" && Number.isSafeInteger(number) && number >= 0 ? number : undefined;
}

/** What a service says of a page that it does not know any more: then an earlier position leads nowhere. */
export const forgotten: ReadonlySet<string> = new Set(["source.refused", "source.error-answer"]);

/** HTTP statuses with which a service says that there is no such page, where none is expected. */
export function beyondList(isTotalKnown: boolean): readonly number[] {
  return isTotalKnown ? [400, 404, 410, 416] : [404, 410, 416];
}

/** The list has ended: the service has no page where none is expected. */
export function isNoPage({ position }: { position: PagePosition }, problem: Problem): boolean {
  return position.beyond !== undefined && problem.code === "source.not-found";
}

export function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

const positionSchema = z.strictObject({
  form: z.literal(1),
  /** What the reading was asked for; another question begins anew. */
  since: z.string().nullable(),
  /** Number of the page that comes next. */
  page: z.int().min(2),
  parameters: z.record(z.string(), z.union([z.string(), z.number()])),
  url: z.url({ protocol: /^https?$/u }).nullable(),
  sum: z.int().min(0),
  total: z.int().min(0).nullable(),
  changes: z
    .strictObject({ serviceTime: z.number().optional(), began: z.number().optional(), rows: z.int().min(0) })
    .nullable(),
});

/** How far a reading has come: everything that it goes on with. */
export type Position = z.infer<typeof positionSchema>;

/** Longest position that is kept. */
const mostCharacters = 8_000;

/**
 * A position as text. Undefined for one that is not to be kept: it is very long, or what the service gave for the next
 * page holds an e-mail address or a phone number.
 */
export function positionText(position: Position): string | undefined {
  const text = JSON.stringify(position);
  if (text.length > mostCharacters) return undefined;
  const given = [...Object.values(position.parameters), position.url ?? ""];
  return given.every((value) => isClean(String(value))) ? text : undefined;
}

/** The position behind a text; undefined for one of another question, or none at all. */
export function positionOf(text: string | undefined, since: string | undefined): Position | undefined {
  if (text === undefined) return undefined;
  try {
    const parsed = positionSchema.safeParse(JSON.parse(text));
    return parsed.success && parsed.data.since === (since ?? null) ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}

function pageOf(position: Position): PagePosition {
  return { parameters: position.parameters, ...(position.url === null ? {} : { url: new URL(position.url) }) };
}

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
