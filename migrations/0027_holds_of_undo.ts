import { sql } from "kysely";
import type { Kysely } from "kysely";

/**
 * What taking a run back holds of a customer stands beside what runs hold of it: neither ends the other, nor what a
 * person approved of it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [
    `alter table hold add column of_undo integer not null default 0`,
    `update hold set of_undo = 1 where state in ('open', 'approved') and exists (
       select 1 from operation where operation.hold_id = hold.id and operation.state = 'held'
         and operation.plan_id is not null)`,
    `drop index hold_open`,
    `create unique index hold_open on hold (customer_namespace, customer_id, of_undo)
       where state in ('open', 'approved')`,
  ])
    await sql.raw(statement).execute(db);
}
