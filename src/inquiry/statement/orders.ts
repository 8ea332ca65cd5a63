import { formatKey } from "../../crm/keys.ts";
import type { Money, RecordKey } from "../../crm/model.ts";
import { crmDate, localDates, type CrmDate } from "../../report/crm-date.ts";
import { isSameKey } from "../../engine/model/state.ts";
import { plus, type Exact } from "../../report/statement/cells.ts";
import { sumCells } from "../../report/statement/orders.ts";
import type { PartRow, Row, StatementRequest } from "../../report/statement/shape.ts";
import type { ReadOnlyLedger } from "../read-only-ledger.ts";
import { statedOrder, type Moved, type OrderChange, type UnitProduct } from "./amounts.ts";
import { assignmentsOf, livesOf, placedBy, seatsOf } from "./seats.ts";
import { customersThen, type CustomersThen, type DatedOrder } from "./filters.ts";
import { licenceRows } from "./licences.ts";
import {
  orderEventsIn,
  ordersWithEventsIn,
  orderHistory,
  type HistoryStep,
  type OrderHistory,
} from "./order-history.ts";
import { proofs, Recent } from "./proof.ts";
import { sidesOf } from "../../report/statement/period.ts";

type Dates = ReturnType<typeof localDates>;

interface Words {
  dates: Dates;
  customers: CustomersThen;
  proofOf: ReturnType<typeof proofs>;
}

export function* ordersRows(ledger: ReadOnlyLedger, request: StatementRequest): Generator<PartRow, void, void> {
  const words = { dates: localDates(request.period.zone), customers: customersThen(ledger), proofOf: proofs(ledger) };
  for (const row of orderLines(ledger, request, words)) yield { part: "lines", row };
  for (const row of orderRows(ledger, request, words)) yield { part: "orders", row };
  for (const row of licenceRows(ledger, request, words)) yield { part: "licences", row };
}

function* orderLines(ledger: ReadOnlyLedger, request: StatementRequest, words: Words): Generator<Row, void, void> {
  const { filters } = request;
  const closed = closedTimes(ledger);
  const followed = new Recent<Followed | undefined>(mostFollowed);
  for (const { number, ...order } of orderEventsIn(ledger, request)) {
    const known = followed.get(formatKey(order), () => followedOf(ledger, order, request));
    const change = known?.changes.get(number);
    if (known === undefined || change === undefined) continue;
    const branch = words.customers.branchAt(change.customer, change.at);
    if (filters.branch !== undefined && branch !== filters.branch) continue;
    const lines = linesOf(change).filter(({ of }) => isOfProduct(of, filters.product));
    if (lines.length === 0) continue;
    const { run, auditSequence } = words.proofOf(change);
    const own = {
      branch,
      ...eventCells(known, change, words),
      ...adjustedCells(known.history, change, closed, words),
      run,
      audit_sequence: auditSequence,
    };
    for (const line of lines) yield { ...own, ...lineCells(line, known.seats, words.dates) };
  }
}

function* orderRows(ledger: ReadOnlyLedger, request: StatementRequest, words: Words): Generator<Row, void, void> {
  const { filters } = request;
  for (const { events, at, customer, ...order } of ordersWithEventsIn(ledger, request)) {
    const history = orderHistory(ledger, order);
    if (history === undefined) continue;
    const branch = words.customers.branchAt(customer, at);
    if (filters.branch !== undefined && branch !== filters.branch) continue;
    const sums = sumsOf(history, customer, events);
    if (!sums.moved.some((of) => isOfProduct(of, filters.product))) continue;
    yield {
      crm_order: formatKey(order),
      crm_date: dateOfOrder(history.placing.form, words.dates),
      customer: formatKey(customer),
      branch,
      source: history.source,
      channel_order_id: history.placing.channelOrderId,
      events: sums.events,
      amount_before: sums.before?.minor ?? null,
      currency_before: sums.before?.currency ?? null,
      amount_after: sums.after?.minor ?? null,
      currency: sums.after?.currency ?? null,
      lines: sums.lines,
      ...sumCells({ order: sums.after, products: sums.amounts, isKnown: isKnown(history, Math.max(...events)) }),
    };
  }
}

