import type { Sqlite } from "../database/database.ts";
import { format, storedRoots, tileLeaves } from "./audit-log.ts";
import { Frontier, leftHalf, nodeHash } from "./merkle-log.ts";
import type { SubtreeRoot } from "./merkle-log.ts";
import { unreadableRow } from "../database/damage.ts";
import type { AuditTileTable, AuditTreeTable } from "./tables.ts";
import type { AuditRecord } from "./verify-log.ts";

/** What keeps entries and tree from being changed, by anybody who writes through the database. */
const guards = [
  "audit_refuses_update before update on audit begin select raise(abort, 'audit entries are never changed'); end",
  "audit_refuses_delete before delete on audit begin select raise(abort, 'audit entries are never deleted'); end",
  `audit_appends_only before insert on audit
     when new.sequence <> (select coalesce(max(sequence), 0) + 1 from audit)
       or new.previous <> coalesce((select hash from audit order by sequence desc limit 1), '')
     begin select raise(abort, 'audit entries are only appended'); end`,
  `audit_needs_salt before insert on audit when new.format <> ${format} or length(new.salt) <> 32
     begin select raise(abort, 'audit entries have a salt'); end`,
  `audit_tree_only_grows before update on audit_tree when new.size <= old.size
     begin select raise(abort, 'the audit tree only grows'); end`,
  "audit_tree_refuses_delete before delete on audit_tree begin select raise(abort, 'the audit tree only grows'); end",
  "audit_tile_refuses_update before update on audit_tile begin select raise(abort, 'the audit tree only grows'); end",
  "audit_tile_refuses_delete before delete on audit_tile begin select raise(abort, 'the audit tree only grows'); end",
];

/** The tables of entries and tree, and the index by which the entries about an order are found. */
const made = [
  `table audit (sequence integer primary key, format integer not null, at text not null, kind text not null,
     subject text not null, body text not null, previous text not null, hash text not null,
     salt text not null) strict`,
  `table audit_tree (only_one integer primary key check (only_one = 1), size integer not null,
     roots text not null) strict`,
  "table audit_tile (number integer primary key, root text not null) strict",
  "index audit_by_subject on audit (subject, sequence)",
];

/** A statement without what SQLite does not look at. */
function bare(statement: string): string {
  return statement.toLowerCase().replaceAll(/[\s"]+/gu, "");
}

/** What stands in the schema of a database. */
interface SchemaRow {
  name: string;
  sql: string;
}

/** Guards that are not there as they were made, and what else of the audit tables is gone, other, or there beside. */
function schemaOf(database: Sqlite): Pick<AuditRecord, "guardsMissing" | "schemaChanged"> {
  const there = database
    .prepare<[], SchemaRow>(
      `select name, sql from sqlite_schema
       where sql is not null and lower(tbl_name) in ('audit', 'audit_tree', 'audit_tile')`,
    )
    .all();
  const found = new Set(there.map(({ sql }) => bare(sql)));
  const lacking = (of: readonly string[], word: string): string[] =>
    of.filter((statement) => !found.has(bare(`create ${word}${statement}`)));
  const guardsMissing = lacking(guards, "trigger ").map((guard) => guard.split(" ", 1)[0] ?? "");
  const others = lacking(made, "").map((statement) => statement.split(" ", 2)[1] ?? "");
  const own = new Set(
    [...guards.map((guard) => `create trigger ${guard}`), ...made.map((one) => `create ${one}`)].map(bare),
  );
  const beside = there.filter(({ name, sql }) => !own.has(bare(sql)) && !guardsMissing.includes(name));
  return { guardsMissing, schemaChanged: [...new Set([...others, ...beside.map(({ name }) => name)])] };
}

/** The Merkle tree as the database keeps it, and what of its schema is not as it was made. */
export function keptOf(database: Sqlite): Required<Pick<AuditRecord, "tree" | "guardsMissing" | "schemaChanged">> {
  const row = treeRow(database);
  const tiles = database.prepare<[], AuditTileTable>("select number, root from audit_tile order by number").all();
  const { guardsMissing = [], schemaChanged = [] } = schemaOf(database);
  return {
    tree: {
      row: row ?? noTree,
      tiles: tiles.map(({ number, root }, index) => (number === index ? root : "")),
    },
    guardsMissing,
    schemaChanged,
  };
}

/** A row that is gone says nothing of any entry. */
const noTree = { size: 0, roots: "" };

function treeRow(database: Sqlite): AuditTreeTable | undefined {
  return database.prepare<[], AuditTreeTable>("select * from audit_tree where only_one = 1").get();
}

/** The tree as it ended with an entry that is there. */
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

/** The tree as proofs are made of it. */
export interface ProvenTree {
  size: number;
  root: string;
  rootOf: SubtreeRoot;
}

/**
 * The tree of a database, read where a proof needs it: from the roots of complete subtrees, and from the entries of one
 * that is not complete. Everything is of one state where the caller holds one.
 */
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
