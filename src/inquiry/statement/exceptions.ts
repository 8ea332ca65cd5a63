import { sourceRemoved } from "../../report/open.ts";
import { sql } from "kysely";
import { formatKey } from "../../crm/keys.ts";
import { streams, type RecordKey, type Stream } from "../../crm/model.ts";
import { stored } from "../../ledger/database/damage.ts";
import { askedBefore } from "../../ledger/decisions/what-is-asked.ts";
import type { KeptOrder } from "../../engine/model/desired.ts";
import { ownerOf, ownerOfQuarantine } from "../../engine/plan/owner.ts";
import { type ExceptionFacts, acceptedAs, signedAs, signOffId } from "../../report/statement/exception-row.ts";
import {
  concernedRows,
  ExceptionTotals,
  signOffRow,
  statedException,
  type Actor,
  type ConcernedOrder,
  type SignOffFacts,
  type StatedException,
} from "../../report/statement/exceptions.ts";
import { isProduct } from "../../report/statement/order-form.ts";
import type { Filters, PartRow, Period, Row, StatementRequest } from "../../report/statement/shape.ts";
import type { Signable } from "../../report/books.ts";
import { asOf } from "../audit.ts";
import { exceptions } from "../exceptions.ts";
import { asked, ofEachCustomer, type ReadOnlyLedger } from "../read-only-ledger.ts";
import { crmDate } from "../../report/crm-date.ts";
import { customersThen, zonesIn } from "./filters.ts";
import { requireBalanced } from "../../report/statement/cells.ts";

/** The exceptions are read three times: for the summary, the rows and the orders. */
export async function* exceptionRows(
  ledger: ReadOnlyLedger,
  request: StatementRequest,
): AsyncGenerator<PartRow, void, void> {
  const { to, zone } = request.period;
  const last = request.asOf ?? (await asOf(ledger));
  const known = { knownAt: last === null || last < to ? last : to, ageing: request.tolerances?.ageing };
  const summary = new ExceptionTotals(known);
  for await (const one of stated(ledger, request)) summary.add(one);
  const totals = summary.rows();
  for (const row of totals) yield { part: "summary", row };
  const check = new ExceptionTotals(known);
  for await (const one of stated(ledger, request)) {
    check.add(one);
    const row = { ...statedException(one, known), ...signOffOf(ledger, request.period.label, one) };
    yield { part: "exceptions", row };
  }
  requireBalanced("exceptions", totals, check.rows());
  for await (const one of stated(ledger, request)) yield* concernedRows(one, known, zone);
  yield* signOffRows(ledger, request);
}

async function* stated(
  ledger: ReadOnlyLedger,
  { period, filters }: StatementRequest,
): AsyncGenerator<StatedException, void, void> {
  const then = customersThen(ledger);
  for await (const { facts, ended } of exceptions(ledger, period)) {
    const open = ended === null || ended.at >= period.to;
    const customer = customerOf(facts);
    if (filters.customer !== undefined && (customer === null || formatKey(customer) !== filters.customer)) continue;
    const branch = customer === null ? null : then.branchBefore(customer, period.to);
    if (filters.branch !== undefined && branch !== filters.branch) continue;
    if (!isOfSource(ledger, facts, filters)) continue;
    const orders = concerned(ledger, facts, period.to);
    if (filters.product !== undefined && !orders.some((order) => isOfProduct(order, filters))) continue;
    yield { facts, ended, open, owner: open ? actorOf(facts) : null, branch, orders: orders.map(concernedOrder) };
  }
}

const lastSignOff = asked<
  { period: string; blocker: string; facts: string },
  { by: string; at: string; reason: string }
>("select by, at, reason from sign_off where period = @period and blocker = @blocker and facts = @facts");

function signOffOf(ledger: ReadOnlyLedger, period: string, exception: StatedException): Row {
  const [signed] = signedAs(exception).flatMap(({ id: blocker, facts }) =>
    lastSignOff(ledger, { period, blocker, facts }),
  );
  return {
    sign_off_id: signOffId(exception),
    signed_off_by: signed?.by ?? null,
    signed_off_at: signed?.at ?? null,
    sign_off_reason: signed?.reason ?? null,
  };
}

/** Those with these ids that were open at a period's end and do not block its close, as they can be signed off. */
export async function acceptable(ledger: ReadOnlyLedger, period: Period, ids: readonly string[]): Promise<Signable[]> {
  const found: Signable[] = [];
  for await (const one of stated(ledger, { period, by: "happened", filters: {} })) {
    const accepted = one.open ? acceptedAs(one) : undefined;
    if (accepted !== undefined && ids.includes(accepted.id)) found.push(accepted);
  }
  return found;
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
      // An operation for the pool has no customer.
      return facts.row.customer?.id === "" ? null : facts.row.customer;
  }
}

