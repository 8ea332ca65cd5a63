import type { RecordKey } from "../../crm/model.ts";
import { stored } from "../../ledger/database/damage.ts";
import { stepOf } from "../../resources/order/state/order-step-rows.ts";
import type { KeptOrder } from "../../engine/model/desired.ts";
import type { OrderPast } from "../../resources/order/fold.ts";
import type { LicenceOrder, OrderStep } from "../../resources/order/state/changes.ts";
import { isSameKey } from "../../engine/model/state.ts";
import { orderStepsWithForms, shownProducts } from "../placed-orders.ts";
import { type ReadOnlyLedger, asked } from "../read-only-ledger.ts";
import { zonesIn, isWithin, type DatedOrder } from "./filters.ts";
import { sql, type RawBuilder } from "kysely";
import { parseKey } from "../../crm/keys.ts";
import type { Filters, StatementRequest } from "../../report/statement/shape.ts";

export interface OrderHistory extends OrderPast {
  source: string | null;
  placing: OrderPast["placing"] & {
    at: string;
    origin: "placed" | "adopted";
    form: DatedOrder | undefined;
    operationId: string | null;
  };
  forms: ReadonlyMap<number, DatedOrder>;
  steps: readonly HistoryStep[];
}

export type HistoryStep = OrderStep & { at: string; operationId: string | null; form: DatedOrder | undefined };

interface PlacedRow {
  namespace: string;
  id: string;
  at: string;
  customerNamespace: string;
  customerId: string;
  version: number;
  origin: "placed" | "adopted";
  channelOrderId: string;
  operationId: string | null;
  body: string | null;
  zones: string | null;
  source: string | null;
  hasSteps: 0 | 1;
  licenceOrders: string;
}

interface NumberRow {
  number: string;
  instanceId: string;
  unit: number | null;
  customerNamespace: string | null;
  customerId: string | null;
  endedAt: string | null;
}

const placedOrder = asked<RecordKey, PlacedRow>(`select p.namespace, p.order_id as id, p.from_at as at,
    coalesce(p.placed_for_namespace, p.customer_namespace) as customerNamespace,
    coalesce(p.placed_for_id, p.customer_id) as customerId, p.version, p.origin,
    p.channel_order_id as channelOrderId, p.operation_id as operationId, v.body, v.date_zones as zones,
    r.source as source,
    exists (select 1 from order_step s where s.namespace = p.namespace and s.order_id = p.order_id
      and s.forgotten_at is null) as hasSteps,
    (select json_group_array(json_object('sequence', l.sequence, 'licenseType', l.license_type,
        'platformCustomerId', l.platform_customer_id, 'licenseOrderId', l.license_order_id))
      from (select * from licence_order f where f.namespace = p.namespace and f.order_id = p.order_id
        order by f.sequence) l) as licenceOrders
  from placed_order p
  left join record r on r.stream = 'orders' and r.namespace = p.namespace and r.id = p.order_id
  left join record_version v on v.stream = 'orders' and v.namespace = p.namespace and v.id = p.order_id
    and v.version = p.version
  where p.namespace = @namespace and p.order_id = @id and p.to_at is null`);

const numberColumns = `n.wire_number as number, n.instance_id as instanceId, n.unit,
    n.customer_namespace as customerNamespace, n.customer_id as customerId, n.ended_at as endedAt, n.fixed_at`;

const numbersOf = asked<RecordKey, NumberRow>(`select ${numberColumns} from asset_number n
  where n.namespace = @namespace and n.order_id = @id and n.fixed_at is not null and n.wire_number is not null
  union all select ${numberColumns} from earlier_number n where n.namespace = @namespace and n.order_id = @id
  order by fixed_at, number`);

export function orderHistory(ledger: ReadOnlyLedger, { namespace, id }: RecordKey): OrderHistory | undefined {
  const [row] = placedOrder(ledger, { namespace, id });
  return row === undefined ? undefined : historyOf(ledger, row);
}

function historyOf(ledger: ReadOnlyLedger, row: PlacedRow): OrderHistory {
  const order = { namespace: row.namespace, id: row.id };
  const steps = row.hasSteps === 1 ? orderStepsWithForms(ledger, order) : [];
  const forms = formsOf([
    row,
    ...steps.map(({ form_version: version, body, date_zones: zones }) => ({ version, body, zones })),
  ]);
  const { at, origin, channelOrderId, version, operationId } = row;
  return {
    order,
    source: row.source,
    placing: {
      at,
      customer: { namespace: row.customerNamespace, id: row.customerId },
      origin,
      channelOrderId,
      version,
      form: forms.get(version),
      licenceOrders: stored<LicenceOrder[]>(row.licenceOrders),
      operationId,
    },
    forms,
    steps: steps.map((step): HistoryStep => ({
      ...stepOf(step),
      at: step.at,
      operationId: step.operation_id,
      form: step.form_version === null ? undefined : forms.get(step.form_version),
    })),
    numberOf: numbers(ledger, order, row),
  };
}

