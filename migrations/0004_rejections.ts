import { sql } from "kysely";
import type { Kysely } from "kysely";

const statements = [
  // What a service refused and what is not sent again as it was: one row for each record and operation that was
  // refused. `version` is the record's, `settings` a fingerprint; `shared`: refused together with others, so that it is
  // not known whose fault it was; `asked`: somebody, or a change of the settings, wants it tried once more.
  `create table rejection (
    stream text not null, namespace text not null, record_id text not null, kind text not null, hash text not null,
    customer_namespace text not null, customer_id text not null, version integer not null, settings text not null,
    operation_id text not null, code text not null, reason text not null, at text not null,
    shared integer not null default 0, asked integer not null default 0,
    primary key (stream, namespace, record_id, kind, hash)
  ) strict, without rowid`,
  `create index rejection_by_customer on rejection (customer_namespace, customer_id)`,
  `create index rejection_standing on rejection (settings) where asked = 0`,
  // What was refused before has no row here that could wake it: it is planned once by the rules of now.
  `update record set pending = 1 where deferred_code in ('operation.rejected', 'staff.refused')`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
