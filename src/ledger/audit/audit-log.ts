import type Database from "better-sqlite3";
import { type JsonObject, canonicalJson, sha256 } from "../../base/canonical-json.ts";
import type { Randomness } from "../../base/ids.ts";
import { whoActs } from "../../base/who.ts";
import { unreadableRow, stored } from "../database/damage.ts";
import { PerTransaction } from "../database/read-together.ts";
import type { AuditTable, AuditTreeTable } from "./tables.ts";
import { hash } from "node:crypto";

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

/** The Merkle tree of RFC 9162, section 2.1, over SHA-256. Hashes are 64 lower-case hexadecimal characters. Pure. */

export const emptyRoot = sha256("");

/** The prefix is 0x00. */
export function leafHash(leaf: string): string {
  return sha256(`\u0000${leaf}`);
}

const pair = Buffer.alloc(65, 1);

/** The prefix is 0x01. */
export function nodeHash(left: string, right: string): string {
  pair.write(left, 1, "hex");
  pair.write(right, 33, "hex");
  return hash("sha256", pair, "hex");
}

/** A growing tree, kept as the roots of its complete subtrees, largest first. Appending and the root need no more. */
export class Frontier {
  #size: number;
  readonly #roots: string[];

  constructor({ size, roots }: { size: number; roots: readonly string[] } = { size: 0, roots: [] }) {
    this.#size = size;
    this.#roots = [...roots];
  }

  get size(): number {
    return this.#size;
  }

  get roots(): readonly string[] {
    return this.#roots;
  }

  /** Returns the root of the complete subtree of `level` that this leaf ends, if it ends one. */
  append(leaf: string, level = 0): string | undefined {
    let root = leaf;
    let ended = level === 0 ? leaf : undefined;
    let height = 0;
    for (let rest = this.#size; rest % 2 === 1; rest = (rest - 1) / 2) {
      root = nodeHash(this.#roots.pop() ?? "", root);
      height += 1;
      if (height === level) ended = root;
    }
    this.#roots.push(root);
    this.#size += 1;
    return ended;
  }

  root(): string {
    return this.#roots.length === 0 ? emptyRoot : this.#roots.reduceRight((right, left) => nodeHash(left, right));
  }
}

/** The largest power of two below `size` (2 or more): the number of leaves in the left half of a tree. */
export function leftHalf(size: number): number {
  let half = 1;
  while (half * 2 < size) half *= 2;
  return half;
}

/** The root of the leaves from `from` (included) to `to` (excluded). */
export type SubtreeRoot = (from: number, to: number) => string;

/** The proof that a leaf is in the tree: the sibling of each node up to the root (RFC 9162, 2.1.3). */
export function inclusionPath(leaf: number, size: number, rootOf: SubtreeRoot): string[] {
  const path: string[] = [];
  for (let from = 0, to = size; to - from > 1;) {
    const middle = from + leftHalf(to - from);
    if (leaf < middle) {
      path.push(rootOf(middle, to));
      to = middle;
    } else {
      path.push(rootOf(from, middle));
      from = middle;
    }
  }
  return path.reverse();
}

/** The proof that a tree extends an earlier one (RFC 9162, 2.1.4). Empty if both are equal or `before` is 0. */
export function consistencyPath(before: number, size: number, rootOf: SubtreeRoot): string[] {
  if (before === 0 || before === size) return [];
  const path: string[] = [];
  let from = 0;
  let to = size;
  while (before !== to) {
    const middle = from + leftHalf(to - from);
    if (before <= middle) {
      path.push(rootOf(middle, to));
      to = middle;
    } else {
      path.push(rootOf(from, middle));
      from = middle;
    }
  }
  if (from !== 0) path.push(rootOf(from, to));
  return path.reverse();
}

/** The root that an inclusion path leads to (RFC 9162, 2.1.3.2). Undefined if the path does not fit. */
export function rootBy(leaf: string, at: { leaf: number; size: number }, path: readonly string[]): string | undefined {
  if (at.leaf >= at.size) return undefined;
  return climbed({ left: leaf, right: leaf, index: at.leaf, last: at.size - 1 }, path)?.right;
}

/** Checks a consistency path: does the tree extend the earlier one? (RFC 9162, 2.1.4.2) */
export function isGrown(
  before: { size: number; root: string },
  now: { size: number; root: string },
  given: readonly string[],
): boolean {
  if (before.size === now.size) return given.length === 0 && before.root === now.root;
  const [first, ...path] = leftHalf(before.size + 1) === before.size ? [before.root, ...given] : given;
  if (first === undefined || before.size < 1 || before.size > now.size) return false;
  let index = before.size - 1;
  let last = now.size - 1;
  while (index % 2 === 1) {
    index = (index - 1) / 2;
    last = Math.floor(last / 2);
  }
  const roots = climbed({ left: first, right: first, index, last }, path);
  return roots?.left === before.root && roots.right === now.root;
}

/** Climbs a path. `left`: the root of the tree that ends with the node; `right`: of the whole tree. */
function climbed(
  from: { left: string; right: string; index: number; last: number },
  path: readonly string[],
): { left: string; right: string } | undefined {
  let { left, right, index, last } = from;
  for (const sibling of path) {
    if (last === 0) return undefined;
    if (index % 2 === 1 || index === last) {
      left = nodeHash(sibling, left);
      right = nodeHash(sibling, right);
      for (; index % 2 === 0 && index > 0; index /= 2) last = Math.floor(last / 2);
    } else right = nodeHash(right, sibling);
    index = Math.floor(index / 2);
    last = Math.floor(last / 2);
  }
  return last === 0 ? { left, right } : undefined;
}
