import { parseKey, formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import { isSameKey } from "../../engine/model/state.ts";
import type { PartRow, StatementRequest } from "../../report/statement/shape.ts";
import { type ReadOnlyLedger, asked } from "../read-only-ledger.ts";
import { allAssignments, assignmentsOf, placedBy, type Assignment } from "./seats.ts";
import { customersThen, type CustomersThen } from "./filters.ts";
import {
  entitlementParts,
  EntitlementTable,
  keyOf,
  movementsOf,
  type EntitlementKey,
  type Movement,
} from "./entitlement-table.ts";
import { orderHistory, type OrderHistory } from "./order-history.ts";
import { foldOrder } from "../../resources/order/fold.ts";
import type { StandingUnit } from "../../resources/order/model.ts";

export function* entitlementsRows(ledger: ReadOnlyLedger, request: StatementRequest): Generator<PartRow, void, void> {
  const then = customersThen(ledger);
  const table = new EntitlementTable(ledger, (customer) => then.branchBefore(customer, request.period.to));
  try {
    const count = new Count(table, then, request);
    for (const order of placedOrders(ledger, request.filters.customer)) count.order(ledger, order);
    table.flush();
    for (const { assignment, source } of allAssignments(ledger)) count.seat(assignment, source);
    table.finish(request.filters.branch);
    yield* entitlementParts(table);
  } finally {
    table.drop();
  }
}

const page = 1000;

type After = RecordKey & { page: number; ofNamespace: string | null; ofId: string | null };

const ordersAfter = asked<After, RecordKey>(`select p.namespace, p.order_id as id
  from placed_order p where p.to_at is null and (p.namespace, p.order_id) > (@namespace, @id)
    and (@ofId is null or (p.placed_for_namespace = @ofNamespace and p.placed_for_id = @ofId)
      or (p.customer_namespace = @ofNamespace and p.customer_id = @ofId)
      or exists (select 1 from order_step s where s.namespace = p.namespace and s.order_id = p.order_id
        and s.forgotten_at is null and s.customer_namespace = @ofNamespace and s.customer_id = @ofId))
  order by p.namespace, p.order_id limit @page`);

/** Pages, so that other statements can write temporary tables between them. */
function* placedOrders(ledger: ReadOnlyLedger, customer: string | undefined): Generator<RecordKey, void, void> {
  const of = customer === undefined ? undefined : parseKey(customer);
  let last: RecordKey | undefined = { namespace: "", id: "" };
  while (last !== undefined) {
    const { namespace, id } = last;
    const ofCustomer = { ofNamespace: of?.namespace ?? null, ofId: of?.id ?? null };
    const keys: RecordKey[] = ordersAfter(ledger, { namespace, id, page, ...ofCustomer });
    yield* keys;
    last = keys.length < page ? undefined : keys.at(-1);
  }
}

class Count {
  readonly #table: EntitlementTable;
  readonly #then: CustomersThen;
  readonly #request: StatementRequest;
  readonly #customer: RecordKey | undefined;

  constructor(table: EntitlementTable, then: CustomersThen, request: StatementRequest) {
    this.#table = table;
    this.#then = then;
    this.#request = request;
    const { customer } = request.filters;
    this.#customer = customer === undefined ? undefined : parseKey(customer);
  }

  order(ledger: ReadOnlyLedger, key: RecordKey): void {
    const { filters, period } = this.#request;
    const history = orderHistory(ledger, key);
    if (history === undefined) return;
    const at = placedBy(this.#request, history.placing);
    let held: ReadonlyMap<string, readonly Assignment[]> = new Map();
    const isOfSource = filters.source === undefined || history.source === filters.source;
    const movements = movementsOf(history, at, (owners) => (held = assignmentsOf(ledger, owners)));
    for (const movement of movements) if (isOfSource) this.#move(movement);
    // Seats of any order count here, whatever source the order has.
    for (const assignments of held.values()) for (const one of assignments) this.#table.addSeat(one);
    if (!isOfSource) return;
    const placed = { ...history, placing: { ...history.placing, at } };
    for (const end of ["from", "to"] as const) this.#stand(placed, held, period[end], `standing_${end}`);
  }

  /** A seat of a number without a known order. `source`: of the staff record. */
  seat(assignment: Assignment, source: string | null): void {
    const { filters, period } = this.#request;
    const { customer, from, to, isGranted, isRevoked } = assignment;
    const key = { customer, licenseType: null, gmsPid: null, appKey: null, product: null };
    if (!this.#isWanted(key) || (filters.source !== undefined && filters.source !== source)) return;
    if (this.#table.hasSeat(assignment)) return;
    const of = { key, measure: "seats" } as const;
    this.#move({ ...of, at: from, isOurs: isGranted, count: 1 });
    if (to !== null) this.#move({ ...of, at: to, isOurs: isRevoked, count: -1 });
    for (const end of ["from", "to"] as const) {
      const moment = period[end];
      if (!isHeld(assignment, customer, moment)) continue;
      const branch = this.#then.branchBefore(customer, moment);
      this.#table.add({ key, branch }, "seats", `standing_${end}`, 1);
    }
  }

  #move({ key, measure, at, isOurs, count }: Movement): void {
    const { from, to } = this.#request.period;
    if (at >= to || !this.#isWanted(key)) return;
    if (at < from) {
      this.#table.add({ key, branch: this.#then.branchBefore(key.customer, from) }, measure, "opening", count);
      return;
    }
    const of = { key, branch: this.#then.branchAt(key.customer, at) };
    if (!isOurs) this.#table.add(of, measure, "adjusted", count);
    else if (count > 0) this.#table.add(of, measure, "granted", count);
    else this.#table.add(of, measure, "revoked", -count);
  }

  #stand(
    history: OrderHistory,
    held: ReadonlyMap<string, readonly Assignment[]>,
    moment: string,
    figure: "standing_from" | "standing_to",
  ): void {
    for (const { customer, units } of standingBefore(history, moment, held.size > 0)) {
      const branch = this.#then.branchBefore(customer, moment);
      for (const { licenseType, number, products } of units) {
        const isSeat = (held.get(number ?? "") ?? []).some((one) => isHeld(one, customer, moment));
        for (const { product } of products) {
          const key = keyOf(customer, licenseType, product);
          if (!this.#isWanted(key)) continue;
          this.#table.add({ key, branch }, "units", figure, 1);
          this.#table.add({ key, branch }, "nodes", figure, product.nodes);
          if (isSeat) this.#table.add({ key, branch }, "seats", figure, 1);
        }
      }
    }
  }

  #isWanted({ customer, gmsPid, appKey }: EntitlementKey): boolean {
    const { product } = this.#request.filters;
    if (product !== undefined && gmsPid !== product && appKey !== product) return false;
    return this.#customer === undefined || isSameKey(this.#customer, customer);
  }
}

function isHeld({ from, to, customer }: Assignment, of: RecordKey, moment: string): boolean {
  return isSameKey(customer, of) && from < moment && (to === null || to >= moment);
}

interface StandingAt {
  customer: RecordKey;
  units: readonly StandingUnit[];
}

/** The order's contents before a moment, by customer. Empty for a form that is no longer kept. */
function standingBefore(history: OrderHistory, moment: string, withNumbers: boolean): StandingAt[] {
  const { placing } = history;
  if (placing.at >= moment) return [];
  const steps = history.steps.filter(({ at }) => at < moment);
  const fold = foldOrder({ ...history, steps, ...(withNumbers ? {} : { numberOf: () => undefined }) });
  const customers = new Map([placing, ...steps].map(({ customer }) => [formatKey(customer), customer]));
  return [...customers.values()].flatMap((customer): StandingAt[] => {
    const standing = fold.standing(customer);
    return "lost" in standing ? [] : [{ customer, units: standing.units }];
  });
}
