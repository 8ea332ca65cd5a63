import type { Problem } from "../../base/errors.ts";
import type { Stream } from "../../crm/model.ts";
import { sourceProblem } from "../../source/problems.ts";
import type { ReadOutcome, SourceItem } from "../../source/reader.ts";
import { driftOf, driftText, judgedOf, placeOf, ShapeOfRows, type RowShape } from "../../source/shape.ts";
import type { StreamMapping } from "../../source/source.ts";

/**
 * Reasons to doubt a read. A person must accept a doubted read before its records are used (`isOfAbsence`: they are
 * used, but none counts as deleted). `option` accepts one read; `audit` is its audit entry.
 *
 * | guard | doubts a read that | limit |
 * |---|---|---|
 * | `rows` | lost too many records, header rows, detail rows, or entries of a look-up table | `limits.sourceShrink` |
 * | `ids` | has new records instead of missing ones, or ids that name other records than before | `limits.newIds` |
 * | `changes` | changed one field in too many records | `limits.massChange` |
 * | `shape` | does not have a field that the mapping reads, or has it in another type | in `driftOf` |
 *
 * The reader itself refuses an incomplete read: an old marker, a wrong total, bytes of another encoding.
 */
export const guards = {
  rows: { option: "--accept-shrink", audit: "shrink-accepted" },
  ids: { option: "--accept-new-ids", audit: "new-ids-accepted" },
  changes: { option: "--accept-changes", audit: "changes-accepted" },
  shape: { option: "--accept-drift", audit: "drift-accepted" },
} as const;
export type GuardName = keyof typeof guards;
export const guardNames = ["rows", "ids", "changes", "shape"] as const satisfies readonly GuardName[];

/** `text` has no personal data. `count`: the number that a person gives to accept the read. */
export interface Doubt {
  guard: GuardName;
  count: number;
  text: string;
  /** The records may be right; only missing records do not count as deleted. */
  isOfAbsence?: boolean;
}

export interface Acceptance {
  guard: GuardName;
  source: string;
  stream: Stream;
  most: number;
}

export type Accepted = Readonly<Record<GuardName, number>>;

export function acceptedOf(acceptances: readonly Acceptance[], source: string, stream: Stream): Accepted {
  const most = (guard: GuardName): number =>
    Math.max(
      0,
      ...acceptances
        .filter((one) => one.guard === guard && one.source === source && one.stream === stream)
        .map((one) => one.most),
    );
  return { rows: most("rows"), ids: most("ids"), changes: most("changes"), shape: most("shape") };
}

/** Until something is sent, a mapping is still being tried: records are not compared with earlier ones. */
export function acceptsTrials(source: string, stream: Stream): Acceptance[] {
  return (["rows", "ids", "changes"] as const).map((guard) => ({ guard, source, stream, most: Infinity }));
}

/** A new mapping may change one field in all records, and a person who tries it wants to see that. */
export function acceptsChanges(source: string, stream: Stream): Acceptance[] {
  return [{ guard: "changes", source, stream, most: Infinity }];
}

export function unlessAccepted(doubts: readonly (Doubt | undefined)[], accepted: Accepted): Doubt | undefined {
  return doubts.find((doubt) => doubt !== undefined && doubt.count > accepted[doubt.guard]);
}

interface JudgedStream {
  source: string;
  stream: Stream;
  job: string | undefined;
}

export function notBelieved(doubt: Doubt, of: JudgedStream): Problem {
  const command = believing(doubt, of);
  return sourceProblem(
    "source.not-believed",
    `${of.source}/${of.stream}`,
    `${doubt.text}. ` +
      (doubt.isOfAbsence === true ? "No record counts as deleted" : "No record of this read was used"),
    doubt.guard === "rows"
      ? `have the CRM export again; the next run continues. Only if these records really were deleted: ${command}`
      : `correct the export or the mapping; the next run continues. Only if the read is right: ${command}`,
  );
}

export function believing(
  { guard, count }: Pick<Doubt, "guard" | "count">,
  { source, stream, job }: JudgedStream,
): string {
  return `\`crm-sync run ${job ?? "JOB"} ${guards[guard].option} ${source}/${stream}=${count}\` accepts this read once`;
}

export function limitOf({ floor, share }: { floor: number; share: number }, total: number): number {
  return Math.min(Math.max(floor, Math.ceil(share * total)), total);
}

const watchedRows = 1_000;

interface WatchedStream {
  source: string;
  stream: Stream;
  mapping: Pick<StreamMapping, "ways" | "nullTexts">;
  before: RowShape | undefined;
  changesOnly: boolean;
  job: string | undefined;
  accepted: Accepted;
}

/** Ends the read if a place is suddenly empty or of another type: a renamed field would seem lost in every record. */
export class DriftWatch {
  readonly #watched: WatchedStream;
  readonly #seen: ShapeOfRows;
  readonly #places: ReadonlySet<string>;

  constructor(watched: WatchedStream) {
    this.#watched = watched;
    this.#places = new Set(watched.mapping.ways().flatMap(({ reads }) => reads.map(placeOf)));
    this.#seen = new ShapeOfRows(watched.mapping.nullTexts, this.#places);
  }

  get shape(): RowShape {
    return this.#seen.shape();
  }

  async *watch(
    reading: AsyncGenerator<SourceItem[], ReadOutcome, void>,
  ): AsyncGenerator<SourceItem[], ReadOutcome, void> {
    let rows = 0;
    try {
      for (;;) {
        const next = await reading.next();
        const isWatched = next.done === true || this.#seen.rows < watchedRows;
        if (next.done !== true && isWatched) this.#see(next.value);
        const problem = isWatched ? this.problem(next.done === true) : undefined;
        if (problem !== undefined) return { complete: false, full: false, rows: 0, problem };
        if (next.done === true) return next.value;
        rows += next.value.length;
        yield next.value;
      }
    } finally {
      await reading.return({ complete: false, full: false, rows });
    }
  }

  #see(items: readonly SourceItem[]): void {
    for (const item of items) if ("raw" in item) this.#seen.see(item.raw.value);
  }

  problem(isAll: boolean): Problem | undefined {
    const { source, stream, before, changesOnly, job, accepted } = this.#watched;
    if (before === undefined) return undefined;
    const now = { ...this.shape, isAll };
    const drifts = driftOf(before, now, this.#places, judgedOf[changesOnly ? "changes" : "everything"]);
    const doubt = { guard: "shape", count: drifts.length } as const;
    if (drifts.length <= accepted.shape) return undefined;
    const rows = { before: before.rows, now: now.rows };
    return sourceProblem(
      "source.drifted",
      `sources.${source}.streams.${stream}`,
      `The rows of the source ${source} (${stream}) have another form than in its last complete read: ` +
        `${drifts.map((drift) => driftText(drift, rows)).join("; ")}. No record of this read was used.`,
      `\`crm-sync map ${source} ${stream}\` shows rows as they come now. Correct the mapping; if the new form is right, ` +
        `${believing(doubt, { source, stream, job })}.`,
    );
  }
}
