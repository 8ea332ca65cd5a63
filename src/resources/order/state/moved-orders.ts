import type { Writes } from "../../../engine/model/resource.ts";
import { formatKey } from "../../../crm/keys.ts";
import type { RecordKey } from "../../../crm/model.ts";
import type { OrderWithTree } from "../../../engine/model/desired.ts";
import { notOfCustomers, oneByOne, isSameKey } from "../../../engine/model/state-part.ts";
import type { Sqlite } from "../../../ledger/database/database.ts";
import { statements } from "../../../ledger/database/statements.ts";
import { table } from "../../../ledger/database/statements.ts";
import { agreedWithNone } from "./placed-orders.ts";
import type { KnownPlacedOrders } from "./placed-orders.ts";

type MovedOrderChanges = { [One in MovedOrderChange as One["type"]]: One };
declare module "../../../engine/model/resource.ts" {
  interface ChangeShapes extends MovedOrderChanges {}
  interface ResourceTables {
    moved_order: MovedOrderTable;
  }
}

/** An order that moved in the CRM, and of which nothing is left where it was, is its new customer's from now on. */
export interface OrderMoved {
  type: "order-moved";
  order: RecordKey;
  from: RecordKey;
  customer: RecordKey;
}

/** Nothing of an order stands any more for a customer that it moved away from. */
export interface OrderLeft {
  type: "order-left";
  order: RecordKey;
  customer: RecordKey;
}

/** Something of an order was found where it stands for a customer that is not its own in the CRM. */
export interface OrderLeaving {
  type: "order-leaving";
  order: RecordKey;
  customer: RecordKey;
  /** Why nobody knows what of it stands there; null where the steps of the order say it. */
  unclear: string | null;
}

export type MovedOrderChange = OrderMoved | OrderLeft | OrderLeaving;

const moved = oneByOne<KnownPlacedOrders, OrderMoved>((known, { order, customer }) => {
  const placed = known.placedOrders.get(formatKey(order));
  if (placed === undefined || isSameKey(placed.customer, customer)) return known;
  const all = new Map(known.placedOrders);
  const { placedFor = placed.customer } = placed;
  all.set(formatKey(order), { ...placed, customer, placedFor, agreedHash: agreedWithNone });
  return { ...known, placedOrders: all };
});

const left = oneByOne<KnownPlacedOrders, OrderLeft>((known, { order, customer }, context) => {
  const placed = known.placedOrders.get(formatKey(order));
  if (placed === undefined || !isSameKey(customer, context.customer) || isSameKey(placed.customer, customer))
    return known;
  return {
    ...known,
    placedOrders: new Map([...known.placedOrders].filter(([key]) => key !== formatKey(order))),
  };
});

const isReadAnew = (): boolean => true;

export const movedOrdersParts = {
  "order-moved": { ...moved, isReadAnew },
  "order-left": { ...left, isReadAnew },
  "order-leaving": { ...notOfCustomers, isReadAnew },
};

/** A customer that an order moved away from in the CRM; `ended_at` once nothing of it stands there. */
export interface MovedOrderTable {
  namespace: string;
  order_id: string;
  customer_namespace: string;
  customer_id: string;
  since: string;
  ended_at: string | null;
  /** Why nobody knows what of it stands there. */
  unclear: string | null;
}

export const movedOrderTables = { moved_order: table<MovedOrderTable>() };

