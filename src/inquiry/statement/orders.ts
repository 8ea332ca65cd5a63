import { formatKey } from "../../crm/keys.ts";
import type { Money, RecordKey } from "../../crm/model.ts";
import { isSameKey } from "../../operation/state/same-key.ts";
import { localDates } from "../../report/statement/local-date.ts";
import { sumCells } from "../../report/statement/orders.ts";
import type { PartRow, Row, StatementRequest } from "../../report/statement/shape.ts";
import type { ReadOnlyLedger } from "../read-only-ledger.ts";
import { closedTimes } from "../closed-times.ts";
import type { ClosedTime } from "../closed-times.ts";
import { customerAt, orderFacts, proofOf } from "./event-facts.ts";
import type { CustomerFacts } from "./event-facts.ts";
import { licenceRows } from "./licences.ts";
import { orderEventsIn, ordersWithEventsIn } from "./order-events.ts";
import { orderHistory } from "./order-history.ts";
import { OrderLines } from "./order-lines.ts";
import type { Moved, OrderChange, OrderHistory, UnitProduct } from "./order-lines.ts";

type Dates = ReturnType<typeof localDates>;

/** The statement of orders, part by part. Of an order no more is held than its own history. */
export function* ordersRows(ledger: ReadOnlyLedger, request: StatementRequest): Generator<PartRow, void, void> {
  const dates = localDates(request.period.zone);
  for (const row of lineRows(ledger, request, dates)) yield { part: "lines", row };
  for (const row of orderRows(ledger, request, dates)) yield { part: "orders", row };
  for (const row of licenceRows(ledger, request, dates)) yield { part: "licences", row };
}

/** Lines by the time of their event. */
export function* lineRows(ledger: ReadOnlyLedger, request: StatementRequest, dates: Dates): Generator<Row, void, void> {
  const { filters } = request;
  const closed = closedTimes(ledger);
  for (const { number, ...order } of orderEventsIn(ledger, request)) {
    const history = orderHistory(ledger, order);
    const change = history === undefined ? undefined : changesOf(history).find((one) => one.number === number);
    if (history === undefined || change === undefined) continue;
    const facts = customerAt(ledger, change.customer, change.at);
    if (filters.branch !== undefined && facts.branch !== filters.branch) continue;
    const lines = linesOf(change).filter(({ of }) => isOfProduct(of, filters.product));
    if (lines.length === 0) continue;
    const own = {
      ...eventCells(ledger, history, change, { facts, dates }),
      ...adjustedCells(ledger, history, change, closed),
    };
    for (const line of lines) yield { ...own, ...lineCells(line, dates) };
  }
}

/** One row for each order and customer, by the key of the order. */
function* orderRows(ledger: ReadOnlyLedger, request: StatementRequest, dates: Dates): Generator<Row, void, void> {
  const { filters } = request;
  for (const { first, last, events, customer, ...order } of ordersWithEventsIn(ledger, request)) {
    const history = orderHistory(ledger, order);
    if (history === undefined) continue;
    const facts = customerAt(ledger, customer, last.at);
    if (filters.branch !== undefined && facts.branch !== filters.branch) continue;
    const sums = sumsOf(history, customer, { first: first.number, last: last.number });
    if (!sums.moved.some((of) => isOfProduct(of, filters.product))) continue;
    const { source, placedAt } = orderFacts(ledger, order, null);
    yield {
      crm_order: formatKey(order),
      crm_date: dates(placedAt),
      customer: formatKey(customer),
      branch: facts.branch,
      source,
      channel_order_id: history.placing.channelOrderId,
      events,
      amount_before: sums.before?.minor ?? null,
      currency_before: sums.before?.currency ?? null,
      amount_after: sums.after?.minor ?? null,
      currency: sums.after?.currency ?? null,
      lines: sums.lines,
      ...sumCells({ order: sums.after, products: sums.amounts }),
    };
  }
}

function changesOf(history: OrderHistory): OrderChange[] {
  return [...new OrderLines(history).changes()];
}

/** What an order cost a customer before an event and after another one, and what stands of it then. */
function sumsOf(
  history: OrderHistory,
  customer: RecordKey,
  { first, last }: { first: number; last: number },
): {
  before: Money | undefined;
  after: Money | undefined;
  amounts: (Money | undefined)[];
  lines: number;
  moved: (UnitProduct | undefined)[];
} {
  const order = new OrderLines(history);
  let before: Money | undefined;
  const moved: (UnitProduct | undefined)[] = [];
  for (const change of order.changes()) {
    if (change.number < first) before = order.amountOf(customer);
    if (change.number >= first && isSameKey(change.customer, customer))
      moved.push(...(change.moved.length === 0 ? [undefined] : change.moved.map(({ of }) => of)));
    if (change.number >= last) break;
  }
  const standing = order.productsOf(customer);
  return {
    before,
    after: order.amountOf(customer),
    amounts: standing.map(({ amount }) => amount),
    lines: new Set(standing.map(({ product, channelOrderId }) => JSON.stringify([product.id, channelOrderId]))).size,
    moved,
  };
}

