import { sql } from "kysely";
import type { Kysely } from "kysely";

const statements = [
  // Whose an asset number was before it went to another unit: what was so then stays so for the months of then.
  `create table earlier_number (
     wire_number text not null, left_at text not null, fixed_at text not null, ended_at text,
     namespace text not null, order_id text not null, instance_id text not null, unit integer,
     customer_namespace text not null, customer_id text not null,
     primary key (wire_number, left_at)
   ) strict, without rowid`,
  `create index earlier_number_of_order on earlier_number (namespace, order_id)`,
  // Of numbers that went on before, the step that took the unit away says whose they were.
  `insert into earlier_number (wire_number, left_at, fixed_at, ended_at, namespace, order_id, instance_id, unit,
     customer_namespace, customer_id)
   select n.wire_number, s.at, coalesce((select min(p.from_at) from placed_order p
       where p.namespace = s.namespace and p.order_id = s.order_id), s.at), s.at, s.namespace, s.order_id,
     i.value ->> 'instanceId', i.value ->> 'unit', s.customer_namespace, s.customer_id
   from order_step s, json_each(s.items) i
   join asset_number n on n.wire_number = i.value ->> 'number' and n.fixed_at is not null
   where s.kind = 'removed' and i.value ->> 'product' is null and n.fixed_at > s.at
     and (n.namespace, n.order_id, n.instance_id, coalesce(n.unit, -1))
       <> (s.namespace, s.order_id, i.value ->> 'instanceId', i.value ->> 'unit')
   on conflict do nothing`,
];

/** Whose asset numbers were before they went to other units. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
