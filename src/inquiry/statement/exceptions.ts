import { sql } from "kysely";
import type { RawBuilder } from "kysely";
import { formatKey } from "../../crm/keys.ts";
import { streams } from "../../crm/model.ts";
import type { RecordKey, Stream } from "../../crm/model.ts";
import { stored } from "../../ledger/database/stored.ts";
import type { DesiredOrder } from "../../operation/desired.ts";
import { ownerOf, ownerOfQuarantine } from "../../plan/owner.ts";
import type { ExceptionFacts } from "../../report/statement/exception-row.ts";
import { concernedRows, ExceptionTotals, statedException } from "../../report/statement/exceptions.ts";
import type { Actor, ConcernedOrder, StatedException } from "../../report/statement/exceptions.ts";
import { isProduct } from "../../report/statement/order-form.ts";
import type { Filters, PartRow, Row, StatementRequest } from "../../report/statement/shape.ts";
import { holdBlocker, outcomeBlocker } from "../../report/books.ts";
import type { Blocker } from "../../report/books.ts";
import { asOf } from "../audit.ts";
import { exceptions } from "../exceptions.ts";
import { ofEachCustomer } from "../read-only-ledger.ts";
import type { ReadOnlyLedger } from "../read-only-ledger.ts";
import { asked } from "./asked.ts";
import { requireBalanced } from "./balanced.ts";
import { branchOf } from "./filtered.ts";

/** Rows of the statement: what there is is asked for three times, for the summary, the exceptions and the orders. */
export async function* exceptionRows(
  ledger: ReadOnlyLedger,
  request: StatementRequest,
): AsyncGenerator<PartRow, void, void> {
  const knownAt = request.asOf ?? (await asOf(ledger));
  const summary = new ExceptionTotals();
  for await (const one of stated(ledger, request)) summary.add(one, knownAt);
  const totals = summary.rows();
  for (const row of totals) yield { part: "summary", row };
  const check = new ExceptionTotals();
  for await (const one of stated(ledger, request)) {
    check.add(one, knownAt);
    const { part, row } = statedException(one, knownAt);
    yield { part, row: { ...row, ...signOffOf(ledger, request.period.label, one.facts) } };
  }
  requireBalanced("exceptions", totals, check.rows());
  for await (const one of stated(ledger, request)) yield* concernedRows(one, knownAt, request.period.zone);
}

async function* stated(
  ledger: ReadOnlyLedger,
  { period, filters }: StatementRequest,
): AsyncGenerator<StatedException, void, void> {
  for await (const facts of exceptions(ledger, period)) {
    const customer = customerOf(facts);
    if (filters.customer !== undefined && (customer === null || formatKey(customer) !== filters.customer)) continue;
    const [of] = customer === null ? [] : branchOfCustomer(ledger, customer);
    const branch = of?.branch ?? null;
    if (filters.branch !== undefined && branch !== filters.branch) continue;
    if (!isOfSource(ledger, facts, filters)) continue;
    const orders = concerned(ledger, facts);
    if (filters.product !== undefined && !orders.some((order) => isOfProduct(order, filters))) continue;
    yield { facts, owner: actorOf(facts), branch, orders: orders.map(concernedOrder) };
  }
}

const lastSignOff = asked<
  { period: string; blocker: string; facts: string },
  { by: string; at: string; reason: string }
>("select by, at, reason from sign_off where period = @period and blocker = @blocker and facts = @facts");

/** What of an exception stands in the way of closing a period, as it is now. */
function blockerOfException(facts: ExceptionFacts): Blocker | undefined {
  if (facts.kind === "unknown") return outcomeBlocker(facts.row);
  return facts.kind === "held" ? holdBlocker(facts.row) : undefined;
}

/** Who took it as it is, so that the period could be closed. */
function signOffOf(ledger: ReadOnlyLedger, period: string, facts: ExceptionFacts): Row {
  const blocker = blockerOfException(facts);
  const [signed] =
    blocker === undefined ? [] : lastSignOff(ledger, { period, blocker: blocker.id, facts: blocker.facts });
  return signed === undefined
    ? {}
    : { signed_off_by: signed.by, signed_off_at: signed.at, sign_off_reason: signed.reason };
}

function customerOf(facts: ExceptionFacts): RecordKey | null {
  switch (facts.kind) {
    case "deferred":
    case "by-hand":
      return facts.customer;
    case "source-incomplete":
    case "run":
      return null;
    default:
      // What the pool is for is for no customer.
      return facts.row.customer?.id === "" ? null : facts.row.customer;
  }
}

/** Who can end it: by its code where it has one, else who decides what is held, parked or was broken off. */
function actorOf(facts: ExceptionFacts): Actor | null {
  switch (facts.kind) {
    case "quarantined":
      return facts.row.resolvedAt === null ? ownerOfQuarantine(facts.row.code) : null;
    case "deferred":
      return ownerOf(facts.code);
    case "rejected":
      return ownerOf(`rejected.${facts.row.outcomeCode ?? ""}`);
    case "unknown":
      return facts.row.state === "parked" ? "operator" : "program";
    case "held":
      return facts.row.decidedAt === null ? "operator" : null;
    case "source-incomplete":
      return "crm";
    case "run":
      return "operator";
    case "settled":
    case "numbers-lost":
    case "by-hand":
      return null;
  }
}

