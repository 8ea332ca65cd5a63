import { auditHash, format, tileLeaves, type AuditHead, type AuditRow, type KeptHead } from "./audit-log.ts";
import { RecordTree } from "./kept-tree.ts";
import type { AuditTreeTable } from "./tables.ts";
import { z } from "zod";

/** What is wrong with a record, as machines read it. */
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

/** The first entry that does not fit, and why; entry 0 where it is no entry that is wrong. */
export interface AuditFinding {
  code: AuditFault;
  firstBad: number;
  why: string;
}

/** Questions to a record, each answered for itself; null where there is nothing to answer it by. */
export interface AuditVerdicts {
  entries: number;
  head: AuditHead | undefined;
  /** When the last entry says that it was written. */
  lastAt: string | undefined;
  /** Entries of which a head stands outside the database. */
  keptHeads: number;
  /** Entries that were lost where a backup was restored, as the record itself says. */
  lost: readonly LostEntries[];
  /** Whether nothing is known to be wrong. */
  good: boolean;
  /** Whether nothing was changed. */
  integrity: { good: true } | ({ good: false } & AuditFinding);
  /** Whether nothing was cut off, as far as the heads outside say. */
  completeness: { good: true } | ({ good: false } & AuditFinding) | { good: null; why: string };
}

/** What is verified: rows in the order of their sequence, and what the database and others keep of them. */
export interface AuditRecord {
  rows: Iterable<AuditRow>;
  heads: readonly KeptHead[];
  tree?:
    | {
        row: Pick<AuditTreeTable, "size" | "roots">;
        tiles: readonly string[];
      }
    | undefined;
  /** Guards of the tables that are not there as they were made, by their names. */
  guardsMissing?: readonly string[] | undefined;
  /** Other parts of the schema that are gone, are others, or are there beside what was made, by their names. */
  schemaChanged?: readonly string[] | undefined;
}

/**
 * Walks the whole record and compares it with its Merkle tree and with the heads that were kept outside the database.
 * Finds every edit, insert, deletion and swap, and every cut up to the last kept head; the first bad entry is named. A
 * cut after the last kept head cannot be seen by anyone.
 */
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
  // Nothing that was cut off beside them: that some are lost stays so for good.
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

/** One walk along the record, up to the first entry that does not fit. */
class Walk {
  entries = 0;
  head: AuditHead | undefined;
  lastAt: string | undefined;
  readonly tree = new RecordTree();
  readonly gaps = new GapsOfRecord();
  /** Heads that fit no entry, until the record says whether those were lost. */
  readonly #unfit: KeptHead[] = [];
  readonly #kept: ReadonlyMap<number, readonly KeptHead[]>;
  #wrong: AuditFinding | undefined;
  #lastFitting = 0;

  constructor({ heads }: AuditRecord) {
    this.#kept = Map.groupBy(heads, ({ sequence }) => sequence);
  }

  /** The first that is wrong: a head that does not fit is of an entry before the one where the walk ended. */
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

/** The tree that the ledger keeps is the one of its entries. */
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
