import { auditHash, format, tileLeaves, type AuditHead, type AuditRow, type KeptHead } from "./audit-log.ts";
import { RecordTree } from "./kept-tree.ts";
import type { AuditTreeTable } from "./tables.ts";
import { z } from "zod";

export type AuditFault =
  | "entry-missing"
  | "entry-repeated"
  | "entry-format"
  | "entry-changed"
  | "entry-moved"
  | "entry-unlinked"
  | "record-rewritten"
  | "heads-disagree"
  | "head-signature"
  | "head-broken"
  | "tree-changed"
  | "guard-missing"
  | "schema-changed"
  | "books-changed"
  | "links-changed"
  | "cut-off";

/** The first bad entry. `firstBad` is 0 if no entry is bad. */
export interface AuditFinding {
  code: AuditFault;
  firstBad: number;
  why: string;
}

/** Each verdict is separate. `null`: there is nothing to check against. */
export interface AuditVerdicts {
  entries: number;
  head: AuditHead | undefined;
  lastAt: string | undefined;
  keptHeads: number;
  lost: readonly LostEntries[];
  good: boolean;
  integrity: { good: true } | ({ good: false } & AuditFinding);
  /** Whether nothing was cut off, as far as kept heads show. */
  completeness: { good: true } | ({ good: false } & AuditFinding) | { good: null; why: string };
}

export interface AuditRecord {
  rows: Iterable<AuditRow>;
  heads: readonly KeptHead[];
  tree?:
    | {
        row: Pick<AuditTreeTable, "size" | "roots">;
        tiles: readonly string[];
      }
    | undefined;
  guardsMissing?: readonly string[] | undefined;
  schemaChanged?: readonly string[] | undefined;
}

/** Finds every edit, and every cut up to the last kept head: nobody can see a later cut. Names the first bad entry. */
export function verifyRecord(record: AuditRecord): AuditVerdicts {
  const walk = new Walk(record);
  let last = 0;
  for (const row of record.rows) {
    last = Math.max(last, row.sequence);
    walk.take(row);
  }
  const { entries, head } = walk;
  const finding = walk.finding ?? schemaFinding(record) ?? treeFinding(record, walk);
  const integrity: AuditVerdicts["integrity"] = finding === undefined ? { good: true } : { good: false, ...finding };
  const { gaps } = walk;
  const heads = record.heads.filter((head) => !gaps.explain(head));
  const longest = heads.reduce((most, { sequence }) => Math.max(most, sequence), 0);
  const complete = completenessOf(record.heads.length === 0, longest, Math.max(last, entries));
  // Known losses stay known for good, so `good: true` is impossible even if nothing else is missing.
  const completeness = gaps.lost.length > 0 && complete.good === true ? { good: null, why: gaps.why } : complete;
  return {
    entries,
    head,
    lastAt: walk.lastAt,
    lost: gaps.lost,
    keptHeads: new Set(record.heads.map(({ sequence }) => sequence)).size,
    good: integrity.good && completeness.good !== false,
    integrity,
    completeness,
  };
}

function completenessOf(noHeads: boolean, longest: number, last: number): AuditVerdicts["completeness"] {
  if (noHeads) return { good: null, why: "no head was kept outside the database" };
  if (longest <= last) return { good: true };
  const why =
    `the record ends at entry ${last}, but the head of entry ${longest} was kept outside the ledger: ` +
    "entries were cut off";
  return { good: false, code: "cut-off", firstBad: last + 1, why };
}

class Walk {
  entries = 0;
  head: AuditHead | undefined;
  lastAt: string | undefined;
  readonly tree = new RecordTree();
  readonly gaps = new GapsOfRecord();
  /** Heads that fit no entry. A later entry may explain them as lost. */
  readonly #unfit: KeptHead[] = [];
  readonly #kept: ReadonlyMap<number, readonly KeptHead[]>;
  #wrong: AuditFinding | undefined;
  #lastFitting = 0;

  constructor({ heads }: AuditRecord) {
    this.#kept = Map.groupBy(heads, ({ sequence }) => sequence);
  }

