import { sql } from "kysely";
import type { RecordKey } from "../../crm/model.ts";
import { stored } from "../../ledger/database/damage.ts";
import type { RecordTable, RecordVersionTable } from "../../ledger/records/tables.ts";
import type { PlacedOrderTable } from "../../resources/order/state/placed-order-rows.ts";
import type { KeptOrder } from "../../engine/model/desired.ts";
import type { CrmDate } from "../../report/crm-date.ts";
import {
  becameOf,
  correctionRow,
  type AnsweringStep,
  type Answers,
  type Became,
  type ChangedOrder,
  type ChangingForm,
  type Correction,
  type OpenOperation,
} from "../../report/statement/corrections.ts";
import {
  isProduct,
  orderChanges,
  orderForm,
  type OrderChange,
  type OrderForm,
} from "../../report/statement/order-form.ts";
import type { Filters, PartRow, StatementRequest } from "../../report/statement/shape.ts";
import { orderSteps } from "../placed-orders.ts";
import { ofEachCustomer, type ReadOnlyLedger } from "../read-only-ledger.ts";
import { branchThen, isWithin, ofCustomer, ofSource, zonesIn } from "./filters.ts";
import { newestEntryOf, readingAt } from "./proof.ts";

type FormRow = Pick<RecordVersionTable, "namespace" | "id" | "version" | "from_at" | "to_at" | "source" | "place"> &
  Pick<RecordVersionTable, "body" | "date_zones"> &
  Pick<RecordTable, "customer_namespace" | "customer_id" | "deferred_code"> &
  Pick<PlacedOrderTable, "channel_order_id"> & {
    before_version: number;
    before_body: string;
    before_zones: string | null;
    newest: number;
    placed_at: string;
    branch: string | null;
  };

/** Rows of the statement: orders in the order of their keys, each form after the one before it. */
export function* correctionRows(ledger: ReadOnlyLedger, request: StatementRequest): Generator<PartRow, void, void> {
  let known: { of: string; answers: Answers; otherwise: ToldOtherwise } | undefined;
  for (const row of ledger.rows(laterForms(request))) {
    const [before, after] = [formIn(row.before_body, row.before_zones), formIn(row.body, row.date_zones)];
    const changes = orderChanges(before, after).filter((change) => isAsked(change, { before, after }, request.filters));
    if (changes.length === 0) continue;
    const of = JSON.stringify([row.namespace, row.id]);
    // The forms of an order come one after another, and what became of it is read once.
    if (known?.of !== of) {
      const order = { namespace: row.namespace, id: row.id };
      known = { of, answers: answersOf(ledger, order, row), otherwise: toldOtherwise(ledger, order) };
    }
    for (const change of changes) {
      const form = { version: row.version, since: row.from_at, ...known.otherwise(change, row.version) };
      const became = becameOf(change, form, known.answers);
      yield correctionRow(correctionOf(ledger, row, { change, became, after }), request.period.zone);
    }
  }
}

function correctionOf(
  ledger: ReadOnlyLedger,
  row: FormRow,
  { change, became, after }: { change: OrderChange; became: Became; after: OrderForm },
): Correction {
  return {
    ...changedOrder(row, after.placedAt),
    change,
    from: row.from_at,
    to: row.to_at,
    versions: { before: row.before_version, after: row.version },
    source: row.source,
    place: row.place,
    became,
    auditSequence: auditSequenceOf(ledger, row, became),
  };
}

/** The forms before and after a version that say the same thing of an order otherwise. */
type ToldOtherwise = (change: OrderChange, version: number) => Pick<ChangingForm, "again" | "before">;

const formsOfOrder = ofEachCustomer(({ db }, order) =>
  db
    .selectFrom("record_version")
    .select(["version", "from_at", "body", "date_zones"])
    .where("stream", "=", sql.lit("orders"))
    .where("namespace", "=", order.namespace)
    .where("id", "=", order.id)
    .orderBy("version"),
);

function toldOtherwise(ledger: ReadOnlyLedger, order: RecordKey): ToldOtherwise {
  const named = ({ level, item, field }: OrderChange): string => JSON.stringify([level, item, field]);
  const changes = new Map<string, { version: number; since: string }[]>();
  let before: OrderForm | undefined;
  for (const { version, from_at: since, body, date_zones: zones } of formsOfOrder(ledger, order)) {
    const form = formIn(body, zones);
    for (const change of before === undefined ? [] : orderChanges(before, form)) {
      const name = named(change);
      changes.set(name, [...(changes.get(name) ?? []), { version, since }]);
    }
    before = form;
  }
  return (change, version) => {
    const all = changes.get(named(change)) ?? [];
    return {
      again: all.find((one) => one.version > version),
      before: all.findLast((one) => one.version < version)?.since,
    };
  };
}

