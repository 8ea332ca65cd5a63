import { sql } from "kysely";
import { formatKey } from "../../crm/keys.ts";
import type { Money, RecordKey } from "../../crm/model.ts";
import { compareCustomer } from "../../report/reconciliation/compare-customer.ts";
import { inCodes, type CustomerCase, type ReconciliationView } from "../../report/reconciliation/case.ts";
import { hasProduct, isProduct, orderForm, type OrderForm } from "../../report/statement/order-form.ts";
import { inPeriod } from "../../report/statement/period.ts";
import { reconciledItems } from "../../report/statement/reconciled.ts";
import {
  type CustomerFacts,
  type ReconciledItem,
  type OrderForms,
  isOtherMoney,
  differenceKey,
} from "../../report/statement/reconciled-item.ts";
import { itemRow, ReconciliationTotals } from "../../report/statement/reconciliation.ts";
import type { Filters, PartRow, StatementRequest } from "../../report/statement/shape.ts";
import type { KeptOrder } from "../../engine/model/desired.ts";
import { stored } from "../../ledger/database/damage.ts";
import { customerCase } from "../customer-case.ts";
import { everyCustomer, reconciliationView } from "../reconciliation.ts";
import { type ReadOnlyLedger, asked, ofEachCustomer } from "../read-only-ledger.ts";
import { requireBalanced } from "../../report/statement/cells.ts";
import { ofCustomer, zonesIn } from "./filters.ts";
import type { RecordTable } from "../../ledger/records/tables.ts";
import { stepsOf, type StepRow } from "../placed-orders.ts";

interface Reconciled {
  item: CustomerCase;
  facts: CustomerFacts;
  items: ReconciledItem[];
}

/** Compares everything twice, for the summary and for the items. Both must agree. */
export async function* reconciliationRows(
  ledger: ReadOnlyLedger,
  request: StatementRequest,
): AsyncGenerator<PartRow, void, void> {
  const { seconds, ageing } = request.tolerances ?? {};
  const view = { ...(await reconciliationView(ledger)), seconds };
  const summary = new ReconciliationTotals();
  for (const { items } of reconciled(ledger, request, view)) for (const one of items) summary.add(one);
  const totals = summary.rows();
  for (const row of totals) yield { part: "summary", row };
  const check = new ReconciliationTotals();
  const { zone } = request.period;
  const knownAt = request.asOf ?? view.asOf;
  for (const { item, facts, items } of reconciled(ledger, request, view)) {
    for (const one of items) {
      check.add(one);
      yield itemRow(item, one, { branch: facts.branch, knownAt, zone, ageing });
    }
  }
  requireBalanced("reconciliation", totals, check.rows());
}

const formsSince = asked<RecordKey & { to: string }, { body: string; date_zones: string | null }>(
  `select body, date_zones from record_version where stream = 'orders' and namespace = @namespace and id = @id
     and version >= coalesce((select max(w.version) from record_version w where w.stream = 'orders'
       and w.namespace = @namespace and w.id = @id and w.from_at < @to), 0)`,
);

/** Orders and lines with another CRM amount than sent since before the period's end. Rows of an order are adjacent. */
export async function* otherMoneyItems(
  ledger: ReadOnlyLedger,
  request: StatementRequest,
): AsyncGenerator<{ order: RecordKey; crm: Money | undefined; sent: Money | undefined }, void, void> {
  const { tolerances = {}, period } = request;
  const view = { ...(await reconciliationView(ledger)), seconds: tolerances.seconds };
  for (const { items, facts } of reconciled(ledger, request, view))
    for (const { comparison, isOtherMoney: isOther, crm, sent } of items) {
      const { order } = comparison;
      const forms = order === undefined ? undefined : facts.orders.get(formatKey(order));
      if (!isOther || order === undefined || forms === undefined) continue;
      const since = formsSince(ledger, { ...order, to: period.to });
      const differs = ({ body, date_zones: zones }: (typeof since)[number]): boolean =>
        isOtherMoney(comparison, formIn(body, zones), forms, tolerances);
      if (since.every(differs)) yield { order, crm: crm.amount, sent: sent.amount };
    }
}

