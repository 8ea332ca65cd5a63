import { sql } from "kysely";
import type { RawBuilder } from "kysely";
import { parseKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import { stored } from "../../ledger/database/damage.ts";
import type { Filters, StatementRequest } from "../../report/statement/shape.ts";
import { isWithin } from "./crm-dates.ts";
import type { ReadOnlyLedger } from "../read-only-ledger.ts";

/** An event of an order: `number` is that of its step, and 0 for its placing. */
type EventRow = RecordKey & { at: string; number: number };

type Wanted = Pick<StatementRequest, "period" | "by" | "filters">;

/** For whom an order was placed, whoever it stands for since it moved. */
const placedFor = sql`coalesce(p.placed_for_namespace, p.customer_namespace) as customerNamespace,
  coalesce(p.placed_for_id, p.customer_id) as customerId`;

/** A step that only says under which numbers units go on is no event. */
const isEvent = sql`not (s.kind = 'bought' and not exists (select 1 from json_each(s.items) i
  where json_array_length(i.value, '$.products') + json_array_length(i.value, '$.packages') > 0))`;

/** What limits the events of orders; the branch and the product are looked at where they are known. */
function within(filters: Filters): RawBuilder<unknown> {
  const { source, customer } = filters;
  const key = customer === undefined ? undefined : parseKey(customer);
  const ofSource = sql`exists (select 1 from record r
    where r.stream = 'orders' and r.namespace = e.namespace and r.id = e.id and r.source = ${source ?? null})`;
  return sql`${source === undefined ? sql`1` : ofSource}
    and ${key === undefined ? sql`1` : sql`e.customerNamespace = ${key.namespace} and e.customerId = ${key.id}`}`;
}

/** The sign keeps SQLite from going through all orders by an index on something else. */
function eventsIn({ period, by }: Wanted): RawBuilder<unknown> {
  const { from, to } = period;
  const form = sql`left join record_version v on v.stream = 'orders' and v.namespace = p.namespace
    and v.id = p.order_id and v.version = p.version`;
  return sql`select p.from_at as at, p.namespace as namespace, p.order_id as id, 0 as number, ${placedFor}
    from placed_order p ${by === "happened" ? sql`` : form}
    where +p.to_at is null and ${isWithin(period, by, sql`p.from_at`)}
    union all
    select s.at, s.namespace, s.order_id, s.number, s.customer_namespace, s.customer_id from order_step s
    where s.forgotten_at is null and s.at >= ${from} and s.at < ${to} and ${isEvent}`;
}

/** Events of orders in a period, in the order of time. */
export function orderEventsIn(ledger: ReadOnlyLedger, wanted: Wanted): Generator<EventRow, void, void> {
  const query = sql<EventRow>`select e.at, e.namespace, e.id, e.number from (${eventsIn(wanted)}) e
    where ${within(wanted.filters)} order by e.at, e.namespace, e.id, e.number`;
  return ledger.rows({ compile: () => query.compile(ledger.db) });
}

interface OrderInPeriod extends RecordKey {
  customer: RecordKey;
  /** Numbers of its events. */
  events: readonly number[];
  /** When the last one was. */
  at: string;
}

type OrderRow = RecordKey & {
  customerNamespace: string;
  customerId: string;
  events: string;
  at: string;
};

/** Orders with events in a period, by their key and then by customer. */
export function* ordersWithEventsIn(ledger: ReadOnlyLedger, wanted: Wanted): Generator<OrderInPeriod, void, void> {
  const query = sql<OrderRow>`select e.namespace, e.id, e.customerNamespace, e.customerId,
      json_group_array(e.number) as events, max(e.at) as at
    from (${eventsIn(wanted)}) e where ${within(wanted.filters)}
    group by e.namespace, e.id, e.customerNamespace, e.customerId
    order by e.namespace, e.id, e.customerNamespace, e.customerId`;
  for (const row of ledger.rows({ compile: () => query.compile(ledger.db) })) {
    const { namespace, id, at } = row;
    const customer = { namespace: row.customerNamespace, id: row.customerId };
    yield { namespace, id, customer, events: stored<number[]>(row.events), at };
  }
}
