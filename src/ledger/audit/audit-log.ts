import type Database from "better-sqlite3";
import { type JsonObject, canonicalJson } from "../../base/canonical-json.ts";
import type { Randomness } from "../../base/ids.ts";
import { whoActs } from "../../base/who.ts";
import { unreadableRow, stored } from "../database/damage.ts";
import { PerTransaction } from "../database/read-together.ts";
import { Frontier, leafHash } from "./merkle-log.ts";
import type { AuditTable, AuditTreeTable } from "./tables.ts";

export type AuditRow = AuditTable;

export interface AuditHead {
  sequence: number;
  hash: string;
  root?: string | undefined;
}

/** A head kept outside the database. A configured place and a checkpoint also keep the size of the tree. */
export interface KeptHead extends AuditHead {
  size?: number | undefined;
  commit?: number | undefined;
  at?: string | undefined;
}

export const format = 2;
const saltBytes = 16;

export const tileLevel = 8;
export const tileLeaves = 2 ** tileLevel;

/** The hashed text of an entry: a JSON array of its fields and the previous hash, so that it is unambiguous. */
export function auditText(row: Omit<AuditRow, "hash">): string {
  const { format: form, sequence, at, kind, subject, body, previous, salt } = row;
  return JSON.stringify([form, sequence, at, kind, subject, body, previous, salt]);
}

/** An entry as exports and proofs write it. The order of its members is fixed. */
export function exportedEntry({ format: form, sequence, at, kind, subject, body, previous, hash, salt }: AuditRow) {
  return { format: form, sequence, at, kind, subject, body, previous, salt, hash };
}

/** The hash of an entry, which is also its leaf hash in the Merkle tree (RFC 9162). One hash serves chain and tree. */
export function auditHash(row: Omit<AuditRow, "hash">): string {
  return leafHash(auditText(row));
}

interface Entry {
  at: string;
  kind: string;
  subject: string;
  body: JsonObject;
}

/** The end of the log for one transaction. `leaves` are not in the tree yet. */
interface Tail {
  head: { sequence: number; hash: string } | undefined;
  tree: Pick<AuditTreeTable, "size" | "roots"> | undefined;
  leaves: string[];
}

/** Appends entries inside the caller's transaction. The head is never cached beyond it. */
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

  /** `allowed` throws if an entry must not be written. `tail` caches the end of the log for one transaction. */
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

  /** An entry that names a person (`by`) also says how that person was identified. */
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

  /** Adds this transaction's entries to the Merkle tree. Call it last: no entry may be undone after it. */
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
    // The tree misses entries if a part of this transaction was undone.
    return { head: { sequence, hash }, tree, leaves: sequence === tree.size ? [] : this.#hashesAfter.all(tree.size) };
  }

  head(): AuditHead | undefined {
    return this.#head.get();
  }

  hashAt(sequence: number): string | undefined {
    return this.#hashAt.get(sequence)?.hash;
  }
}

export function storedRoots({ roots }: Pick<AuditTreeTable, "roots">): string[] {
  return stored<string[]>(roots, "the row of audit_tree");
}