function formsOf(
  rows: readonly (Pick<PlacedRow, "body" | "zones"> & { version: number | null })[],
): ReadonlyMap<number, DatedOrder> {
  const forms = new Map<number, DatedOrder>();
  for (const { version, body, zones } of rows)
    if (version !== null && body !== null && !forms.has(version))
      forms.set(version, { ...stored<KeptOrder>(body), zones: zonesIn(zones) });
  return forms;
}

/** A unit's first number for a customer. An adopted order has no fixed numbers: its products' observed ones count. */
function numbers(
  ledger: ReadOnlyLedger,
  order: RecordKey,
  { origin, channelOrderId, at }: PlacedRow,
): OrderHistory["numberOf"] {
  let read: { rows: NumberRow[]; fixed: Map<string, NumberRow[]> } | undefined;
  let shown: { customer: RecordKey; byProduct: Map<string, { number: string }[]> } | undefined;
  return ({ customer, instanceId, unit, product }) => {
    if (read === undefined) {
      const rows = numbersOf(ledger, order);
      read = { rows, fixed: Map.groupBy(rows, (item) => JSON.stringify([item.instanceId, item.unit])) };
    }
    const { rows, fixed } = read;
    const own = fixed.get(JSON.stringify([instanceId, unit]))?.find(
      (item) =>
        // A number that ended before the call was not placed.
        (item.endedAt === null || item.endedAt > at) &&
        (item.customerNamespace ?? customer.namespace) === customer.namespace &&
        (item.customerId ?? customer.id) === customer.id,
    );
    if (own !== undefined) return own.number;
    if (origin !== "adopted" || rows.length > 0) return undefined;
    if (shown === undefined || !isSameKey(shown.customer, customer)) {
      const products = shownProducts(ledger, customer, channelOrderId);
      shown = { customer, byProduct: Map.groupBy(products, ({ id }) => id) };
    }
    return shown.byProduct.get(product)?.[unit]?.number;
  };
}

type EventRow = RecordKey & { at: string; number: number };

type Wanted = Pick<StatementRequest, "period" | "by" | "filters">;

/** The customer of the placing, before any move. */
const placedFor = sql`coalesce(p.placed_for_namespace, p.customer_namespace) as customerNamespace,
  coalesce(p.placed_for_id, p.customer_id) as customerId`;

/** A step that only renumbers units is not an event. */
const isEvent = sql`not (s.kind = 'bought' and not exists (select 1 from json_each(s.items) i
  where json_array_length(i.value, '$.products') + json_array_length(i.value, '$.packages') > 0))`;

function within(filters: Filters): RawBuilder<unknown> {
  const { source, customer } = filters;
  const key = customer === undefined ? undefined : parseKey(customer);
  const ofSource = sql`exists (select 1 from record r
    where r.stream = 'orders' and r.namespace = e.namespace and r.id = e.id and r.source = ${source ?? null})`;
  return sql`${source === undefined ? sql`1` : ofSource}
    and ${key === undefined ? sql`1` : sql`e.customerNamespace = ${key.namespace} and e.customerId = ${key.id}`}`;
}

/** The `+` keeps SQLite from using another index and reading all orders. */
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

export function orderEventsIn(ledger: ReadOnlyLedger, wanted: Wanted): Generator<EventRow, void, void> {
  const query = sql<EventRow>`select e.at, e.namespace, e.id, e.number from (${eventsIn(wanted)}) e
    where ${within(wanted.filters)} order by e.at, e.namespace, e.id, e.number`;
  return ledger.rows(query);
}

interface OrderInPeriod extends RecordKey {
  customer: RecordKey;
  events: readonly number[];
  at: string;
}

type OrderRow = RecordKey & {
  customerNamespace: string;
  customerId: string;
  events: string;
  at: string;
};

export function* ordersWithEventsIn(ledger: ReadOnlyLedger, wanted: Wanted): Generator<OrderInPeriod, void, void> {
  const query = sql<OrderRow>`select e.namespace, e.id, e.customerNamespace, e.customerId,
      json_group_array(e.number) as events, max(e.at) as at
    from (${eventsIn(wanted)}) e where ${within(wanted.filters)}
    group by e.namespace, e.id, e.customerNamespace, e.customerId
    order by e.namespace, e.id, e.customerNamespace, e.customerId`;
  for (const row of ledger.rows(query)) {
    const { namespace, id, at } = row;
    const customer = { namespace: row.customerNamespace, id: row.customerId };
    yield { namespace, id, customer, events: stored<number[]>(row.events), at };
  }
}
