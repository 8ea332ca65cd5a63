import { sql } from "kysely";
import type { RecordKey } from "../crm/model.ts";
import { ofEachCustomer } from "./read-only-ledger.ts";
import type { ReadOnlyLedger } from "./read-only-ledger.ts";

/** Units of a customer's orders that have the numbers of earlier ones, as the steps of the orders say. */
export const renewedUnits = ofEachCustomer(({ db }, customer) =>
  db
    .selectFrom("order_step as s")
    .innerJoin(sql<{ value: string }>`json_each(s.items)`.as("i"), (join) => join.onTrue())
    .innerJoin("asset_number as n", (join) => join.on(sql<boolean>`n.wire_number = i.value ->> 'number'`))
    .select(["n.wire_number", "s.namespace", "s.order_id"])
    .select(sql<number>`i.value ->> 'unit'`.as("unit"))
    .select(sql<string>`i.value ->> 'instanceId'`.as("instance_id"))
    .distinct()
    .where("s.customer_namespace", "=", customer.namespace)
    .where("s.customer_id", "=", customer.id)
    .where("s.forgotten_at", "is", null)
    .where("s.kind", "=", sql.lit("bought"))
    .where(sql<boolean>`i.value ->> 'continues' is not null`)
    .where("n.fixed_at", "is not", null)
    .where("n.ended_at", "is", null)
    .orderBy("unit"),
);

/** Units of an order that have the numbers of earlier ones, and since when. */
export async function renewedNumbers({ db }: ReadOnlyLedger, order: RecordKey) {
  return await db
    .selectFrom("order_step as s")
    .innerJoin(sql<{ value: string }>`json_each(s.items)`.as("i"), (join) => join.onTrue())
    .innerJoin("asset_number as n", (join) => join.on(sql<boolean>`n.wire_number = i.value ->> 'number'`))
    .select(["n.origin", "s.at as fixedAt", "n.ended_at as endedAt", "s.operation_id as operationId"])
    .select(["n.customer_namespace", "n.customer_id"])
    .select(sql<string>`i.value ->> 'number'`.as("number"))
    .select(sql<string>`i.value ->> 'instanceId'`.as("instanceId"))
    .select(sql<number>`i.value ->> 'unit'`.as("slot"))
    .where("s.namespace", "=", order.namespace)
    .where("s.order_id", "=", order.id)
    .where("s.forgotten_at", "is", null)
    .where("s.kind", "=", "bought")
    .where(sql<boolean>`i.value ->> 'continues' is not null`)
    .where("n.fixed_at", "is not", null)
    .orderBy("s.number")
    .execute();
}
