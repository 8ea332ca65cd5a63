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

export interface ListSettings extends HttpListSettings {
  limits: RecordLimits;
  key?: string | undefined;
  since?: SinceSettings | undefined;
  /** The rows are parts of records: details, or grouped rows. */
  areParts?: boolean | undefined;
}

export interface ListReadOptions extends ReadOptions {
  /** Request values from the record of a chain, besides those of the settings. */
  placed?: readonly Placement[] | undefined;
}

export interface Reading {
  options: ListReadOptions;
  paging: Paging;
  position: PagePosition;
  number: number;
  /** `sum`: records of all pages so far, including those before a resume. `yielded`: of this read only. */
  sum: number;
  yielded: number;
  total: number | undefined;
  newest: NewestChange | undefined;
  asked: readonly Placement[] | undefined;
  resumed: boolean;
  /** Hashes of the pages, to notice a repeated page. Used only with a total. */
  pages: Set<string>;
  /** The next page was found by counting pages or records. */
  counts: boolean;
  /** The list ended by its paging, but the last answer shows signs of more records. */
  beyond: Problem | undefined;
}

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

/** Throws a Problem (usage) if the text is not an instant. */
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

/** Some services give the total only on the first page. */
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

/** A service answers with one of these if it no longer knows a page: the resume position is then useless. */
export const forgotten: ReadonlySet<string> = new Set(["source.refused", "source.error-answer"]);

/** HTTP statuses that mean "no such page", behind the expected end. */
export function beyondList(isTotalKnown: boolean): readonly number[] {
  return isTotalKnown ? [400, 404, 410, 416] : [404, 410, 416];
}

/** No page behind the expected end: the list has ended. */
export function isNoPage({ position }: { position: PagePosition }, problem: Problem): boolean {
  return position.beyond !== undefined && problem.code === "source.not-found";
}

export function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

const positionSchema = z.strictObject({
  form: z.literal(1),
  /** The `since` of the read. A position for another `since` is not used. */
  since: z.string().nullable(),
  page: z.int().min(2),
  parameters: z.record(z.string(), z.union([z.string(), z.number()])),
  url: z.url({ protocol: /^https?$/u }).nullable(),
  sum: z.int().min(0),
  total: z.int().min(0).nullable(),
  changes: z
    .strictObject({ serviceTime: z.number().optional(), began: z.number().optional(), rows: z.int().min(0) })
    .nullable(),
});

export type Position = z.infer<typeof positionSchema>;

const mostCharacters = 8_000;

/** Undefined if it is very long, or the service's values contain an e-mail address or phone number. */
export function positionText(position: Position): string | undefined {
  const text = JSON.stringify(position);
  if (text.length > mostCharacters) return undefined;
  const given = [...Object.values(position.parameters), position.url ?? ""];
  return given.every((value) => isClean(String(value))) ? text : undefined;
}

/** Undefined if the text is not a position, or belongs to another `since`. */
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

/** Changes of one instant may become visible one after another, and a Date header has whole seconds. */
const leastOverlapMs = 1_000;
const dayMs = 86_400_000;

/** State of an interrupted read. Times in epoch milliseconds. */
export interface ChangesSeen {
  serviceTime?: number | undefined;
  began?: number | undefined;
  rows: number;
}

/**
 * Finds where the next incremental read begins: the service's time at the first answer, less the overlap. Later changes
 * may be on pages that were already read. It is the earlier of the Date header and a bound from the records: a record
 * changed at T was read at T or later, so the read began no earlier than T minus its duration so far. Our wall clock
 * may be wrong, so durations use the monotonic clock.
 */
export class NewestChange {
  readonly #since: SinceSettings;
  readonly #path: Path | undefined;
  readonly #written: TimeFormat;
  readonly #asked: number | undefined;
  readonly #clock: Pick<Clock, "now" | "monotonic">;
  readonly #begunAt: number;
  readonly #isResumed: boolean;
  #began: number | undefined;
  #rows: number;
  #serviceTime: number | undefined;
  #pages = 0;

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

  get seen(): ChangesSeen {
    return {
      ...(this.#serviceTime === undefined ? {} : { serviceTime: this.#serviceTime }),
      ...(this.#began === undefined ? {} : { began: this.#began }),
      rows: this.#rows,
    };
  }

  /** Call when the page arrives: its time counts. */
  see(page: { items: readonly FileItem[]; answer: { date: number | undefined } }): void {
    // After a resume, nobody knows when the read began: the values of the first part stay.
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

  /** The next `since`. Undefined if no time is known: the next read is then full. */
  cursor(): string | undefined {
    const overlap = Math.max(this.#since.overlapMs, leastOverlapMs);
    // The service's clock was set back: its new changes have times before the requested one.
    if (this.#asked !== undefined && this.#serviceTime !== undefined && this.#serviceTime < this.#asked)
      return undefined;
    // A record with a wrong future time would hide all changes until then. Without a time of the service, our clock is
    // the bound: no clock is off by more than a day.
    if (this.#serviceTime === undefined && this.#began !== undefined && this.#began > this.#clock.now() + dayMs)
      return undefined;
    const service = this.#serviceTime === undefined ? undefined : this.#serviceTime - overlap;
    const read = this.#read(overlap) ?? service ?? this.#asked;
    return read === undefined ? undefined : toInstant(Math.floor(Math.min(read, service ?? read)));
  }

  #read(overlap: number): number | undefined {
    if (this.#path === undefined) return undefined;
    if (this.#began !== undefined) return this.#began - overlap;
    return this.#rows === 0 ? this.#asked : undefined;
  }
}
