import { hash } from "node:crypto";
import { sha256 } from "../../base/canonical-json.ts";

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
