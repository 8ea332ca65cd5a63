import { sql } from "kysely";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import { isSameKey } from "../engine/model/state-part.ts";
import { ofEachCustomer } from "./read-only-ledger.ts";
import type { ReadOnlyLedger } from "./read-only-ledger.ts";

type Db = ReadOnlyLedger["db"];

/** What happened to placed orders, oldest first, without what a restored ledger forgot. */
function steps(db: Db) {
  return db.selectFrom("order_step as s").selectAll("s").where("s.forgotten_at", "is", null).orderBy("s.number");
}

/** Each with the form of the order that it was made from; of what was removed, with the one that the CRM gave then. */
function stepsWithForms(db: Db) {
  return steps(db)
    .leftJoin("record_version as v", (join) =>
      join
        .on("v.stream", "=", "orders")
        .onRef("v.namespace", "=", "s.namespace")
        .onRef("v.id", "=", "s.order_id")
        .on(
          "v.version",
          "=",
          sql<number>`coalesce(s.version, (select max(w.version) from record_version w
            where w.stream = 'orders' and w.namespace = s.namespace and w.id = s.order_id and w.from_at <= s.at))`,
        ),
    )
    .select(["v.version as form_version", "v.body", "v.date_zones"]);
}

function stepsWithPayloads(db: Db) {
  return stepsWithForms(db).leftJoin("operation as o", "o.id", "s.operation_id").select("o.payload");
}

/** What happened to an order. */
export const orderSteps = ofEachCustomer(({ db }, order) =>
  steps(db).where("s.namespace", "=", order.namespace).where("s.order_id", "=", order.id),
);

/** The same with the forms of the order. */
export const orderStepsWithForms = ofEachCustomer(({ db }, order) =>
  stepsWithForms(db).where("s.namespace", "=", order.namespace).where("s.order_id", "=", order.id),
);

const ofOrder = ofEachCustomer(({ db }, order) =>
  stepsWithPayloads(db).where("s.namespace", "=", order.namespace).where("s.order_id", "=", order.id),
);

const ofCustomer = ofEachCustomer(({ db }, customer) =>
  stepsWithPayloads(db).where("s.customer_namespace", "=", customer.namespace).where("s.customer_id", "=", customer.id),
);

/** A step with its form and the payload that was sent. */
export type StepRow = ReturnType<typeof ofCustomer>[number];

/** What happened to placed orders of a customer since, by order. */
export function stepsOf(ledger: ReadOnlyLedger, customer: RecordKey): ReadonlyMap<string, readonly StepRow[]> {
  return Map.groupBy(ofCustomer(ledger, customer), (row) => formatKey({ namespace: row.namespace, id: row.order_id }));
}

/** What happened to one placed order for a customer since; undefined where nothing did. */
export function stepsOfOrder(
  ledger: ReadOnlyLedger,
  customer: RecordKey,
  order: RecordKey,
): readonly StepRow[] | undefined {
  const own = ofOrder(ledger, order).filter(({ customer_namespace: namespace, customer_id: id }) =>
    isSameKey({ namespace, id }, customer),
  );
  return own.length === 0 ? undefined : own;
}
