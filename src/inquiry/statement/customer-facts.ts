import { sql } from "kysely";
import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { RecordTable } from "../../ledger/records/tables.ts";
import { differenceKey } from "../../report/statement/reconciled-item.ts";
import type { OrderForm } from "../../report/statement/order-form.ts";
import type { CustomerFacts, OrderForms } from "../../report/statement/reconciled-item.ts";
import { stepsOf } from "../order-steps.ts";
import type { StepRow } from "../order-steps.ts";
import { ofEachCustomer } from "../read-only-ledger.ts";
import type { ReadOnlyLedger } from "../read-only-ledger.ts";
import { formIn } from "./corrections.ts";

type RecordFactRow = Pick<RecordTable, "stream" | "namespace" | "id" | "source" | "version"> & {
  wanted_since: string;
  body: string | null;
  date_zones: string | null;
  branch: string | null;
  changed_at: string;
  channel_order_id: string | null;
  placed_version: number | null;
  placed_body: string | null;
  placed_zones: string | null;
  /** 1: an order that was placed for another customer, from whom it moved. */
  elsewhere: number | null;
};

/** Since when this customer wants the record `r`: since the form after the last one that did not. */
const sinceWanted = `coalesce((select min(f.from_at) from record_version f where f.stream = r.stream
    and f.namespace = r.namespace and f.id = r.id and f.version > (select max(w.version) from record_version w
      where w.stream = r.stream and w.namespace = r.namespace and w.id = r.id
        and (w.body ->> '$.cancelled' = 1 or (coalesce(w.body ->> '$.customerNamespace', w.namespace),
          w.body ->> '$.customerId') <> (r.customer_namespace, r.customer_id)))), r.first_seen)`;

/** Records of a customer with the newest form of its orders and the one that each of them was placed from. */
const recordRows = ofEachCustomer<RecordFactRow>(({ db }, { namespace, id }) => {
  const of = (
    where: ReturnType<typeof sql>,
  ) => sql`select r.stream, r.namespace, r.id, r.source, ${sql.raw(sinceWanted)} as wanted_since, r.version,
      iif(r.stream = 'orders', v.body, null) as body, v.date_zones,
      iif(r.stream = 'customers', v.body ->> '$.branchCode', null) as branch,
      iif(r.state = 'absent', r.changed_at, coalesce(v.from_at, r.changed_at)) as changed_at, p.channel_order_id, p.version as placed_version,
      iif(p.version = r.version, null, b.body) as placed_body, b.date_zones as placed_zones,
      (coalesce(p.placed_for_namespace, p.customer_namespace), coalesce(p.placed_for_id, p.customer_id))
        <> (${namespace}, ${id}) as elsewhere
    from record r
    left join record_version v on v.stream = r.stream and v.namespace = r.namespace and v.id = r.id
      and v.version = r.version
    left join placed_order p on r.stream = 'orders' and p.namespace = r.namespace and p.order_id = r.id
      and p.to_at is null
    left join record_version b on b.stream = 'orders' and b.namespace = p.namespace and b.id = p.order_id
      and b.version = p.version
    where ${where}`;
  const own = sql`r.customer_namespace = ${namespace} and r.customer_id = ${id}`;
  const moved = sql`r.stream = 'orders' and (r.namespace, r.id) in (select m.namespace, m.order_id from moved_order m
    where m.ended_at is null and m.customer_namespace = ${namespace} and m.customer_id = ${id}) and not (${own})`;
  return { compile: () => sql<RecordFactRow>`${of(own)} union all ${of(moved)}`.compile(db) };
});

const differenceRows = ofEachCustomer(({ db }, { namespace, id }) =>
  db
    .selectFrom("difference")
    .select(["level", "subject", "class", "first_seen"])
    .where("namespace", "=", namespace)
    .where("customer_id", "=", id)
    .where("ended_at", "is", null),
);

/** What a statement knows of a customer beside what is compared. */
export function customerFacts(ledger: ReadOnlyLedger, customer: RecordKey): CustomerFacts {
  const rows = recordRows(ledger, customer);
  const orders = rows.filter(({ stream }) => stream === "orders");
  const isPlaced = orders.some((row) => row.channel_order_id !== null);
  const steps: ReturnType<typeof stepsOf> = isPlaced ? stepsOf(ledger, customer) : new Map();
  return {
    branch: rows.find(({ stream }) => stream === "customers")?.branch ?? null,
    records: new Map(
      rows.map(({ stream, source, wanted_since: wantedSince, changed_at: changedAt, ...key }) => [
        stream === "customers" ? stream : `${stream} ${formatKey(key)}`,
        { source, wantedSince, changedAt },
      ]),
    ),
    orders: new Map(orders.map((row) => [formatKey(row), formsOf(row, steps.get(formatKey(row)) ?? [])])),
    differences: new Map(
      differenceRows(ledger, customer).map(({ first_seen: firstSeen, ...difference }) => [
        differenceKey(difference),
        firstSeen,
      ]),
    ),
  };
}

/** The newest form of an order, and those that something of it was bought from. */
function formsOf(row: RecordFactRow, steps: readonly StepRow[]): OrderForms {
  const now = row.body === null ? undefined : formIn(row.body, row.date_zones);
  const sent = new Map<string, OrderForm>();
  const first = row.placed_body === null ? undefined : formIn(row.placed_body, row.placed_zones);
  const own = row.placed_version === row.version ? now : first;
  const placed = row.elsewhere === 1 ? undefined : own;
  if (row.channel_order_id !== null && placed !== undefined) sent.set(row.channel_order_id, placed);
  let lastSent = placed;
  for (const { kind, origin, body, date_zones: zones, channel_order_id: number } of steps) {
    if (body === null || kind === "priced" || origin === "found") continue;
    const form = formIn(body, zones);
    if (kind === "bought" && number !== null) sent.set(number, form);
    if (origin === "sent") lastSent = form;
  }
  return { now, sent, lastSent };
}