/** Units of one product line that an event moved together. */
interface Line {
  /** Undefined: nobody knows any more what the event was about. */
  of: UnitProduct | undefined;
  moved: readonly Moved[];
  amount: Money | undefined;
}

/** The lines that an event moved: a row for each product of each purchase, and for each currency of its price. */
function linesOf({ moved }: OrderChange): Line[] {
  if (moved.length === 0) return [{ of: undefined, moved: [], amount: undefined }];
  const groups = Map.groupBy(moved, ({ of }) =>
    JSON.stringify([of.asset.id, of.product.id, of.channelOrderId, of.licenceOrderId, of.product.nodes]),
  );
  return [...groups.values()].flatMap((group) => {
    const sums = new Map<string, number>();
    for (const { currency, minor } of group.flatMap(({ amounts }) => amounts))
      sums.set(currency, (sums.get(currency) ?? 0) + minor);
    const of = group[0]?.of;
    // What had another currency before is a row by itself, in which no unit moves.
    const [first, ...others] = [...sums].map(([currency, minor]): Money => ({ currency, minor }));
    return [{ of, moved: group, amount: first }, ...others.map((amount) => ({ of, moved: [], amount }))];
  });
}

function isOfProduct(of: UnitProduct | undefined, product: string | undefined): boolean {
  if (product === undefined) return true;
  return of !== undefined && (of.product.gmsPid === product || of.product.appKey === product);
}

function eventCells(
  ledger: ReadOnlyLedger,
  { order, placing, steps }: OrderHistory,
  change: OrderChange,
  { facts, dates }: { facts: CustomerFacts; dates: Dates },
): Row {
  const step = steps.find(({ number }) => number === change.number);
  const version = step === undefined || step.kind === "removed" ? null : step.version;
  const { source, placedAt } = orderFacts(ledger, order, version);
  const proof = proofOf(ledger, change);
  return {
    event: change.event,
    date: dates(change.at),
    at: change.at,
    origin: change.origin,
    crm_order: formatKey(order),
    crm_date: dates(placedAt),
    customer: formatKey(change.customer),
    branch: facts.branch,
    source,
    channel_order_id: placing.channelOrderId,
    enterprise_global_id: facts.enterpriseGlobalId,
    operation: change.operationId,
    run: proof.run,
    audit_sequence: proof.auditSequence,
  };
}

/** The closed period that an event adjusts, and the entry of the placing that stands in it. */
function adjustedCells(
  ledger: ReadOnlyLedger,
  { order, placing }: OrderHistory,
  { number, at }: OrderChange,
  closed: readonly ClosedTime[],
): Row {
  const { placedAt } = orderFacts(ledger, order, null);
  const within = (instant: string | null): ClosedTime | undefined => {
    const then = instant === null ? Number.NaN : Date.parse(instant);
    return closed.find(({ from, to }) => then >= from && then < to);
  };
  const own = within(at);
  const placed = number === 0 ? undefined : within(placing.at);
  const adjusted = placed ?? within(placedAt);
  if (adjusted === undefined || adjusted === own) return {};
  return {
    adjusts: adjusted.period,
    adjusts_audit_sequence: placed === undefined ? null : proofOf(ledger, placing).auditSequence,
  };
}

function lineCells({ of, moved, amount }: Line, dates: Dates): Row {
  const money = { amount: amount?.minor ?? null, currency: amount?.currency ?? null };
  if (of === undefined) return money;
  const { asset, product, packages } = of;
  const units = moved.reduce((sum, one) => sum + one.units, 0);
  const numbers = new Set(moved.flatMap((one) => one.of.unit.number ?? []));
  return {
    channel_order_id: of.channelOrderId,
    license_order_id: of.licenceOrderId,
    license_type: asset.licenseType,
    asset_numbers: [...numbers].toSorted(),
    package_numbers: packages.map((item) => item.number),
    package_names: packages.map((item) => item.name),
    product_id: product.id,
    product: product.name,
    gms_pid: product.gmsPid ?? null,
    app_key: product.appKey ?? null,
    product_type: product.type,
    units,
    nodes_per_unit: product.nodes,
    nodes: units * product.nodes,
    term_from: dates(product.limitStart ?? asset.limitStart),
    term_to: dates(product.limitEnd ?? asset.limitEnd),
    term: product.term,
    trial: product.trial,
    ...money,
  };
}
