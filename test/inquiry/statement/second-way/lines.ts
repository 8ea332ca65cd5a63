import { minorOf, type BookOrder, type BookProduct, type ToldRun } from "./crm-books.ts";
import type { Computed } from "./whole.ts";

/**
 * The statement of orders from what the sandbox shows after each run, and from the rows of the export: what came under
 * which number, what went, and what it costs.
 */

/** A product under a number, as the platform shows it, with its share of what its line costs. */
interface Unit {
  number: string;
  order: string;
  product: string;
  channelOrder: string;
  licenceOrder: string;
  licenceType: string;
  enterprise: string;
  nodes: number;
  share: bigint;
}

/** By how much a unit costs more. */
interface Change {
  unit: Unit;
  came: -1 | 0 | 1;
  amount: bigint;
}

/** What an event of an order did, with the row of the export that it follows. */
export interface OrderEvent {
  event: "placed" | "amended" | "ended" | "repriced";
  run: ToldRun;
  row: BookOrder;
  changes: Change[];
  /** What stands of the order after it. */
  standing: Unit[];
  /** What the whole order cost before it and costs after it. */
  before: bigint | null;
  after: bigint;
}

/** Every event of every order, run by run. */
export function orderEvents(told: readonly ToldRun[]): OrderEvent[] {
  const standing = new Map<string, Unit[]>();
  const last = new Map<string, BookOrder>();
  return told.flatMap((run) =>
    run.orders.flatMap((row) => {
      const before = last.get(row.id);
      last.set(row.id, row);
      return eventsOf(run, row, { before, standing });
    }),
  );
}

function eventsOf(
  run: ToldRun,
  row: BookOrder,
  { before, standing }: { before: BookOrder | undefined; standing: Map<string, Unit[]> },
): OrderEvent[] {
  const stood = standing.get(row.id);
  const shown = shownOf(run, row);
  const is = (one: Unit) => (other: Unit) => one.number === other.number && one.product === other.product;
  const came = shown.filter((unit) => !(stood ?? []).some(is(unit)));
  const went = (stood ?? []).filter((unit) => !shown.some(is(unit)));
  let units = stood ?? [];
  const whole = minorOf(row.total);
  const cost = { before: before === undefined ? null : minorOf(before.total), after: whole };
  const events: OrderEvent[] = [];
  const tell = (event: OrderEvent["event"], changes: Change[], from: bigint | null): void => {
    standing.set(row.id, units);
    events.push({ event, run, row, changes, standing: structuredClone(units), before: from, after: whole });
  };
  const repriced = row.products.filter(({ id, price }) =>
    before?.products.some((o) => o.id === id && o.price !== price),
  );
  let from = cost.before;
  const reprice = (): void => {
    if (stood === undefined || repriced.length === 0) return;
    const changes = repriced.flatMap((product) => shared(units, row, product, () => false));
    if (changes.length > 0) tell("repriced", changes, from);
    from = whole;
  };
  // What ends goes at the price that it had; a line that has its price still shares it anew.
  const isFirst = went.length === 0;
  if (isFirst) reprice();
  const products = isFirst
    ? row.products
    : row.products.map((product) => before?.products.find(({ id }) => id === product.id) ?? product);
  if (came.length > 0) {
    units = [...units, ...came];
    const changes = products.flatMap((product) => shared(units, row, product, (unit) => came.includes(unit)));
    for (const change of changes) if (came.includes(change.unit)) change.came = 1;
    tell(stood === undefined ? "placed" : "amended", changes, from);
  }
  if (went.length > 0) {
    units = units.filter((unit) => !went.includes(unit));
    const gone = went.map((unit): Change => ({ unit, came: -1, amount: -unit.share }));
    const same = row.products.filter((product) => !repriced.includes(product));
    tell("ended", [...gone, ...same.flatMap((product) => shared(units, row, product, () => false))], from);
    reprice();
  }
  return events;
}

