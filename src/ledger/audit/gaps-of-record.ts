import { z } from "zod";
import type { AuditRow, KeptHead } from "./audit-log.ts";

/** Entries that were there, and went when a backup was restored. */
export interface LostEntries {
  /** The first of them. */
  first: number;
  /** The last of them; null where nobody knows. */
  last: number | null;
  /** When the last entry that is still there was written, and the last of those that are lost. */
  from: string | null;
  until: string | null;
  /** The entry that says so, and who had what happened meanwhile read back. */
  entry: number;
  by: string;
}

const gapBody = z.object({
  by: z.string(),
  at: z.string(),
  from: z.object({ commits: z.number(), sequence: z.number(), at: z.string().nullable() }),
  until: z.object({ commits: z.number(), sequence: z.number(), at: z.string() }).nullable(),
});

type Gap = z.output<typeof gapBody>;

/**
 * What the record says of backups that were restored: which entries are lost since. Heads of those entries fit nothing,
 * and are told from heads of what was written after that by the count of commits that was kept with them.
 */
export class GapsOfRecord {
  readonly lost: LostEntries[] = [];
  readonly #gaps: Gap[] = [];

  take(row: Pick<AuditRow, "kind" | "body" | "sequence">): void {
    if (row.kind !== "gap") return;
    const read = gapBody.safeParse(parsed(row.body));
    if (!read.success) return;
    const { from, until, by } = read.data;
    this.#gaps.push(read.data);
    const last = until?.sequence ?? null;
    if (last !== null && last <= from.sequence) return;
    this.lost.push({
      first: from.sequence + 1,
      last,
      from: from.at,
      until: until?.at ?? null,
      entry: row.sequence,
      by,
    });
  }

  /** Whether a head is of an entry that is lost by what the record says. */
  explain({ sequence, commit = 0, at = "" }: KeptHead): boolean {
    return this.#gaps.some(({ from, until, at: begun }) => {
      if (sequence <= from.sequence) return false;
      if (until === null) return at <= begun;
      // Where a backup was restored several times, entries with higher numbers may have been lost before.
      return commit > 0 ? commit <= until.commits : sequence <= until.sequence && at <= begun;
    });
  }

  /** In words. */
  get why(): string {
    const texts = this.lost.map(({ first, last, from, until, entry, by }) => {
      const which = last === null ? `entries from ${first} on` : `the entries ${first} to ${last}`;
      const time = `${from ?? "the beginning"} to ${until ?? "a time that nobody knows"}`;
      return `${which} are lost (${time}): a backup was restored, and ${by} had it rebuilt, as entry ${entry} says`;
    });
    return texts.join("; ");
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
