import fc from "fast-check";
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { consistencyPath, Frontier, inclusionPath, leafHash } from "../../src/ledger/audit/audit-log.ts";

/** The leaves and roots that certificate transparency programs are tested with. */
const leaves = ["", "\u0000", "\u0010", " !", "01", "@ABC", "PQRSTUVW", "`abcdefghijklmno"];
const roots = [
  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
  "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
  "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
  "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
  "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
  "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
  "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
  "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
];

const sha = (...parts: Buffer[]): Buffer => createHash("sha256").update(Buffer.concat(parts)).digest();
const zero = Buffer.from([0]);
const one = Buffer.from([1]);

/** RFC 9162, 2.1.1, word for word. */
function treeHash(of: readonly Buffer[]): Buffer {
  const [first] = of;
  if (first === undefined) return sha();
  if (of.length === 1) return sha(zero, first);
  let half = 1;
  while (half * 2 < of.length) half *= 2;
  return sha(one, treeHash(of.slice(0, half)), treeHash(of.slice(half)));
}

/** RFC 9162, 2.1.3.2: the root that a path leads to. */
function rootBy(leaf: Buffer, index: number, size: number, path: readonly string[]): string | undefined {
  let [at, last, root]: [number, number, Buffer] = [index, size - 1, leaf];
  for (const text of path) {
    const sibling = Buffer.from(text, "hex");
    if (last === 0) return undefined;
    if (at % 2 === 1 || at === last) {
      root = sha(one, sibling, root);
      while (at % 2 === 0 && at !== 0) [at, last] = [Math.floor(at / 2), Math.floor(last / 2)];
    } else root = sha(one, root, sibling);
    [at, last] = [Math.floor(at / 2), Math.floor(last / 2)];
  }
  return last === 0 ? root.toString("hex") : undefined;
}

/** RFC 9162, 2.1.4.2: the roots of the earlier and the later tree that a path leads to. */
function rootsBy(
  before: number,
  size: number,
  earlier: string,
  given: readonly string[],
): [string, string] | undefined {
  const isPower = Number.isInteger(Math.log2(before));
  const path = (isPower ? [earlier, ...given] : [...given]).map((text) => Buffer.from(text, "hex"));
  let [at, last] = [before - 1, size - 1];
  while (at % 2 === 1) [at, last] = [Math.floor(at / 2), Math.floor(last / 2)];
  const [first, ...rest] = path;
  if (first === undefined) return undefined;
  let [left, right]: [Buffer, Buffer] = [first, first];
  for (const sibling of rest) {
    if (last === 0) return undefined;
    if (at % 2 === 1 || at === last) {
      left = sha(one, sibling, left);
      right = sha(one, sibling, right);
      while (at % 2 === 0 && at !== 0) [at, last] = [Math.floor(at / 2), Math.floor(last / 2)];
    } else right = sha(one, right, sibling);
    [at, last] = [Math.floor(at / 2), Math.floor(last / 2)];
  }
  return last === 0 ? [left.toString("hex"), right.toString("hex")] : undefined;
}

const texts = (size: number): string[] => Array.from({ length: size }, (_, index) => `ö${index}`);
const grown = (of: readonly string[]): Frontier => {
  const frontier = new Frontier();
  for (const leaf of of) frontier.append(leafHash(leaf));
  return frontier;
};

describe("the Merkle tree", () => {
  it("has the roots that are known of it", () => {
    expect(roots.map((_, size) => grown(leaves.slice(0, size)).root())).toEqual(roots);
  });

  it("proves each leaf of each size, and that it only grew, by the procedures of the RFC", { tags: "long" }, () => {
    for (let size = 1; size <= 40; size += 1) {
      const of = texts(size);
      const bytes = of.map((text) => Buffer.from(text));
      const rootOf = (from: number, to: number): string => treeHash(bytes.slice(from, to)).toString("hex");
      const root = grown(of).root();
      expect(root).toBe(rootOf(0, size));
      for (const [index, leaf] of bytes.entries())
        expect(rootBy(sha(zero, leaf), index, size, inclusionPath(index, size, rootOf)), `${index} of ${size}`).toBe(
          root,
        );
      for (let before = 1; before < size; before += 1)
        expect(
          rootsBy(before, size, rootOf(0, before), consistencyPath(before, size, rootOf)),
          `${before} to ${size}`,
        ).toEqual([rootOf(0, before), root]);
    }
  });

  it("goes on from what was kept of it, and tells each complete subtree once", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 300 }), (kept, more) => {
        const of = texts(kept + more);
        const { size, roots: those } = grown(of.slice(0, kept));
        const frontier = new Frontier({ size, roots: those });
        const told: string[] = [];
        for (const leaf of of.slice(kept)) {
          const tile = frontier.append(leafHash(leaf), 3);
          if (tile !== undefined) told.push(tile);
        }
        const meant: string[] = [];
        for (let end = 8; end <= of.length; end += 8) if (end > kept) meant.push(grown(of.slice(end - 8, end)).root());
        expect([frontier.root(), told]).toEqual([grown(of).root(), meant]);
      }),
      { numRuns: 60 },
    );
  });
});
