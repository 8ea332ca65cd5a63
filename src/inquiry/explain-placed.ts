import { sql } from "kysely";
import type { RecordKey } from "../crm/model.ts";
import type { ExplainFacts } from "../report/explain.ts";
import type { ReadOnlyLedger } from "./read-only-ledger.ts";

/** Everything that is known of where an order was placed, stands, and stood before. */
export async function placedOf({ db }: ReadOnlyLedger, order: RecordKey): Promise<ExplainFacts["placed"]> {
  const rows = await db
    .selectFrom("placed_order")
    .select(["channel_order_id as channelOrderId", "origin", "version", "from_at as from", "to_at as to"])
    .select(["operation_id as operationId", "customer_namespace as customerNamespace", "customer_id as customerId"])
    .select("products")
    .where("namespace", "=", order.namespace)
    .where("order_id", "=", order.id)
    .orderBy("from_at", "desc")
    .execute();
  const licenceOrders = await db
    .selectFrom("licence_order")
    .select(["sequence", "license_type as licenseType", "license_order_id as licenseOrderId"])
    .select("platform_customer_id as platformCustomerId")
    .where("namespace", "=", order.namespace)
    .where("order_id", "=", order.id)
    .orderBy("sequence")
    .execute();
  const steps = await stepsOf(db, order);
  const movedFrom = await movedFromOf(db, order);
  return rows.map(({ customerNamespace, customerId, ...row }) => ({
    ...row,
    customer: { namespace: customerNamespace, id: customerId },
    licenceOrders,
    movedFrom: row.to === null ? movedFrom : [],
    steps: row.to === null ? steps : [],
  }));
}

async function movedFromOf(
  db: ReadOnlyLedger["db"],
  order: RecordKey,
): Promise<ExplainFacts["placed"][number]["movedFrom"]> {
  const rows = await db
    .selectFrom("moved_order")
    .select(["customer_namespace as namespace", "customer_id as id", "since", "ended_at as endedAt"])
    .where("namespace", "=", order.namespace)
    .where("order_id", "=", order.id)
    .orderBy("since")
    .execute();
  return rows.map(({ namespace, id, ...row }) => ({ ...row, customer: { namespace, id } }));
}

async function stepsOf(db: ReadOnlyLedger["db"], order: RecordKey): Promise<ExplainFacts["placed"][number]["steps"]> {
  const rows = await db
    .selectFrom("order_step")
    .select(["at", "kind", "channel_order_id as channelOrderId", "operation_id as operationId", "origin"])
    .select(["customer_namespace as namespace", "customer_id as id"])
    .select(
      sql<number>`(select sum(iif(order_step.kind = 'bought',
        json_array_length(i.value, '$.products') + json_array_length(i.value, '$.packages'), 1))
        from json_each(order_step.items) i)`.as("things"),
    )
    .where("namespace", "=", order.namespace)
    .where("order_id", "=", order.id)
    .where("forgotten_at", "is", null)
    .where(sql<boolean>`(order_step.kind <> 'bought' or exists (select 1 from json_each(order_step.items) i
      where json_array_length(i.value, '$.products') + json_array_length(i.value, '$.packages') > 0))`)
    .orderBy("number")
    .execute();
  return rows.map(({ namespace, id, ...row }) => ({ ...row, customer: { namespace, id } }));
}
