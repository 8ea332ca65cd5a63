import { sql } from "kysely";
import type { Kysely } from "kysely";

/**
 * Each commit writes a page of every index that it touches. What the others find as well has no index of its own, and
 * what is usual stands in none that only looks for what is not. A statement has to repeat the condition of an index
 * word for word.
 */
const statements = [
  // What is open and what waits has an index each; a customer is found by what it has open.
  `drop index operation_by_state`,
  `drop index operation_dirty`,
  `drop index operation_by_customer`,
  `create index operation_of_pool on operation (created_at) where customer_id = ''`,
  // A state that changes does not move the entry of its run.
  `drop index operation_by_run`,
  `create index operation_by_run on operation (run_id)`,

  // An operation says itself which records it is for; the table finds the operations of a record.
  `alter table operation add column records text not null default '[]'`,
  `update operation set records = (select json_group_array(json_object(` +
    `'stream', r.stream, 'namespace', r.namespace, 'id', r.record_id)) from (select * from operation_record ` +
    `where operation_id = operation.id order by stream, namespace, record_id) r)`,
  `drop index operation_record_by_operation`,

  // The key of the table finds the versions of a customer, the newest first.
  `drop index link_current`,
  `drop index acknowledged_current`,

  // Most records are decided on by the run that they changed in, which has an index.
  `drop index record_by_outcome`,
  `create index record_by_later_outcome on record (outcome_run) ` +
    `where outcome_run is not null and outcome_run is not changed_run`,

  // By the enterprise that they are looked for by.
  `create table protected_member_anew (
    enterprise_global_id text not null, member_global_id text not null, reason text not null, ` +
    `seen_at text not null, primary key (enterprise_global_id, member_global_id)
  ) strict, without rowid`,
  `insert into protected_member_anew (enterprise_global_id, member_global_id, reason, seen_at)
   select enterprise_global_id, member_global_id, reason, seen_at from protected_member order by 1, 2`,
  `drop table protected_member`,
  `alter table protected_member_anew rename to protected_member`,

  // A record that is no longer pending stays in its row of the tally.
  `drop trigger tally_record_update`,
  `create trigger tally_record_pending after update of pending on record
     when old.pending <> new.pending and old.state = new.state and old.stream = new.stream begin ` +
    `update record_tally set pending = pending + new.pending - old.pending ` +
    `where stream = new.stream and state = new.state; end`,
  `create trigger tally_record_moved after update of state, stream on record
     when old.state <> new.state or old.stream <> new.stream begin ` +
    `update record_tally set count = count - 1, pending = pending - old.pending ` +
    `where stream = old.stream and state = old.state; ` +
    `insert into record_tally (stream, state, count, pending) values (new.stream, new.state, 1, new.pending)
     on conflict (stream, state) do update set count = count + 1, pending = pending + excluded.pending; end`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
