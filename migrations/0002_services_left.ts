import { sql } from "kysely";
import type { Kysely } from "kysely";

const statements = [
  // Services that are left alone after failures; a row goes when the service answers again.
  `create table service_left (service text primary key, since text not null, reason text not null, ` +
    `probe_at text not null) strict, without rowid`,
  // JSON: rows of each set of files that are joined, by its name.
  `alter table source_read add column details text`,
  `create index if not exists link_by_channel on link (channel_customer_id) where to_at is null`,
  `create index if not exists protected_member_by_enterprise on protected_member (enterprise_global_id)`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
