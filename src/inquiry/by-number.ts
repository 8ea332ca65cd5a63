import { sql } from "kysely";
import { parseKey } from "../crm/keys.ts";
import type { RecordKey, Stream } from "../crm/model.ts";
import { mostFound } from "../report/explain.ts";
import type { ReadOnlyLedger } from "./read-only-ledger.ts";

/** A number that the platform or this ledger gave. */
export type NumberKind = "channel order number" | "licence order" | "channel customer number" | "enterprise" | "member";

/** With its namespace before it, or in any: the namespaces of a stream are few, and each is looked up in the index. */
export async function byId({ db }: ReadOnlyLedger, stream: Stream, text: string): Promise<RecordKey[]> {
  const { namespace, id } = text.includes("/") ? parseKey(text) : { namespace: "", id: text };
  const { rows } = await sql<RecordKey>`
    with recursive one (namespace) as (
      select min(namespace) from record where stream = ${stream} and namespace > ''
      union all
      select (select min(r.namespace) from record r where r.stream = ${stream} and r.namespace > one.namespace)
        from one where one.namespace is not null)
    select r.namespace, r.id from one cross join record r
      on r.stream = ${stream} and r.namespace = one.namespace and (r.id = ${text}
        or r.id = ${id} and r.namespace = ${namespace})
      order by r.namespace, r.id limit ${mostFound}`.execute(db);
  return rows;
}

/** By a number that the platform or this ledger gave. */
export async function byNumber(
  { db }: ReadOnlyLedger,
  stream: Stream,
  number: string,
): Promise<(RecordKey & { by: NumberKind })[]> {
  const named = (by: NumberKind) => sql<NumberKind>`${sql.lit(by)}`.as("by");
  if (stream === "staff")
    return await db
      .selectFrom("staff_link")
      .select(["namespace", "staff_id as id", named("member")])
      .where("member_global_id", "=", number)
      .where("to_at", "is", null)
      .execute();
  if (stream === "customers") {
    const links = db.selectFrom("link").select(["namespace", "customer_id as id"]).where("to_at", "is", null);
    return await links
      .select(named("enterprise"))
      .where("enterprise_global_id", "=", number)
      .unionAll(links.select(named("channel customer number")).where("channel_customer_id", "=", number))
      .limit(mostFound)
      .execute();
  }
  return await db
    .selectFrom("placed_order")
    .select(["namespace", "order_id as id", named("channel order number")])
    .where("channel_order_id", "=", number)
    .where("to_at", "is", null)
    .unionAll(
      db
        .selectFrom("amendment_number")
        .select(["namespace", "order_id as id", named("channel order number")])
        .where("channel_order_id", "=", number),
    )
    .unionAll(
      db
        .selectFrom("licence_order")
        .select(["namespace", "order_id as id", named("licence order")])
        .where("license_order_id", "=", number),
    )
    .limit(mostFound)
    .execute();
}