/** The order of a row, as a statement names it. */
export function changedOrder(
  row: Pick<FormRow, "namespace" | "id" | "customer_namespace" | "customer_id" | "branch" | "placed_at"> &
    Pick<FormRow, "channel_order_id">,
  crmDate: CrmDate | null,
): ChangedOrder {
  return {
    order: { namespace: row.namespace, id: row.id },
    customer: { namespace: row.customer_namespace, id: row.customer_id },
    branch: row.branch,
    crmDate,
    channelOrderId: row.channel_order_id,
    placedAt: row.placed_at,
  };
}

/** A form of an order as it is kept, with the zones of its dates. */
export function formIn(body: string, zones: string | null): OrderForm {
  return orderForm(stored<KeptOrder>(body), zonesIn(zones));
}

/** Whether a change is of the product that is asked for: of an order, where one of its forms has that product. */
export function isAsked(
  { level, item, asset }: OrderChange,
  { before, after }: Record<"before" | "after", OrderForm>,
  { product }: Filters,
): boolean {
  if (product === undefined) return true;
  return [before, after].some((form) =>
    [...form.products.values()].some(
      (one) =>
        isProduct(one, product) &&
        (level === "order" || (level === "product" ? one.id === item : one.assetId === asset)),
    ),
  );
}

/** Every form of a placed order since the one that it was placed from, with the form before it. */
function laterForms({ period, by, filters }: StatementRequest) {
  // For whom the order was, and who looked after them, when the form came.
  const customer = {
    namespace: sql`coalesce(v.body ->> '$.customerNamespace', v.namespace)`,
    id: sql`v.body ->> '$.customerId'`,
  };
  const branch = branchThen(customer, sql`v.from_at`);
  const isIn = isWithin(period, by, sql`v.from_at`);
  const query = sql<FormRow>`select v.namespace, v.id, v.version, v.from_at, v.to_at, v.source, v.place, v.body,
      v.date_zones, b.version as before_version, b.body as before_body, b.date_zones as before_zones,
      r.version as newest, r.deferred_code,
      ${customer.namespace} as customer_namespace, ${customer.id} as customer_id, ${branch} as branch,
      p.channel_order_id, p.from_at as placed_at
    from placed_order p
    cross join record r on r.stream = 'orders' and r.namespace = p.namespace and r.id = p.order_id
    cross join record_version v on v.stream = r.stream and v.namespace = r.namespace and v.id = r.id
      and v.version > p.version
    cross join record_version b on b.stream = v.stream and b.namespace = v.namespace and b.id = v.id
      and b.version = (select max(o.version) from record_version o where o.stream = v.stream
        and o.namespace = v.namespace and o.id = v.id and o.version < v.version)
    where p.to_at is null and ${isIn}
      and ${ofCustomer(filters, customer, branch)} and ${ofSource(filters, sql`v.source`)}
    order by p.namespace, p.order_id, v.version`;
  return query;
}

const operationsOfOrder = ofEachCustomer(({ db }, order) =>
  db
    .selectFrom("operation_record as l")
    .innerJoin("operation as o", "o.id", "l.operation_id")
    .select(["o.id", "o.created_at", "o.state"])
    .select(sql<number | null>`o.after ->> '$.version'`.as("version"))
    .where("l.stream", "=", sql.lit("orders"))
    .where("l.namespace", "=", order.namespace)
    .where("l.record_id", "=", order.id)
    .where("o.state", "not in", ["done", "dropped"])
    .orderBy("o.created_at", "desc")
    .orderBy("o.id", "desc"),
);

/** What happened to an order since it was placed, and what is meant to. */
function answersOf(
  ledger: ReadOnlyLedger,
  order: RecordKey,
  { newest, deferred_code: waits }: Pick<FormRow, "newest" | "deferred_code">,
): Answers {
  return {
    steps: orderSteps(ledger, order).map(({ kind, at, version, items, operation_id: operationId }) => {
      return { kind, at, version, items: stored<AnsweringStep["items"]>(items), operationId };
    }),
    operations: operationsOfOrder(ledger, order).flatMap(({ id, state, version, created_at: createdAt }) =>
      isOpen(state) ? [{ id, state, version, createdAt }] : [],
    ),
    newest,
    waits,
  };
}

function isOpen(state: OpenOperation["state"] | "done" | "dropped"): state is OpenOperation["state"] {
  return state !== "done" && state !== "dropped";
}

/** The newest audit entry of the operation that answered a change, or that of the reading by which it was learned. */
function auditSequenceOf(
  ledger: ReadOnlyLedger,
  { customer_namespace: namespace, customer_id: id }: FormRow,
  { operationId, at }: Became,
): number | null {
  if (operationId !== null) return newestEntryOf(ledger, operationId);
  return at === null ? null : readingAt(ledger, { namespace, id }, at);
}