/** Customers that orders moved away from. Who the record of an order leaves is noted when the record is taken up. */
export class MovedOrderRows {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = prepareStatements(database);
  }

  /** Orders that moved away from a customer in the CRM and of which something may stand for it still, in key order. */
  movedFrom({ namespace, id }: RecordKey): RecordKey[] {
    return this.#statements.movedFrom.all(namespace, id);
  }

  /** The customers that an order moved away from and for whom something of it may stand still, in key order. */
  leftAt({ namespace, id }: RecordKey): RecordKey[] {
    return this.#statements.leftAt.all(namespace, id);
  }

  /** Asset numbers that the CRM gives to an order of `owner` and that it cannot have there. */
  taken({ key: { namespace, id }, tree }: OrderWithTree, owner: RecordKey): string[] {
    const given = tree.assets.flatMap(({ assetNumbers }) => assetNumbers);
    const of = { namespace, id, ownerNamespace: owner.namespace, ownerId: owner.id };
    return given.filter((number) => this.#statements.taken.get({ ...of, number }) !== undefined);
  }

  /** Why nobody knows what of an order stands for a customer that it moved away from; undefined where that is known. */
  unclear(order: RecordKey, customer: RecordKey): string | undefined {
    return this.#statements.unclear.get(order.namespace, order.id, customer.namespace, customer.id) ?? undefined;
  }

  readonly writes = {
    "order-leaving": ({ order, customer, unclear }, at) => {
      const run = this.#statements;
      const { namespace, id } = order;
      run.leave.run({ namespace, id, fromNamespace: customer.namespace, fromId: customer.id, at });
      run.say.run(unclear, namespace, id, customer.namespace, customer.id);
    },
    "order-moved": ({ order: { namespace, id }, customer }) => {
      this.#statements.move.run({ namespace, id, customerNamespace: customer.namespace, customerId: customer.id });
    },
    "order-left": ({ order, customer }, at) => {
      this.#statements.left.run(at, order.namespace, order.id, customer.namespace, customer.id);
    },
  } satisfies Writes;
}

function unclearStatements(database: Sqlite) {
  return {
    unclear: () =>
      database
        .prepare<[string, string, string, string], string | null>(
          `select unclear from moved_order where namespace = +? and order_id = +? and customer_namespace = +?
            and customer_id = +? and ended_at is null`,
        )
        .pluck(),
    say: () =>
      database.prepare(
        `update moved_order set unclear = ? where namespace = +? and order_id = +? and customer_namespace = +?
          and customer_id = +? and ended_at is null`,
      ),
  };
}

function takenStatements(database: Sqlite) {
  return {
    // A number of the CRM comes back once its asset ended; one of the pool is that of its unit alone, for good.
    taken: () =>
      database.prepare<[RecordKey & Record<"number" | "ownerNamespace" | "ownerId", string>], { number: string }>(
        `select number from asset_number where (number = +@number or (wire_number = +@number and fixed_at is not null))
         and not (fixed_at is not null and wire_number = @number and (
           (origin = 'crm' and (ended_at is not null or (namespace = @namespace and order_id = @id)))
           or (ended_at is null and namespace = @namespace and order_id = @id
             and customer_namespace = @ownerNamespace and customer_id = @ownerId)))`,
      ),
  };
}

function prepareStatements(database: Sqlite) {
  return statements.onUse({
    ...unclearStatements(database),
    ...takenStatements(database),
    movedFrom: () =>
      database.prepare<[string, string], RecordKey>(
        `select namespace, order_id as id from moved_order
       where ended_at is null and customer_namespace = +? and customer_id = +? order by 1, 2`,
      ),
    leftAt: () =>
      database.prepare<[string, string], RecordKey>(
        `select customer_namespace as namespace, customer_id as id from moved_order
       where namespace = +? and order_id = +? and ended_at is null order by 1, 2`,
      ),
    move: () =>
      database.prepare(
        `update placed_order set agreed_hash = '${agreedWithNone}', agreed_version = null,
         placed_for_namespace = coalesce(placed_for_namespace, customer_namespace),
         placed_for_id = coalesce(placed_for_id, customer_id),
         customer_namespace = @customerNamespace, customer_id = @customerId
       where namespace = +@namespace and order_id = +@id and to_at is null
         and not (customer_namespace = @customerNamespace and customer_id = @customerId)`,
      ),
    leave: () =>
      database.prepare(
        `insert into moved_order (namespace, order_id, customer_namespace, customer_id, since)
          select @namespace, @id, @fromNamespace, @fromId, @at where not exists (
            select 1 from record where stream = 'orders' and namespace = +@namespace and id = +@id
              and customer_namespace = @fromNamespace and customer_id = @fromId)
          on conflict do update set since = excluded.since, ended_at = null, unclear = null
            where ended_at is not null`,
      ),
    left: () =>
      database.prepare(
        `update moved_order set ended_at = ? where namespace = +? and order_id = +? and customer_namespace = +?
          and customer_id = +? and ended_at is null`,
      ),
  });
}
