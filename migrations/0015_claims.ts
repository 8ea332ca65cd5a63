import { sql } from "kysely";
import type { Kysely } from "kysely";

/**
 * The number that an operation claims for itself alone stands in a column: an index over what JSON holds reads that
 * JSON whenever a row comes, changes or goes. What is done or dropped is never open again.
 */
const statements = [
  `drop index operation_open_enterprise`,
  `drop index operation_open_order`,
  `alter table operation add column claim text`,
  `update operation set claim = json_extract(target, '$.channelCustomerId')
     where kind in ('create-enterprise', 'bind-enterprise') and state not in ('done', 'dropped')
       and json_valid(target)`,
  `update operation set claim = json_extract(payload, '$.channelOrderId')
     where kind = 'place-order' and state not in ('done', 'dropped') and json_valid(payload)`,
  `create index operation_open_claim on operation (claim) ` +
    `where state in ('sending', 'unknown', 'parked') and claim is not null`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