interface Followed {
  history: OrderHistory;
  changes: ReadonlyMap<number, OrderChange>;
  steps: ReadonlyMap<number, HistoryStep>;
  seats: Seats;
}

/** Seats at the end of the period, by the movement that brought the product. */
type Seats = ReadonlyMap<Moved, number>;

/** Orders with several events in a period are followed only once. */
const mostFollowed = 20_000;

function followedOf(
  ledger: ReadOnlyLedger,
  order: RecordKey,
  request: StatementRequest,
): { value: Followed | undefined; weight: number } {
  const history = orderHistory(ledger, order);
  if (history === undefined) return { value: undefined, weight: 1 };
  const { changes } = statedOrder(history);
  const value = {
    history,
    changes: new Map(changes.map((change) => [change.number, change])),
    steps: new Map(history.steps.map((step) => [step.number, step])),
    seats: seatsAtEnd(ledger, { history, changes }, request),
  };
  return { value, weight: changes.reduce((sum, { moved }) => sum + 1 + moved.length, 0) };
}

function seatsAtEnd(
  ledger: ReadOnlyLedger,
  { history, changes }: { history: OrderHistory; changes: readonly OrderChange[] },
  request: StatementRequest,
): Seats {
  const { to } = request.period;
  const seats = new Map<Moved, number>();
  const lives = livesOf(changes, placedBy(request, history.placing));
  for (const { life, begun, ended } of seatsOf(lives, (owners) => assignmentsOf(ledger, owners)))
    if (begun.at < to && (ended === undefined || ended.at >= to)) seats.set(life.came, (seats.get(life.came) ?? 0) + 1);
  return seats;
}

/** Otherwise the order's contents are unknown. */
function isKnown({ placing, steps }: OrderHistory, last: number): boolean {
  if (placing.form === undefined) return false;
  return steps.every((step) => step.number > last || step.kind !== "bought" || step.form !== undefined);
}

function sumsOf(
  history: OrderHistory,
  customer: RecordKey,
  numbers: readonly number[],
): {
  events: number;
  before: Money | undefined;
  after: Money | undefined;
  amounts: (Money | undefined)[];
  lines: number;
  moved: (UnitProduct | undefined)[];
} {
  const [first, last] = [Math.min(...numbers), Math.max(...numbers)];
  const steps = history.steps.filter(({ number }) => number <= last);
  // Prices do not need asset numbers.
  const { changes, productsOf } = statedOrder({ ...history, steps, numberOf: () => undefined });
  const own = changes.filter((change) => isSameKey(change.customer, customer));
  const since = own.filter(({ number }) => number >= first).map((change) => ({ change, lines: linesOf(change) }));
  const standing = productsOf(customer);
  return {
    events: since.filter(({ change, lines }) => lines.length > 0 && numbers.includes(change.number)).length,
    before: own.findLast(({ number }) => number < first)?.amount,
    after: own.at(-1)?.amount,
    amounts: standing.map(({ amount }) => amount),
    lines: new Set(standing.map(({ product }) => product.id)).size,
    moved: since.flatMap(({ lines }) => (lines.length === 0 ? [undefined] : lines.map(({ of }) => of))),
  };
}

interface Line {
  /** Undefined: the event's content is no longer known. */
  of: UnitProduct | undefined;
  moved: readonly Moved[];
  amount: { currency: string; minor: Exact } | undefined;
}

