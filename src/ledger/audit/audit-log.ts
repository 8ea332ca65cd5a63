import type Database from "better-sqlite3";
import { type JsonObject, canonicalJson } from "../../base/canonical-json.ts";
import type { Randomness } from "../../base/ids.ts";
import { whoActs } from "../../base/who.ts";
import { unreadableRow, stored } from "../database/damage.ts";
import { PerTransaction } from "../database/per-transaction.ts";
import { Frontier, leafHash } from "./merkle-log.ts";
import type { AuditTable, AuditTreeTable } from "./tables.ts";

/** One link of the chain as it stands in the table. */
export type AuditRow = AuditTable;

/** The last entry, and the root of the Merkle tree that ends with it. */
export interface AuditHead {
  sequence: number;
  hash: string;
  root?: string | undefined;
}

/** A head as it was kept outside the database: with the size of its tree at a configured place and in a checkpoint. */
export interface KeptHead extends AuditHead {
  size?: number | undefined;
  /** How many groups of work the ledger had committed, where that was kept with it. */
  commit?: number | undefined;
  /** When it was kept, where that is known. */
  at?: string | undefined;
}

/** The format of entries. */
export const format = 2;
const saltBytes = 16;

/** So many leaves have their root kept, as a level of the tree. */
export const tileLevel = 8;
export const tileLeaves = 2 ** tileLevel;

/** The text of an entry: the JSON array of its fields and the hash before it, which can be read in one way alone. */
export function auditText(row: Omit<AuditRow, "hash">): string {
  const { format: form, sequence, at, kind, subject, body, previous, salt } = row;
  return JSON.stringify([form, sequence, at, kind, subject, body, previous, salt]);
}

/** An entry as exports and proofs write it: its members in this order and no others. */
export function exportedEntry({ format: form, sequence, at, kind, subject, body, previous, hash, salt }: AuditRow) {
  return { format: form, sequence, at, kind, subject, body, previous, salt, hash };
}

/**
 * The hash of an entry over its canonical text: that of a leaf of the Merkle tree (RFC 9162), so that one hash links
 * the chain and grows the tree.
 */
export function auditHash(row: Omit<AuditRow, "hash">): string {
  return leafHash(auditText(row));
}

/** What an entry says. */
interface Entry {
  at: string;
  kind: string;
  subject: string;
  body: JsonObject;
}

/** What a transaction adds to: the last entry and the tree, which lacks `leaves`. */
interface Tail {
  head: { sequence: number; hash: string } | undefined;
  tree: Pick<AuditTreeTable, "size" | "roots"> | undefined;
  leaves: string[];
}

/** Appends entries inside the caller's transaction; the head is read there and never remembered beyond its end. */
export class AuditLog {
  readonly #head;
  readonly #tail: PerTransaction<Tail>;
  readonly #hashAt;
  readonly #insert;
  readonly #ends;
  readonly #grown;
  readonly #tile;
  readonly #hashesAfter;
  readonly #random: Randomness;

  readonly #allowed: (entry: Entry) => void;

  /**
   * `allowed` throws where an entry may not be written: the record keeps it for good. `tail`: what the
   * transaction in progress has read; without it, each entry reads it.
   */
  constructor(
    database: Database.Database,
    random: Randomness,
    {
      allowed = () => undefined,
      tail = new PerTransaction(() => undefined),
    }: { allowed?: (entry: Entry) => void; tail?: PerTransaction<Tail> } = {},
  ) {
    this.#random = random;
    this.#allowed = allowed;
    this.#tail = tail;
    this.#head = database.prepare<[], AuditHead>("select sequence, hash from audit order by sequence desc limit 1");
    this.#hashAt = database.prepare<[number], Pick<AuditTable, "hash">>("select hash from audit where sequence = +?");
    this.#insert = database.prepare(
      `insert into audit (sequence, format, at, kind, subject, body, previous, hash, salt)
       values (@sequence, @format, @at, @kind, @subject, @body, @previous, @hash, @salt)`,
    );
    this.#ends = database.prepare<[], AuditTreeTable & { sequence: number | null; hash: string | null }>(
      `select size, roots, sequence, hash from audit_tree
        left join audit on sequence = (select max(sequence) from audit) where only_one = 1`,
    );
    this.#grown = database.prepare("update audit_tree set size = ?, roots = ? where only_one = 1");
    this.#tile = database.prepare("insert into audit_tile (number, root) values (?, ?)");
    this.#hashesAfter = database
      .prepare<[number], string>("select hash from audit where sequence > +? order by sequence")
      .pluck();
  }

  /** What names a person (`by`) also says how it is known who that is. */
  append(entry: Entry): Omit<AuditHead, "root"> {
    this.#allowed(entry);
    const tail = this.#tail.get(() => this.#read());
    const { head } = tail;
    const row = {
      sequence: (head?.sequence ?? 0) + 1,
      format,
      at: entry.at,
      kind: entry.kind,
      subject: entry.subject,
      body: canonicalJson(entry.body["by"] === undefined ? entry.body : { ...entry.body, who: { ...whoActs() } }),
      previous: head?.hash ?? "",
      salt: this.#random.hex(saltBytes),
    };
    const hash = auditHash(row);
    this.#insert.run({ ...row, hash });
    const { sequence } = row;
    tail.head = { sequence, hash };
    if (sequence > (tail.tree?.size ?? 0)) tail.leaves.push(hash);
    return { sequence, hash };
  }

  /**
   * Adds the entries of this transaction to the Merkle tree, at its end: then none of them is undone any more. Answers
   * the head, or undefined where there is no entry.
   */
  grow(): Required<AuditHead> | undefined {
    const { head, tree, leaves } = this.#tail.get(() => this.#read());
    if (tree === undefined) throw unreadableRow("audit_tree", "1", "size");
    if (head === undefined) return undefined;
    const frontier = new Frontier({ size: tree.size, roots: storedRoots(tree) });
    for (const leaf of leaves) {
      const tile = frontier.append(leaf, tileLevel);
      if (tile !== undefined) this.#tile.run(frontier.size / tileLeaves - 1, tile);
    }
    if (frontier.size > tree.size) this.#grown.run(frontier.size, JSON.stringify(frontier.roots));
    return { ...head, root: frontier.root() };
  }

  #read(): Tail {
    const row = this.#ends.get();
    if (row === undefined) return { head: this.#head.get(), tree: undefined, leaves: [] };
    const { sequence, hash, ...tree } = row;
    if (sequence === null || hash === null) return { head: undefined, tree, leaves: [] };
    // Entries that the tree lacks are there where some of a transaction was undone.
    return { head: { sequence, hash }, tree, leaves: sequence === tree.size ? [] : this.#hashesAfter.all(tree.size) };
  }

  head(): AuditHead | undefined {
    return this.#head.get();
  }

  hashAt(sequence: number): string | undefined {
    return this.#hashAt.get(sequence)?.hash;
  }
}

/** The roots of the complete subtrees of the tree that the ledger keeps. */
export function storedRoots({ roots }: Pick<AuditTreeTable, "roots">): string[] {
  return stored<string[]>(roots, "the row of audit_tree");
}