function* reconciled(
  ledger: ReadOnlyLedger,
  { period, by, filters, asOf, tolerances = {} }: StatementRequest,
  view: ReconciliationView,
): Generator<Reconciled, void, void> {
  const knownAt = asOf ?? view.asOf;
  const isIn = inPeriod(period, by);
  const customers = ledger.db
    .selectFrom(everyCustomer(ledger).as("c"))
    .select(["c.namespace", "c.id"])
    .where(ofCustomer(filters, { namespace: sql`c.namespace`, id: sql`c.id` }))
    .orderBy("c.namespace")
    .orderBy("c.id");
  for (const key of ledger.rows(customers)) {
    const item = inCodes(customerCase(ledger, key));
    const facts = customerFacts(ledger, key);
    const all = reconciledItems(item, compareCustomer(item, view), facts, {
      ...tolerances,
      knownAt,
      zone: period.zone,
    });
    const items = askedOf(all, facts, filters).filter(({ comparison }) => isIn(comparison));
    if (items.length > 0) yield { item, facts, items };
  }
}

/** A product selects its orders, its units, and assignments of their numbers. */
function askedOf(items: ReconciledItem[], facts: CustomerFacts, { source, product }: Filters): ReconciledItem[] {
  const ofSource = source === undefined ? items : items.filter((one) => one.source === source);
  if (product === undefined) return ofSource;
  const isOf = ({ comparison: { level, order, item }, productNumber }: ReconciledItem): boolean => {
    if (level !== "order" && level !== "product") return false;
    const forms = order === undefined ? undefined : facts.orders.get(formatKey(order));
    const all = forms === undefined ? [] : [...(forms.now === undefined ? [] : [forms.now]), ...forms.sent.values()];
    if (level === "order") return all.some((form) => hasProduct(form, product));
    const known = all.flatMap((form) => form.products.get(item ?? "") ?? []);
    return productNumber === product || known.some((one) => isProduct(one, product));
  };
  const found = new Set(ofSource.filter(isOf));
  const numbers = new Set([...found].map(({ comparison: { assetNumber } }) => assetNumber ?? ""));
  return ofSource.filter(
    (one) =>
      found.has(one) || (one.comparison.level === "assignment" && numbers.has(one.comparison.assetNumber ?? "\0")),
  );
}

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
  /** 1: the order was placed for another customer and moved. */
  elsewhere: number | null;
};

/** Since when this customer wants record `r`: after the last form that did not. */
const sinceWanted = `coalesce((select min(f.from_at) from record_version f where f.stream = r.stream
    and f.namespace = r.namespace and f.id = r.id and f.version > (select max(w.version) from record_version w
      where w.stream = r.stream and w.namespace = r.namespace and w.id = r.id
        and (w.body ->> '$.cancelled' = 1 or (coalesce(w.body ->> '$.customerNamespace', w.namespace),
          w.body ->> '$.customerId') <> (r.customer_namespace, r.customer_id)))), r.first_seen)`;

const recordRows = ofEachCustomer<RecordFactRow>((_ledger, { namespace, id }) => {
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
  return sql<RecordFactRow>`${of(own)} union all ${of(moved)}`;
});

const differenceRows = ofEachCustomer(({ db }, { namespace, id }) =>
  db
    .selectFrom("difference")
    .select(["level", "subject", "class", "first_seen"])
    .where("namespace", "=", namespace)
    .where("customer_id", "=", id)
    .where("ended_at", "is", null),
);

function customerFacts(ledger: ReadOnlyLedger, customer: RecordKey): CustomerFacts {
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

function formsOf(row: RecordFactRow, steps: readonly StepRow[]): OrderForms {
  const now = row.body === null ? undefined : formIn(row.body, row.date_zones);
  const sent = new Map<string, OrderForm>();
  const first = row.placed_body === null ? undefined : formIn(row.placed_body, row.placed_zones);
  const own = row.placed_version === row.version ? now : first;
  const placed = row.elsewhere === 1 ? undefined : own;
  if (row.channel_order_id !== null && placed !== undefined) sent.set(row.channel_order_id, placed);
  let lastSent = placed;
  for (const { kind, origin, body, date_zones: zones, channel_order_id: number } of steps) {
    if (body === null || kind === "priced") continue;
    const form = formIn(body, zones);
    if (kind === "bought" && number !== null) sent.set(number, form);
    if (origin === "sent") lastSent = form;
  }
  return { now, sent, lastSent };
}

function formIn(body: string, zones: string | null): OrderForm {
  return orderForm(stored<KeptOrder>(body), zonesIn(zones));
}
