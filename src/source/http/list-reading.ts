import type { Clock } from "../../base/clock.ts";
import type { RecordLimits } from "../json.ts";
import type { ReadOptions } from "../reader.ts";
import type { CsvMemory } from "./answer/rows.ts";
import type { HttpListSettings, SinceSettings } from "./http-source-settings.ts";
import { NewestChange } from "./newest-change.ts";
import type { ChangesSeen } from "./newest-change.ts";
import { createPaging } from "./paging.ts";
import type { PagePosition, Paging } from "./paging.ts";
import type { Placement } from "./placement.ts";
import { pageOf } from "./position.ts";
import type { Position } from "./position.ts";
import { exitCodes, Problem } from "../../base/errors.ts";
import { writeTime } from "./time-format.ts";

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
  memory: CsvMemory;
  /** Whether it goes on where an earlier one was cut. */
  resumed: boolean;
  /** By what each page is known again, where the service says how many records there are. */
  pages: Set<string>;
  /** By what the last record is known again, and whether the way to a page was a mere count. */
  last: string | undefined;
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
  const { since, key, csv } = settings;
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
    memory: { header: csv?.header },
    resumed: false,
    pages: new Set(),
    last: undefined,
    counts: false,
    beyond: undefined,
  };
  const page = from === undefined ? undefined : pageOf(from);
  if (from === undefined || page === undefined) return anew;
  const position = page.url === undefined || page.url.origin === url.origin ? paging.resume(page) : undefined;
  const hasChanges = (from.changes === null) === (since === undefined);
  if (position === undefined || !hasChanges) return anew;
  const { page: number, sum, total, header } = from;
  return {
    ...anew,
    newest: seen(from.changes ?? undefined),
    position,
    number,
    sum,
    total: total ?? undefined,
    memory: { header: header ?? undefined },
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