function actorOf(facts: ExceptionFacts): Actor | null {
  switch (facts.kind) {
    case "quarantined":
      return ownerOfQuarantine(facts.row.code);
    case "deferred":
      return ownerOf(facts.code === sourceRemoved ? facts.code : facts.cause);
    case "rejected":
      return ownerOf(`rejected.${facts.row.outcomeCode ?? ""}`);
    case "unknown":
      return facts.stood === "parked" ? "operator" : "program";
    case "source-incomplete":
      return "crm";
    case "held":
    case "run":
      return "operator";
    case "settled":
    case "numbers-lost":
    case "by-hand":
      return null;
  }
}

interface OrderRow extends RecordKey {
  body: string;
  date_zones: string | null;
}

const formThen = `v.stream = r.stream and v.namespace = r.namespace and v.id = r.id
  and v.version = (select max(f.version) from record_version f where f.stream = r.stream and f.namespace = r.namespace
    and f.id = r.id and f.from_at < @to)`;

const theOrder = asked<RecordKey & { to: string }, OrderRow>(
  `select r.namespace, r.id, v.body, v.date_zones from record r join record_version v on ${formThen}
   where r.stream = 'orders' and r.namespace = @namespace and r.id = @id`,
);

/** Orders of a waiting customer at a moment, not placed. `+r.stream` makes SQLite use the index by customer. */
const notPlacedOf = asked<RecordKey & { to: string }, OrderRow>(
  `select r.namespace, r.id, v.body, v.date_zones from record r join record_version v on ${formThen}
   where r.customer_namespace = @namespace and r.customer_id = @id and +r.stream = 'orders' and r.first_seen < @to
     and v.body ->> '$.cancelled' = 0
     and not exists (select 1 from record_stood s where s.stream = r.stream and s.namespace = r.namespace
       and s.id = r.id and s.state = 'absent' and s.from_at < @to and (s.to_at is null or s.to_at >= @to))
     and not exists (select 1 from placed_order p where p.namespace = r.namespace and p.order_id = r.id
       and p.from_at < @to and (p.to_at is null or p.to_at >= @to))
   order by r.namespace, r.id`,
);

const heldOrders = asked<{ id: string; before: string }, RecordKey>(
  `with ${askedBefore} select i.value ->> 'namespace' as namespace, i.value ->> 'id' as id
     from asked h, json_each(h.records) i where i.value ->> 'stream' = 'orders'
   union select i.value ->> 'namespace', i.value ->> 'id' from asked h join operation o on o.id = h.operation_id,
     json_each(o.records) i where i.value ->> 'stream' = 'orders'
   order by 1, 2`,
);

function concerned(ledger: ReadOnlyLedger, facts: ExceptionFacts, to: string): OrderRow[] {
  switch (facts.kind) {
    case "quarantined":
      return facts.row.key === null ? [] : ofRecord(ledger, facts.row.stream, facts.row.key, to);
    case "deferred":
    case "by-hand":
      return ofRecord(ledger, facts.stream, facts.key, to);
    case "held":
      return heldOrders(ledger, { id: facts.row.id, before: to }).flatMap((key) => theOrder(ledger, { ...key, to }));
    case "source-incomplete":
    case "run":
      return [];
    default: {
      const { records } = facts.row;
      const orders = records.filter(({ stream }) => stream === "orders");
      const customer = records.find(({ stream }) => stream === "customers");
      if (orders.length > 0) return orders.flatMap(({ key }) => theOrder(ledger, { ...key, to }));
      return customer === undefined || facts.kind === "settled" ? [] : ofRecord(ledger, "customers", customer.key, to);
    }
  }
}

function ofRecord(ledger: ReadOnlyLedger, stream: Stream, key: RecordKey, to: string): OrderRow[] {
  if (stream === "staff") return [];
  return stream === "orders" ? theOrder(ledger, { ...key, to }) : notPlacedOf(ledger, { ...key, to });
}

function concernedOrder({ namespace, id, body, date_zones: zones }: OrderRow): ConcernedOrder {
  const { placedAt, amount } = stored<KeptOrder>(body);
  return { key: { namespace, id }, crmDate: crmDate(placedAt, zonesIn(zones), "placedAt"), amount };
}

function isOfProduct({ body }: OrderRow, { product = "" }: Filters): boolean {
  return stored<KeptOrder>(body).instances.some((one) => one.kind === "product" && isProduct(one, product));
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

/** Empty with any filter. Ordered by audit entry. */
function* signOffRows(ledger: ReadOnlyLedger, { period, filters }: StatementRequest): Generator<PartRow, void, void> {
  if (Object.values(filters).some((filter) => filter !== undefined)) return;
  const said = (field: string) => sql`json_extract(a.body, ${sql.lit(`$.${field}`)})`;
  const query = sql<SignOffFacts>`
    select a.at, ${said("blocker")} as blocker, ${said("what")} as what, ${said("by")} as "by",
      ${said("reason")} as reason, ${said("facts")} as facts, a.sequence as auditSequence
    from audit a where a.subject = ${`period:${period.label}`} and a.kind = 'signed-off' order by a.sequence`;
  for (const facts of ledger.rows(query)) yield signOffRow(facts);
}
