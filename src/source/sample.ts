import type { Stream } from "../crm/model.ts";
import type { ReadOutcome, SourceItem } from "./reader.ts";
import type { Source } from "./source.ts";

/** The first rows of a stream, and how its reading ended where that was its end. */
export interface Sample {
  items: SourceItem[];
  /** Undefined where the reading was stopped because enough was read. */
  outcome: ReadOutcome | undefined;
}

/**
 * Reads the first rows of a stream that are `wanted`, `limit` at the most, and stops there. Nothing is kept. Where rows
 * are joined, all of them are read before the first one comes.
 */
export async function readSample(
  source: Pick<Source, "read">,
  stream: Stream,
  options: {
    limit: number;
    wanted?: (item: SourceItem) => boolean;
    /** Is told of every row that was read, also of those behind the last one that is wanted, and of `atLeast`. */
    sees?: { item: (item: SourceItem) => void; atLeast: number };
    /** As of a reading. */
    needsColumns?: false;
    signal: AbortSignal;
  },
): Promise<Sample> {
  const { limit, wanted = () => true, sees, needsColumns, signal } = options;
  const batchSize = Math.min(Math.max(limit, sees?.atLeast ?? 0), 500);
  const reading = source.read(stream, { batchSize, signal, ...(needsColumns === false ? { needsColumns } : {}) });
  const items: SourceItem[] = [];
  let rows = 0;
  for (;;) {
    const next = await reading.next();
    if (next.done === true) return { items, outcome: next.value };
    rows += next.value.length;
    if (sees !== undefined) for (const item of next.value) sees.item(item);
    for (const item of next.value) {
      if (!wanted(item)) continue;
      items.push(item);
      if (items.length < limit) continue;
      await reading.return({ complete: false, full: false, rows });
      return { items, outcome: undefined };
    }
  }
}