const branchOfCustomer = ofEachCustomer<{ branch: string | null }>(({ db }, { namespace, id }) => ({
  compile: () =>
    sql<{
      branch: string | null;
    }>`select ${branchOf({ namespace: sql`${namespace}`, id: sql`${id}` })} as branch`.compile(db),
}));

interface OrderRow extends RecordKey {
  body: string;
}

/** Orders with their newest usable form, by what a condition says of `r`. */
function ordersWhere(condition: (of: RecordKey) => RawBuilder<unknown>) {
  return ofEachCustomer<OrderRow>(({ db }, of) => ({
    compile: () =>
      sql<OrderRow>`select r.namespace, r.id, v.body from record r
        join record_version v on v.stream = r.stream and v.namespace = r.namespace and v.id = r.id
          and v.version = r.version
        where ${condition(of)} order by r.namespace, r.id`.compile(db),
  }));
}

const theOrder = ordersWhere(
  ({ namespace, id }) => sql`r.stream = 'orders' and r.namespace = ${namespace} and r.id = ${id}`,
);

/** What waits where its customer does; found by the customer, and not by going through all orders. */
const notPlacedOf = ordersWhere(
  ({ namespace, id }) => sql`r.customer_namespace = ${namespace} and r.customer_id = ${id} and +r.stream = 'orders'
    and r.state <> 'absent'
    and v.body ->> '$.cancelled' = 0 and not exists (select 1 from placed_order p
      where p.namespace = r.namespace and p.order_id = r.id and p.to_at is null)`,
);

/** The orders of what a hold holds back, each once. */
const heldOrders = ofEachCustomer<RecordKey>(({ db }, { id }) => ({
  compile: () =>
    sql<RecordKey>`select i.value ->> 'namespace' as namespace, i.value ->> 'id' as id
        from hold_operation h, json_each(h.records) i where h.hold_id = ${id} and i.value ->> 'stream' = 'orders'
      union select i.value ->> 'namespace', i.value ->> 'id' from operation o, json_each(o.records) i
        where o.hold_id = ${id} and o.state = 'held' and i.value ->> 'stream' = 'orders'
      order by 1, 2`.compile(db),
}));

/** The orders that an exception concerns. */
function concerned(ledger: ReadOnlyLedger, facts: ExceptionFacts): OrderRow[] {
  switch (facts.kind) {
    case "quarantined":
      return facts.row.key === null ? [] : ofRecord(ledger, facts.row.stream, facts.row.key);
    case "deferred":
    case "by-hand":
      return ofRecord(ledger, facts.stream, facts.key);
    case "held":
      return heldOrders(ledger, { namespace: "", id: facts.row.id }).flatMap((key) => theOrder(ledger, key));
    case "source-incomplete":
    case "run":
      return [];
    default: {
      const { records } = facts.row;
      const orders = records.filter(({ stream }) => stream === "orders");
      const customer = records.find(({ stream }) => stream === "customers");
      if (orders.length > 0) return orders.flatMap(({ key }) => theOrder(ledger, key));
      return customer === undefined || facts.kind === "settled" ? [] : ofRecord(ledger, "customers", customer.key);
    }
  }
}

function ofRecord(ledger: ReadOnlyLedger, stream: Stream, key: RecordKey): OrderRow[] {
  if (stream === "staff") return [];
  return stream === "orders" ? theOrder(ledger, key) : notPlacedOf(ledger, key);
}

function concernedOrder({ namespace, id, body }: OrderRow): ConcernedOrder {
  const { placedAt, amount } = stored<DesiredOrder>(body);
  return { key: { namespace, id }, crmDate: placedAt ?? null, amount };
}

function isOfProduct({ body }: OrderRow, { product = "" }: Filters): boolean {
  return stored<DesiredOrder>(body).instances.some((one) => one.kind === "product" && isProduct(one, product));
}

const sourceOf = Object.fromEntries(
  streams.map((stream) => [
    stream,
    ofEachCustomer<{ source: string }>(({ db }, { namespace, id }) =>
      db
        .selectFrom("record")
        .select("source")
        .where("stream", "=", sql.lit(stream))
        .where("namespace", "=", namespace)
        .where("id", "=", id),
    ),
  ]),
);

/** Whether an exception is of the source that is asked for: a run is of none. */
function isOfSource(ledger: ReadOnlyLedger, facts: ExceptionFacts, { source }: Filters): boolean {
  if (source === undefined) return true;
  const isFrom = (stream: Stream, key: RecordKey): boolean =>
    sourceOf[stream]?.(ledger, key).some((row) => row.source === source) === true;
  switch (facts.kind) {
    case "quarantined":
    case "source-incomplete":
      return facts.row.source === source;
    case "deferred":
    case "by-hand":
      return isFrom(facts.stream, facts.key);
    case "held":
      return isFrom("customers", facts.row.customer);
    case "run":
      return false;
    default:
      return facts.row.records.some(({ stream, key }) => isFrom(stream, key));
  }
}
