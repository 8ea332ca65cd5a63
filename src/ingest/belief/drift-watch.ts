import type { Problem } from "../../base/errors.ts";
import type { Stream } from "../../crm/model.ts";
import { sourceProblem } from "../../source/problems.ts";
import type { ReadOutcome, SourceItem } from "../../source/reader.ts";
import { believing } from "./guards.ts";
import type { Accepted } from "./guards.ts";
import { driftOf, driftText, judgedOf, placeOf, ShapeOfRows } from "../../source/shape.ts";
import type { RowShape } from "../../source/shape.ts";
import type { StreamMapping } from "../../source/source.ts";

/** The number of rows whose shape is compared. */
const watchedRows = 1_000;

interface WatchedStream {
  source: string;
  stream: Stream;
  mapping: Pick<StreamMapping, "ways" | "nullTexts">;
  /** The shape of a run's last complete full read; undefined: there is nothing to compare with. */
  before: RowShape | undefined;
  changesOnly: boolean;
  /** A job that reads the stream, for the command that accepts the difference. */
  job: string | undefined;
  accepted: Accepted;
}

/**
 * Compares the shape of a reading's first rows at the places that the mapping, its conditions and `skip` read. If a
 * place is suddenly empty or has another type, the reading ends. The CRM probably renamed a field, and each record
 * would seem to have lost it.
 */
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

  /** Why this reading must not be used. `isAll`: no more rows come. */
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
      `\`crm-sync schema ${source} ${stream}\` shows the changes. Correct the mapping; if the new form is right, ` +
        `${believing(doubt, { source, stream, job })}.`,
    );
  }
}