/** What the platform shows of an order, the lowest number first. */
function shownOf({ shown }: ToldRun, row: BookOrder): Unit[] {
  return shown.flatMap(({ number, enterprise, products }) =>
    products
      .filter(({ channelOrderId: id }) => id === row.id || id.startsWith(`${row.id}-`))
      .map((one) => ({
        number,
        order: row.id,
        product: one.crmProductId,
        channelOrder: one.channelOrderId,
        licenceOrder: one.licenseOrderId,
        licenceType: one.licenseType,
        enterprise,
        nodes: one.limitConcurrent,
        share: 0n,
      })),
  );
}

/** Shares what a product costs among its units anew, to the cent; `always`: told also where the share stays. */
function shared(
  units: readonly Unit[],
  row: BookOrder,
  { id, price }: BookProduct,
  always: (unit: Unit) => boolean,
): Change[] {
  const own = units.filter(({ product }) => product === id);
  const wanted = BigInt(assetOf(row, id).quantity);
  const count = wanted > BigInt(own.length) ? wanted : BigInt(own.length);
  const minor = minorOf(price);
  return own.flatMap((unit, index): Change[] => {
    const share = (minor * BigInt(index + 1)) / count - (minor * BigInt(index)) / count;
    const amount = share - unit.share;
    unit.share = share;
    return amount === 0n && !always(unit) ? [] : [{ unit, came: 0, amount }];
  });
}

/** The packages around a product, the outermost first, and its asset. */
function around(row: BookOrder, id: string): { asset: string; packages: BookOrder["packages"] } {
  const packages: BookOrder["packages"] = [];
  let parent = row.products.find((product) => product.id === id)?.parent ?? "";
  for (;;) {
    const one = row.packages.find((item) => item.id === parent);
    if (one === undefined) return { asset: parent, packages };
    packages.unshift(one);
    ({ parent } = one);
  }
}

function assetOf(row: BookOrder, product: string): BookOrder["assets"][number] {
  const asset = row.assets.find(({ id }) => id === around(row, product).asset);
  if (asset === undefined) throw new Error(`no asset of ${product}`);
  return asset;
}

export const branchOf = (run: ToldRun, customer: string): string | null =>
  run.customers.find(({ id }) => id === customer)?.branchCode ?? null;

/** The cells that orders and lines have alike. */
const named = ({ run, row }: OrderEvent) => ({
  crm_order: `crm/${row.id}`,
  crm_date: row.date,
  customer: `crm/${row.customer}`,
  branch: branchOf(run, row.customer),
  source: "crm",
});

/** The lines of events: a row for each product of each purchase, with its seats after the run `last`. */
export function linesOf(events: readonly OrderEvent[], last: ToldRun | undefined): Computed[] {
  return events.flatMap((event) => {
    const groups = Map.groupBy(event.changes, ({ unit }) => `${unit.product} ${unit.channelOrder}`);
    return [...groups.values()].flatMap((changes) => {
      const [first] = changes;
      const product = event.row.products.find(({ id }) => id === first?.unit.product);
      return first === undefined || product === undefined
        ? []
        : [lineOf(event, { unit: first.unit, product, changes }, last)];
    });
  });
}

/** Whether a member holds a unit that came, after a run. */
function isSeat({ shown }: ToldRun, { number, product, channelOrder }: Unit): boolean {
  return shown.some(
    (one) =>
      one.number === number &&
      one.holder !== null &&
      one.products.some(
        ({ crmProductId, channelOrderId }) => crmProductId === product && channelOrderId === channelOrder,
      ),
  );
}

