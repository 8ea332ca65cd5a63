import { hash } from "node:crypto";
import { sql } from "kysely";
import type { Kysely } from "kysely";

const statements = [
  // Random, in the text of an entry: who is shown the hash of one cannot find out by trying what it says.
  `alter table audit add column salt text not null default ''`,
  // A program of the version before that is still open writes no entry any more.
  `create trigger audit_refuses_older before insert on audit when new.format < 2 or length(new.salt) <> 32 begin ` +
    `select raise(abort, 'audit entries of the format before are written no more'); end`,
  // The Merkle tree over the audit entries, as far as it has grown: the roots of its complete subtrees. Entries of the
  // format before it are a chain, of which the number and the last hash are its first leaf.
  `create table audit_tree (
     only_one integer primary key check (only_one = 1), chain_entries integer not null, chain_hash text not null, ` +
    `size integer not null, roots text not null
   ) strict`,
  // The roots of its complete subtrees of 256 leaves.
  `create table audit_tile (number integer primary key, root text not null) strict`,
  `create trigger audit_tile_refuses_update before update on audit_tile begin ` +
    `select raise(abort, 'the audit tree only grows'); end`,
  `create trigger audit_tile_refuses_delete before delete on audit_tile begin ` +
    `select raise(abort, 'the audit tree only grows'); end`,
  `create trigger audit_tree_only_grows before update on audit_tree when new.size <= old.size ` +
    `or new.chain_entries <> old.chain_entries or new.chain_hash <> old.chain_hash begin ` +
    `select raise(abort, 'the audit tree only grows'); end`,
  `create trigger audit_tree_refuses_delete before delete on audit_tree begin ` +
    `select raise(abort, 'the audit tree only grows'); end`,
];

interface Entry {
  sequence: number;
  format: number;
  at: string;
  kind: string;
  subject: string;
  body: string;
  previous: string;
  hash: string;
}

const pageSize = 1_000;

/** The number of entries and the hash of the last one. Throws where the chain of them is not whole. */
async function verifiedChain(db: Kysely<unknown>): Promise<{ entries: number; last: string }> {
  let entries = 0;
  let last = "";
  for (;;) {
    const { rows } = await sql<Entry>`select * from audit where sequence > ${entries} order by sequence
      limit ${pageSize}`.execute(db);
    if (rows.length === 0) return { entries, last };
    for (const { format, sequence, at, kind, subject, body, previous, hash: own } of rows) {
      const meant = hash("sha256", JSON.stringify([format, sequence, at, kind, subject, body, previous]), "hex");
      if (format !== 1 || sequence !== entries + 1 || previous !== last || own !== meant)
        throw new Error(`the audit record is not whole: entry ${entries + 1} was changed, or is missing`);
      entries += 1;
      last = own;
    }
  }
}

/** Makes audit entries the leaves of a Merkle tree (RFC 9162); a leaf is hashed with 0x00 before it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { entries, last } = await verifiedChain(db);
  for (const statement of statements) await sql.raw(statement).execute(db);
  const leaf = `\u0000${JSON.stringify(["chain", 1, entries, last])}`;
  const leaves = entries === 0 ? [] : [hash("sha256", leaf, "hex")];
  await sql`insert into audit_tree (only_one, chain_entries, chain_hash, size, roots)
    values (1, ${entries}, ${last}, ${leaves.length}, ${JSON.stringify(leaves)})`.execute(db);
}
