import { sql } from "kysely";
import type { Kysely } from "kysely";

/** Products of an order row, as far as it stands: none where it has ended, or where they are not known. */
const standing = (row: string): string => `iif(${row}.to_at is null, coalesce(${row}.products, 0), 0)`;
const add = (change: string): string => `begin update tally set count = count + ${change} where name = 'product'; end`;

const statements = [
  // What a hold holds, and what of it a person approved. One operation that is approved twice counts once.
  `create table hold_operation (
     hold_id text not null, hash text not null, kind text not null, scope text not null, reason text not null, ` +
    `primary key (hold_id, hash)
   ) strict, without rowid`,
  `create table approved_operation (
     kind text not null, hash text not null, hold_id text not null, at text not null, by text not null, ` +
    `used_at text, primary key (kind, hash)
   ) strict, without rowid`,
  // Of holds that stand: what is held under each, and was approved with it.
  `insert into hold_operation (hold_id, hash, kind, scope, reason)
     select h.id, o.hash, o.kind, h.scope, h.explanation from hold h
     join operation o on o.hold_id = h.id and o.state = 'held' and o.takes_away > 0
     where h.state in ('open', 'approved') group by h.id, o.hash`,
  `insert into approved_operation (kind, hash, hold_id, at, by)
     select i.kind, i.hash, h.id, coalesce(h.decided_at, h.created_at), coalesce(h.decided_by, '') from hold h
     join hold_operation i on i.hold_id = h.id where h.state = 'approved' group by i.kind, i.hash`,

  // What an operation takes away in the units of the business, and whether a person approved it. A statement has to
  // repeat the condition of an index word for word.
  `alter table operation add column weight text`,
  `alter table operation add column approved integer not null default 0`,
  `create index operation_taking on operation (updated_at) ` +
    `where takes_away > 0 and approved = 0 and state in ('sending', 'unknown', 'parked', 'done')`,

  // How many products stand of an order: each once for every number of its asset, those of packages included.
  `alter table placed_order add column products integer`,
];

const tallies = [
  `insert into tally (name, count)
     select 'product', coalesce(sum(products), 0) from placed_order where to_at is null`,
  `create trigger tally_product_insert after insert on placed_order
     when ${standing("new")} <> 0 ${add(standing("new"))}`,
  `create trigger tally_product_delete after delete on placed_order when ${standing("old")} <> 0 ` +
    add(`(0 - ${standing("old")})`),
  `create trigger tally_product_update after update of to_at, products on placed_order
     when ${standing("new")} <> ${standing("old")} ${add(`(${standing("new")} - ${standing("old")})`)}`,

  // People whom we made no account for: all others of the tally of links have one of ours.
  `insert into tally (name, count)
     select 'staff_link adopted', count(*) from staff_link where to_at is null and origin = 'adopted'`,
  ...adopted("insert", "insert", "new.to_at is null and new.origin = 'adopted'", "+ 1"),
  ...adopted("delete", "delete", "old.to_at is null and old.origin = 'adopted'", "- 1"),
  ...adopted("end", "update of to_at", "old.to_at is null and new.to_at is not null and new.origin = 'adopted'", "- 1"),
  ...adopted(
    "begin",
    "update of to_at",
    "new.to_at is null and old.to_at is not null and new.origin = 'adopted'",
    "+ 1",
  ),
];

function adopted(name: string, event: string, when: string, change: string): string[] {
  return [
    `create trigger tally_staff_link_adopted_${name} after ${event} on staff_link when ${when} ` +
      `begin update tally set count = count ${change} where name = 'staff_link adopted'; end`,
  ];
}

interface Instance {
  kind?: string;
  id?: string;
  parentId?: string;
  quantity?: number;
}

/** The products of an order's form, each once for every number of its asset. */
function productUnits(instances: readonly Instance[]): number {
  const byId = new Map(instances.filter(({ kind }) => kind === "asset" || kind === "package").map((it) => [it.id, it]));
  let count = 0;
  for (const product of instances) {
    if (product.kind !== "product") continue;
    let holder = byId.get(product.parentId);
    // No chain of packages is longer than the order has instances; a circle of them hangs under no asset.
    for (let step = 0; holder?.kind === "package" && step < instances.length; step += 1)
      holder = byId.get(holder.parentId);
    if (holder?.kind === "asset") count += holder.quantity ?? 0;
  }
  return count;
}

/** Orders looked at together. */
const page = 1_000;

/** Says of each order how many products stand of it, by the form that it was placed with; none where that is gone. */
async function countProducts(db: Kysely<unknown>): Promise<void> {
  let [namespace, order, from] = ["", "", ""];
  for (;;) {
    const { rows } = await sql<{ namespace: string; order_id: string; from_at: string; instances: string | null }>`
      select p.namespace, p.order_id, p.from_at, iif(json_valid(v.body), v.body ->> '$.instances', null) as instances
      from placed_order p left join record_version v on v.stream = 'orders' and v.namespace = p.namespace
        and v.id = p.order_id and v.version = p.version
      where (p.namespace, p.order_id, p.from_at) > (${namespace}, ${order}, ${from})
      order by p.namespace, p.order_id, p.from_at limit ${page}`.execute(db);
    for (const row of rows) {
      const instances: unknown = JSON.parse(row.instances ?? "[]");
      const products = Array.isArray(instances) ? productUnits(instances) : 0;
      [namespace, order, from] = [row.namespace, row.order_id, row.from_at];
      await sql`update placed_order set products = ${products}
        where namespace = ${namespace} and order_id = ${order} and from_at = ${from}`.execute(db);
    }
    if (rows.length < page) return;
  }
}

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
  await countProducts(db);
  for (const statement of tallies) await sql.raw(statement).execute(db);
}