  /** An unfit head always belongs to an entry before the place where the walk ended, so it comes first. */
  get finding(): AuditFinding | undefined {
    const unlike = this.#unfit.find((head) => !this.gaps.explain(head))?.sequence;
    if (unlike === undefined) return this.#wrong;
    const entry = `entry ${unlike} is not the one whose hash was kept outside the ledger`;
    return this.#lastFitting < unlike
      ? { code: "record-rewritten", firstBad: unlike, why: `${entry}: the chain was written anew` }
      : {
          code: "heads-disagree",
          firstBad: unlike,
          why: `${entry}, and another head fits: the chain or the file of heads was written anew`,
        };
  }

  take(row: AuditRow): void {
    if (this.#wrong !== undefined) return;
    this.#wrong = this.#wrongWith(row);
    if (this.#wrong !== undefined) return;
    this.entries = row.sequence;
    this.tree.take(row);
    this.gaps.take(row);
    const { sequence, hash } = row;
    this.head = { sequence, hash };
    this.lastAt = row.at;
    const kept = this.#kept.get(sequence);
    if (kept === undefined) return;
    const { size } = this.tree.leaves;
    const root = this.tree.leaves.root();
    const fits = (of: KeptHead): boolean =>
      of.hash === hash && (of.root ?? root) === root && (of.size ?? size) === size;
    this.#unfit.push(...kept.filter((head) => !fits(head)));
    if (kept.some(fits)) this.#lastFitting = sequence;
  }

  #wrongWith(row: AuditRow): AuditFinding | undefined {
    const expected = this.entries + 1;
    const is = (code: AuditFault, why: string): AuditFinding => ({ code, firstBad: expected, why });
    if (row.sequence > expected)
      return is("entry-missing", `entry ${expected} is missing: the next one is ${row.sequence}`);
    if (row.sequence < expected) return is("entry-repeated", `entry ${row.sequence} is there again`);
    if (row.format !== format) return is("entry-format", `entry ${expected} has the unknown format ${row.format}`);
    const isLinked = row.previous === (this.head?.hash ?? "");
    const isWhole = auditHash(row) === row.hash;
    if (isLinked && isWhole) return undefined;
    if (isWhole)
      return is("entry-unlinked", `entry ${expected} does not follow the entry before it, one of the two was replaced`);
    if (isLinked) return is("entry-changed", `entry ${expected} was changed: its hash does not fit its content`);
    return is("entry-moved", `entry ${expected} belongs elsewhere: neither its hash nor its predecessor fits`);
  }
}

function schemaFinding({ guardsMissing = [], schemaChanged = [] }: AuditRecord): AuditFinding | undefined {
  if (guardsMissing.length > 0) {
    const why = `what keeps the tables from being changed is gone or another: ${guardsMissing.join(", ")}`;
    return { code: "guard-missing", firstBad: 0, why };
  }
  if (schemaChanged.length === 0) return undefined;
  const why = `the schema of the ledger is not as this program makes it: ${schemaChanged.join(", ")}`;
  return { code: "schema-changed", firstBad: 0, why };
}

function treeFinding({ tree }: AuditRecord, walk: Walk): AuditFinding | undefined {
  if (tree === undefined) return undefined;
  const { row, tiles } = tree;
  const { leaves, tiles: own } = walk.tree;
  const fits = row.size === leaves.size && row.roots === JSON.stringify(leaves.roots) && isSame(tiles, own);
  if (fits) return undefined;
  const tile = tiles.findIndex((root, index) => root !== own[index]);
  const firstBad = tile < 0 ? 0 : tile * tileLeaves + 1;
  return { code: "tree-changed", firstBad, why: "the Merkle tree that the ledger keeps is not the one of its entries" };
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((one, index) => one === others[index]);
}

export interface LostEntries {
  first: number;
  last: number | null;
  /** Times of the last entry before the gap, and of the last lost entry. */
  from: string | null;
  until: string | null;
  /** The entry about the restore, and the person who had the gap read back. */
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

/** Heads of lost entries fit no entry. Their commit count tells them from heads written after the restore. */
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

  explain({ sequence, commit = 0, at = "" }: KeptHead): boolean {
    return this.#gaps.some(({ from, until, at: begun }) => {
      if (sequence <= from.sequence) return false;
      if (until === null) return at <= begun;
      // After several restores, entries with higher numbers may have been lost earlier.
      return commit > 0 ? commit <= until.commits : sequence <= until.sequence && at <= begun;
    });
  }

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