function linesOf({ event, moved }: OrderChange): Line[] {
  if (moved.length === 0) return event === "repriced" ? [] : [{ of: undefined, moved: [], amount: undefined }];
  const groups = Map.groupBy(moved, ({ of }) =>
    JSON.stringify([of.asset.id, of.product.id, of.channelOrderId, of.licenceOrderId, of.product.nodes]),
  );
  return [...groups.values()].flatMap((group) => {
    const sums = new Map<string, Exact>();
    for (const { currency, minor } of group.flatMap(({ amounts }) => amounts))
      sums.set(currency, plus(sums.get(currency) ?? 0, minor));
    const of = group[0]?.of;
    const [first, ...others] = [...sums].map(([currency, minor]) => ({ currency, minor }));
    return [{ of, moved: group, amount: first }, ...others.map((amount) => ({ of, moved: [], amount }))];
  });
}

function isOfProduct(of: UnitProduct | undefined, product: string | undefined): boolean {
  if (product === undefined) return true;
  return of !== undefined && (of.product.gmsPid === product || of.product.appKey === product);
}

function eventCells(
  { history: { order, source, placing }, steps }: Followed,
  change: OrderChange,
  { dates, customers }: Words,
): Row {
  const step = steps.get(change.number);
  const form = step === undefined || step.kind === "removed" ? placing.form : step.form;
  return {
    event: change.event,
    date: dates(change.at),
    at: change.at,
    origin: change.origin,
    crm_order: formatKey(order),
    crm_date: dateOfOrder(form, dates),
    customer: formatKey(change.customer),
    source,
    channel_order_id: placing.channelOrderId,
    enterprise_global_id: customers.enterpriseAt(change.customer, change.at),
    operation: change.operationId,
  };
}

function dateOfOrder(form: DatedOrder | undefined, dates: Dates): string | null {
  return dates(form?.placedAt, form?.zones?.["placedAt"]);
}

/** Which closed period the event adjusts, and the entry of the placing in that period. */
function adjustedCells(
  { placing }: OrderHistory,
  { number, at }: OrderChange,
  closed: readonly ClosedTime[],
  { proofOf }: Words,
): Row {
  const within = (date: CrmDate | null): ClosedTime | undefined =>
    date === null ? undefined : closed.find((period) => period.has(date));
  const own = within({ at, zone: undefined });
  const placed = number === 0 ? undefined : within({ at: placing.at, zone: undefined });
  const adjusted = placed ?? within(crmDate(placing.form?.placedAt, placing.form?.zones, "placedAt"));
  if (adjusted === undefined || adjusted === own) return {};
  return {
    adjusts: adjusted.period,
    adjusts_audit_sequence: placed === undefined ? null : proofOf(placing).auditSequence,
  };
}

function lineCells({ of, moved, amount }: Line, seats: Seats, dates: Dates): Row {
  const money = { amount: amount?.minor ?? null, currency: amount?.currency ?? null };
  if (of === undefined) return money;
  const { asset, product, zones, packages } = of;
  const dateOf = (field: "limitStart" | "limitEnd"): string | null =>
    dates(product[field] ?? asset[field], zones?.[`${product[field] === undefined ? "asset" : "product"}.${field}`]);
  const units = moved.reduce((sum, one) => sum + one.units, 0);
  const changed = moved.filter((one) => one.units !== 0);
  const numbers = new Set((changed.length > 0 ? changed : moved).flatMap((one) => one.of.unit.number ?? []));
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
    seats: moved.reduce((sum, one) => sum + (seats.get(one) ?? 0), 0),
    term_from: dateOf("limitStart"),
    term_to: dateOf("limitEnd"),
    term: product.term,
    trial: product.trial,
    ...money,
  };
}

interface ClosedTime {
  period: string;
  has(date: CrmDate): boolean;
}

/** Closed periods that were not reopened, by time. */
function closedTimes(ledger: ReadOnlyLedger): ClosedTime[] {
  const query = ledger.db
    .selectFrom("closed_period")
    .select(["period as label", "zone", "from_at as from", "to_at as to"])
    .where("reopened_at", "is", null)
    .orderBy("from_at");
  return [...ledger.rows(query)].map((period) => {
    const sideOf = sidesOf(period);
    return { period: period.label, has: (date) => sideOf(date) === 0 };
  });
}
