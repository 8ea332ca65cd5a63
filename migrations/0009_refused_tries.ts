import { sql } from "kysely";
import type { Kysely } from "kysely";

const statements = [
  // How often it was refused with the same code under the same settings, since somebody asked for it last.
  `alter table rejection add column tries integer not null default 1`,
  // Refusals in words alone, which may pass.
  `create index rejection_passing on rejection (tries) where asked = 0 and code = 'staff.refused'`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
