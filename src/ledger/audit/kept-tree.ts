import type { Sqlite } from "../database/database.ts";
import {
  storedRoots,
  tileLeaves,
  tileLevel,
  type AuditRow,
  Frontier,
  leftHalf,
  nodeHash,
  type SubtreeRoot,
} from "./audit-log.ts";
import { unreadableRow } from "../database/damage.ts";
import { schemaDifferences } from "../database/schema.ts";
import type { AuditTileTable, AuditTreeTable } from "./tables.ts";
import type { AuditRecord } from "./verify-log.ts";

export function keptOf(database: Sqlite): Required<Pick<AuditRecord, "tree" | "guardsMissing" | "schemaChanged">> {
  const row = treeRow(database);
  const tiles = database.prepare<[], AuditTileTable>("select number, root from audit_tile order by number").all();
  return {
    tree: {
      row: row ?? noTree,
      tiles: tiles.map(({ number, root }, index) => (number === index ? root : "")),
    },
    ...schemaDifferences(database),
  };
}

const noTree = { size: 0, roots: "" };

function treeRow(database: Sqlite): AuditTreeTable | undefined {
  return database.prepare<[], AuditTreeTable>("select * from audit_tree where only_one = 1").get();
}

export function treeEndingWith(database: Sqlite, sequence: number): AuditTreeTable {
  const { rootOf } = provenTree(database);
  const roots: string[] = [];
  for (let from = 0; from < sequence;) {
    let count = 1;
    while (from + count * 2 <= sequence) count *= 2;
    roots.push(rootOf(from, from + count));
    from += count;
  }
  return { only_one: 1, size: sequence, roots: JSON.stringify(roots) };
}

export interface ProvenTree {
  size: number;
  root: string;
  rootOf: SubtreeRoot;
}

/** Reads only the stored roots and entries that a proof needs. The caller must hold one transaction. */
export function provenTree(database: Sqlite): ProvenTree {
  const row = treeRow(database);
  if (row === undefined) throw unreadableRow("audit_tree", "1", "size");
  const { size } = row;
  const tile = database.prepare<[number], string>("select root from audit_tile where number = +?").pluck();
  const hashes = database
    .prepare<[number, number], string>(
      "select hash from audit where sequence > +? and sequence <= +? order by sequence",
    )
    .pluck();
  const rootOf: SubtreeRoot = (from, to) => {
    const count = to - from;
    if (count === tileLeaves) {
      const root = tile.get(from / tileLeaves);
      if (root === undefined) throw unreadableRow("audit_tile", `${from / tileLeaves}`, "root");
      return root;
    }
    if (count < tileLeaves) {
      const frontier = new Frontier();
      for (const leaf of hashes.all(from, to)) frontier.append(leaf);
      if (frontier.size !== count) throw unreadableRow("audit", `after ${from}`, "hash");
      return frontier.root();
    }
    const middle = from + leftHalf(count);
    return nodeHash(rootOf(from, middle), rootOf(middle, to));
  };
  return {
    size,
    root: new Frontier({ size, roots: storedRoots(row) }).root(),
    rootOf,
  };
}

/** The state of the log, as an export writes it between entries. */
export interface TreeCheckpoint {
  entries: number;
  size: number;
  root: string;
}

export class RecordTree {
  readonly leaves = new Frontier();
  readonly tiles: string[] = [];

  take({ hash }: Pick<AuditRow, "hash">): void {
    const tile = this.leaves.append(hash, tileLevel);
    if (tile !== undefined) this.tiles.push(tile);
  }

  checkpoint(): TreeCheckpoint {
    const { size } = this.leaves;
    return { entries: size, size, root: this.leaves.root() };
  }
}