function lineOf(
  event: OrderEvent,
  { unit, product, changes }: { unit: Unit; product: BookProduct; changes: readonly Change[] },
  last: ToldRun | undefined,
): Computed {
  const units = changes.reduce((sum, { came }) => sum + came, 0);
  const { packages } = around(event.row, product.id);
  const moved = changes.some(({ came }) => came !== 0) ? changes.filter(({ came }) => came !== 0) : changes;
  return {
    ...named(event),
    event: event.event,
    date: event.run.at.slice(0, 10),
    at: event.run.at,
    origin: event.event === "repriced" ? null : "sent",
    channel_order_id: unit.channelOrder,
    enterprise_global_id: unit.enterprise,
    license_order_id: unit.licenceOrder,
    license_type: unit.licenceType,
    asset_numbers: [...new Set(moved.map((change) => change.unit.number))].toSorted(),
    package_numbers: packages.map(({ id }) => id),
    package_names: packages.map(({ name }) => name),
    product_id: product.id,
    product: product.name,
    gms_pid: product.pid ?? null,
    app_key: product.app ?? null,
    product_type: "tool",
    units,
    nodes_per_unit: unit.nodes,
    nodes: units * unit.nodes,
    seats: changes.filter(({ unit: one, came }) => came === 1 && last !== undefined && isSeat(last, one)).length,
    term_from: null,
    term_to: product.until?.date ?? assetOf(event.row, product.id).until?.date ?? null,
    term: `${product.years}-0-0`,
    trial: product.trial === true,
    amount: changes.reduce((sum, { amount }) => sum + amount, 0n),
    currency: event.row.currency,
    adjusts: null,
    adjusts_audit_sequence: null,
    run: event.event === "repriced" ? null : event.run.id,
  };
}

/** A row for each order with events: what it cost before the first and after the last one. */
export function ordersOf(events: readonly OrderEvent[]): Computed[] {
  return [...Map.groupBy(events, ({ row }) => row.id).values()].flatMap((own) => {
    const [first, last] = [own[0], own.at(-1)];
    if (first === undefined || last === undefined) return [];
    const { standing, row } = last;
    const stands = standing.length > 0;
    const cost = standing.reduce((sum, { share }) => sum + share, 0n);
    return [
      {
        ...named(last),
        channel_order_id: row.id,
        events: own.length,
        amount_before: first.before,
        currency_before: first.before === null ? null : row.currency,
        amount_after: stands ? last.after : null,
        currency: stands ? row.currency : null,
        lines: new Set(standing.map((unit) => unit.product)).size,
        lines_amount: stands ? cost : null,
        lines_currency: stands ? row.currency : null,
        verdict: !stands ? "ended" : cost === last.after ? "agrees" : "differs",
      },
    ];
  });
}

/** Who was given which number and who lost it, by who holds it on the platform after each run. */
export function licencesOf(told: readonly ToldRun[]): (Computed & { at: string })[] {
  const broughtBy = new Map<string, string>();
  return told.flatMap((run, index) => {
    const before = told[index - 1]?.shown ?? [];
    return run.shown
      .concat(before.filter((one) => !run.shown.some((other) => other.number === one.number)))
      .flatMap((one) => {
        const { number, customer, enterprise, products } = one;
        if (!broughtBy.has(number)) broughtBy.set(number, products[0]?.channelOrderId ?? "");
        const holderOf = (shown: ToldRun["shown"]) => shown.find((other) => other.number === number)?.holder ?? null;
        const [held, holds] = [holderOf(before), holderOf(run.shown)];
        const ends = [
          ["revoked", held],
          ["granted", holds],
        ] as const;
        return ends
          .filter(([, member]) => held !== holds && member !== null)
          .map(([event, member]) => ({
            event,
            date: run.at.slice(0, 10),
            at: run.at,
            customer: `crm/${customer}`,
            branch: branchOf(run, customer),
            source: "hr",
            staff: `crm/${[...run.members].find(([, id]) => id === member)?.[0] ?? ""}`,
            member_global_id: member,
            asset_number: number,
            enterprise_global_id: enterprise,
            crm_order: `crm/${broughtBy.get(number) ?? ""}`,
            channel_order_id: broughtBy.get(number) ?? null,
            run: run.id,
          }));
      });
  });
}
