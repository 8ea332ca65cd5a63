import type { Sqlite } from "../database/database.ts";
import { chainLeaf, lastEntryOf, storedRoots, tileLeaves } from "./audit-log.ts";
import { Frontier, leftHalf, nodeHash } from "./merkle-log.ts";
import type { SubtreeRoot } from "./merkle-log.ts";
import type { AuditTreeTable } from "./tables.ts";
import type { AuditRecord } from "./verify-log.ts";

/** What keeps entries and tree from being changed, by anybody who writes through the database. */
const guards = [
  "audit_refuses_update",
  "audit_refuses_delete",
  "audit_appends_only",
  "audit_tree_only_grows",
  "audit_tree_refuses_delete",
  "audit_tile_refuses_update",
  "audit_tile_refuses_delete",
];

/** The Merkle tree as the database keeps it, and which of its guards are gone. */
export function keptOf(database: Sqlite): Required<Pick<AuditRecord, "tree" | "guardsMissing">> {
  const row = treeRow(database);
  const tiles = database.prepare<[], string>("select root from audit_tile order by number").pluck().all();
  const there = database.prepare<[], string>("select name from sqlite_master where type = 'trigger'").pluck().all();
  const tree = { row: row ?? noTree, roots: row === undefined ? [] : storedRoots(row), tiles };
  return { tree, guardsMissing: guards.filter((guard) => !there.includes(guard)) };
}

/** A row that is gone says nothing of any entry. */
const noTree = { chain_entries: 0, chain_hash: "", size: 0 };

function treeRow(database: Sqlite): AuditTreeTable | undefined {
  return database.prepare<[], AuditTreeTable>("select * from audit_tree where only_one = 1").get();
}

/** The tree as proofs are made of it. */
export interface ProvenTree {
  size: number;
  root: string;
  /** Entries before the tree, of which its first leaf says the number and the last hash. */
  chainEntries: number;
  /** Which leaf an entry is; undefined for one from before the tree. */
  leafOf: (sequence: number) => number | undefined;
  rootOf: SubtreeRoot;
}

/**
 * The tree of a database, read where a proof needs it: from the roots of complete subtrees, and from the entries of one
 * that is not complete. Everything is of one state where the caller holds one.
 */
export function provenTree(database: Sqlite): ProvenTree {
  const row = treeRow(database) ?? { ...noTree, only_one: 1, roots: "[]" };
  const { size, chain_entries: chainEntries } = row;
  const tile = database.prepare<[number], string>("select root from audit_tile where number = +?").pluck();
  const hashes = database
    .prepare<[number, number], string>(
      "select hash from audit where sequence > +? and sequence <= +? order by sequence",
    )
    .pluck();
  const leaves = (from: number, to: number): string[] => {
    const isFirst = from === 0 && chainEntries > 0;
    const first = isFirst ? [chainLeaf({ entries: chainEntries, hash: row.chain_hash })] : [];
    return [...first, ...hashes.all(isFirst ? chainEntries : lastEntryOf(row, from), lastEntryOf(row, to))];
  };
  const rootOf: SubtreeRoot = (from, to) => {
    const count = to - from;
    if (count === tileLeaves) return tile.get(from / tileLeaves) ?? "";
    if (count < tileLeaves) {
      const frontier = new Frontier();
      for (const leaf of leaves(from, to)) frontier.append(leaf);
      return frontier.root();
    }
    const middle = from + leftHalf(count);
    return nodeHash(rootOf(from, middle), rootOf(middle, to));
  };
  return {
    size,
    root: new Frontier({ size, roots: storedRoots(row) }).root(),
    chainEntries,
    leafOf: (sequence) => {
      if (sequence <= chainEntries) return undefined;
      return chainEntries === 0 ? sequence - 1 : sequence - chainEntries;
    },
    rootOf,
  };
}
