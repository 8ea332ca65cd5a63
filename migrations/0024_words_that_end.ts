import { sql } from "kysely";
import type { Kysely } from "kysely";

/** What is counted by the limits of days. A statement has to repeat the condition of an index word for word. */
const counted = `(takes_away > 0 or weight is not null) and approved = 0
  and state in ('sending', 'unknown', 'parked', 'done')`;

const statements = [
  // An operation that is not meant any more, or was carried out: no hold and no word of a person on it counts then.
  `alter table hold_operation add column ended_at text`,
  // The records that an operation is about: where they say something else, it is not meant any more.
  `alter table hold_operation add column records text`,

  // Holds whose operations had been given up when holds began to name theirs: each run held the same set anew.
  `create temporary table of_hold as
     select o.hold_id, o.hash, o.kind, o.takes_away, o.records, max(o.id) as id
     from operation o join hold h on h.id = o.hold_id
     where h.state in ('open', 'approved', 'rejected') group by o.hold_id, o.hash`,
  `create index temp.of_hold_hash on of_hold (hold_id, hash)`,
  `create temporary table nameless as
     select h.id from hold h where h.state in ('open', 'approved', 'rejected')
       and not exists (select 1 from hold_operation i where i.hold_id = h.id)`,
  `insert into hold_operation (hold_id, hash, kind, scope, reason)
     select n.id, o.hash, o.kind, h.scope, h.explanation from nameless n
     join of_hold o on o.hold_id = n.id and o.takes_away > 0 join hold h on h.id = n.id`,
  `insert into approved_operation (kind, hash, hold_id, at, by)
     select i.kind, i.hash, h.id, coalesce(h.decided_at, h.created_at), coalesce(h.decided_by, '')
     from nameless n join hold h on h.id = n.id join hold_operation i on i.hold_id = n.id
     where h.state = 'approved' on conflict do nothing`,
  `update hold_operation set records = (
       select o.records from of_hold o where o.hold_id = hold_operation.hold_id and o.hash = hold_operation.hash)`,
  `drop table nameless`,
  `drop table of_hold`,

  // What was approved and carried out is not to be asked for by its old approval, nor kept from by a rejection.
  `update hold_operation set ended_at = (
       select a.used_at from approved_operation a
       where a.kind = hold_operation.kind and a.hash = hold_operation.hash and a.hold_id = hold_operation.hold_id)`,

  // What was carried out under a hold that a person had approved, before operations said so of themselves.
  `create temporary table approved_before as
     select h.customer_namespace, h.customer_id, o.hash, min(h.created_at) as since, max(h.decided_at) as until
     from operation o join hold h on h.id = o.hold_id
     where h.state = 'used' group by h.customer_namespace, h.customer_id, o.hash`,
  `create index temp.approved_before_hash on approved_before (customer_namespace, customer_id, hash)`,
  `update operation set approved = 1
     where takes_away > 0 and approved = 0 and state in ('sending', 'unknown', 'parked', 'done')
       and exists (select 1 from approved_before b where b.customer_namespace = operation.customer_namespace
         and b.customer_id = operation.customer_id and b.hash = operation.hash
         and operation.created_at between b.since and b.until)`,
  `drop table approved_before`,

  // What goes along with something that is replaced is counted too, although nothing of its own kind is taken.
  `drop index operation_taking`,
  `create index operation_taking on operation (updated_at) where ${counted}`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
