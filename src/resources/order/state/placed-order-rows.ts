import { formatKey } from "../../../crm/keys.ts";
import type { RecordKey } from "../../../crm/model.ts";
import type { OrderWithTree } from "../../../engine/model/desired.ts";
import type { Writes } from "../../../engine/model/resource.ts";
import type { Sqlite } from "../../../ledger/database/database.ts";
import { sqlOf } from "../../../ledger/database/statements.ts";
import { agreedWithNone, type PlacedOrder } from "./changes.ts";

declare module "../../../engine/model/resource.ts" {
  interface ResourceTables {
    placed_order: PlacedOrderTable;
    licence_order: LicenceOrderTable;
    moved_order: MovedOrderTable;
  }
}

export interface PlacedOrderTable {
  namespace: string;
  order_id: string;
  from_at: string;
  to_at: string | null;
  customer_namespace: string;
  customer_id: string;
  channel_order_id: string;
  body_hash: string;
  version: number;
  operation_id: string | null;
  origin: PlacedOrder["origin"];
  products: number;
  /** The form that the state last agreed with; null: the placed form. */
  agreed_hash: string | null;
  agreed_version: number | null;
  placed_for_namespace: string | null;
  placed_for_id: string | null;
}

export interface LicenceOrderTable {
  namespace: string;
  order_id: string;
  sequence: number;
  license_type: string;
  platform_customer_id: string;
  license_order_id: string;
  at: string;
}

/** A customer that an order moved away from. `ended_at`: no part is left there. */
export interface MovedOrderTable {
  namespace: string;
  order_id: string;
  customer_namespace: string;
  customer_id: string;
  since: string;
  ended_at: string | null;
  unclear: string | null;
}

const columns = `p.namespace, p.order_id as id, p.channel_order_id as channelOrderId, p.body_hash as bodyHash, p.version,
  p.origin, p.customer_namespace as ofNamespace, p.customer_id as ofId, p.agreed_hash as agreedHash,
  p.placed_for_namespace as forNamespace, p.placed_for_id as forId`;

type PlacedRow = RecordKey &
  Pick<PlacedOrder, "channelOrderId" | "bodyHash" | "version" | "origin"> & {
    ofNamespace: string;
    ofId: string;
    agreedHash: string | null;
    forNamespace: string | null;
    forId: string | null;
  };

const ofCustomer = "customer_namespace = +@namespace and customer_id = +@id";

const leftThere = `namespace = +@namespace and order_id = +@id and customer_namespace = +@fromNamespace
  and customer_id = +@fromId and ended_at is null`;

/**
 * Orders in enterprises that a customer was linked with earlier. Without an earlier link no order is read.
 * Of a moved order, the last purchase for this customer decides, or else its placing. A purchase without an operation
 * is in the enterprise that the customer was linked with then.
 */
const stoodBefore = `with earlier as (
       select e.enterprise_global_id, e.from_at, e.to_at from link l
       join link e on e.namespace = l.namespace and e.customer_id = l.customer_id and e.to_at is not null
         and e.enterprise_global_id <> l.enterprise_global_id
       where l.namespace = +@namespace and l.customer_id = +@id and l.to_at is null),
     own as (
       select p.namespace, p.order_id from (select 1 from earlier limit 1) cross join placed_order p
       where p.to_at is null and p.customer_namespace = +@namespace and p.customer_id = +@id
       union
       select m.namespace, m.order_id from (select 1 from earlier limit 1) cross join moved_order m
       where m.ended_at is null and m.customer_namespace = +@namespace and m.customer_id = +@id),
     bought as (
       select p.namespace, p.order_id, coalesce(s.at, p.from_at) as at,
         (select o.context ->> 'enterpriseGlobalId' from operation o
           where o.id = iif(s.number is null, p.operation_id, s.operation_id)) as enterprise
       from own join placed_order p on p.namespace = own.namespace and p.order_id = own.order_id and p.to_at is null
       left join order_step s on s.number = (select max(b.number) from order_step b
         where p.placed_for_id is not null and b.namespace = p.namespace and b.order_id = p.order_id
           and b.customer_namespace = @namespace and b.customer_id = @id
           and b.kind = 'bought' and b.origin <> 'found' and b.forgotten_at is null)
       where s.number is not null or coalesce(p.placed_for_namespace, p.customer_namespace) = @namespace
         and coalesce(p.placed_for_id, p.customer_id) = @id)
     select distinct b.namespace, b.order_id as id from bought b join earlier e
       on iif(b.enterprise is null, b.at between e.from_at and e.to_at, b.enterprise = e.enterprise_global_id)`;

/** A customer that has parts of an order, if the CRM names another one: the move begins, or begins again. */
export const leave = `insert into moved_order (namespace, order_id, customer_namespace, customer_id, since)
    select @namespace, @id, @fromNamespace, @fromId, @at from record
      where stream = 'orders' and namespace = +@namespace and id = +@id
        and not (customer_namespace = @fromNamespace and customer_id = @fromId)
    on conflict do update set since = excluded.since, ended_at = null, unclear = null
      where ended_at is not null`;

const texts = {
  of: `select ${columns} from placed_order p where p.to_at is null and ${ofCustomer}
    union
    select ${columns} from record r
    join placed_order p on p.namespace = r.namespace and p.order_id = r.id and p.to_at is null
    where r.stream = 'orders' and r.customer_namespace = +@namespace and r.customer_id = +@id
    union
    select ${columns} from moved_order m
    join placed_order p on p.namespace = m.namespace and p.order_id = m.order_id and p.to_at is null
    where m.ended_at is null and m.customer_namespace = +@namespace and m.customer_id = +@id
    order by 1, 2`,
  elsewhere: stoodBefore,
  isPlaced: "select 1 from placed_order where channel_order_id = +? and to_at is null",
  movedFrom: `select namespace, order_id as id from moved_order where ended_at is null and ${ofCustomer} order by 1, 2`,
  leftAt: `select customer_namespace as namespace, customer_id as id from moved_order
    where namespace = +? and order_id = +? and ended_at is null order by 1, 2`,
  taken: `select 1 from asset_number
    where (number = +@number or (wire_number = +@number and fixed_at is not null))
     and not (fixed_at is not null and wire_number = @number and (
       (origin = 'crm' and (ended_at is not null or (namespace = @namespace and order_id = @id)))
       or (ended_at is null and namespace = @namespace and order_id = @id
         and customer_namespace = @ownerNamespace and customer_id = @ownerId)))`,
  unclear: `select unclear from moved_order where ${leftThere}`,
  place: `insert into placed_order (namespace, order_id, from_at, customer_namespace, customer_id, channel_order_id,
    body_hash, version, operation_id, origin, products) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  licenceOrder: `insert into licence_order (namespace, order_id, sequence, license_type, platform_customer_id,
      license_order_id, at)
    values (@namespace, @id, @sequence, @licenseType, @platformCustomerId, @licenseOrderId, @at)
    on conflict do update set license_type = excluded.license_type,
      platform_customer_id = excluded.platform_customer_id, license_order_id = excluded.license_order_id`,
  leave,
  found: `insert into moved_order (namespace, order_id, customer_namespace, customer_id, since)
    select @namespace, @id, @fromNamespace, @fromId, @at where not exists (
      select 1 from record where stream = 'orders' and namespace = +@namespace and id = +@id
        and customer_namespace = @fromNamespace and customer_id = @fromId)
    on conflict do update set since = excluded.since, ended_at = null, unclear = null
      where ended_at is not null`,
  say: `update moved_order set unclear = @unclear where ${leftThere}`,
  move: `update placed_order set agreed_hash = '${agreedWithNone}', agreed_version = null,
      placed_for_namespace = coalesce(placed_for_namespace, customer_namespace),
      placed_for_id = coalesce(placed_for_id, customer_id),
      customer_namespace = @customerNamespace, customer_id = @customerId
    where namespace = +@namespace and order_id = +@id and to_at is null
      and not (customer_namespace = @customerNamespace and customer_id = @customerId)`,
  left: `update moved_order set ended_at = @at where ${leftThere}`,
};

export class PlacedOrderRows {
  readonly #sql;

  constructor(database: Sqlite) {
    this.#sql = sqlOf(database, texts);
  }

  known({ namespace, id }: RecordKey): ReadonlyMap<string, PlacedOrder> {
    return new Map(this.#sql.rows<PlacedRow>("of", { namespace, id }).map(placedOf));
  }

  elsewhere({ namespace, id }: RecordKey) {
    return this.#sql.rows<RecordKey>("elsewhere", { namespace, id });
  }

  isPlaced(channelOrderId: string): boolean {
    return this.#sql.value<number>("isPlaced", [channelOrderId]) !== undefined;
  }

  movedFrom({ namespace, id }: RecordKey) {
    return this.#sql.rows<RecordKey>("movedFrom", { namespace, id });
  }

  leftAt({ namespace, id }: RecordKey) {
    return this.#sql.rows<RecordKey>("leftAt", [namespace, id]);
  }

  /** Asset numbers that the CRM gives to an order and that its owner cannot get. */
  taken({ key: { namespace, id }, tree }: OrderWithTree, owner: RecordKey): string[] {
    const given = tree.assets.flatMap(({ assetNumbers }) => assetNumbers);
    const of = { namespace, id, ownerNamespace: owner.namespace, ownerId: owner.id };
    return given.filter((number) => this.#sql.value("taken", { ...of, number }) !== undefined);
  }

  /** Why nobody knows which parts are left at a customer; undefined if known. */
  unclear(order: RecordKey, customer: RecordKey): string | undefined {
    return this.#sql.value<string | null>("unclear", there(order, customer)) ?? undefined;
  }

  readonly writes = {
    "order-placed": (change, at) => {
      const { order, customer, channelOrderId, bodyHash, version, operationId, origin, products } = change;
      const whose = [order.namespace, order.id, at, customer.namespace, customer.id];
      this.#sql.change("place", [...whose, channelOrderId, bodyHash, version, operationId, origin, products]);
      this.#sql.change("leave", { ...there(order, customer), at });
      for (const one of change.licenceOrders)
        this.#sql.change("licenceOrder", { ...one, namespace: order.namespace, id: order.id, at });
    },
    /** Only for orders found by a reading: a changed record notes it when it is read. */
    "order-leaving": ({ order, customer, unclear }, at) => {
      this.#sql.change("found", { ...there(order, customer), at });
      this.#sql.change("say", {
        ...there(order, customer),
        unclear,
      });
    },
    "order-moved": ({ order: { namespace, id }, customer }) => {
      this.#sql.change("move", { namespace, id, customerNamespace: customer.namespace, customerId: customer.id });
    },
    "order-left": ({ order, customer }, at) => {
      this.#sql.change("left", { ...there(order, customer), at });
    },
  } satisfies Writes;
}

export function there({ namespace, id }: RecordKey, from: RecordKey) {
  return { namespace, id, fromNamespace: from.namespace, fromId: from.id };
}

function placedOf(row: PlacedRow): [string, PlacedOrder] {
  const { namespace, id, ofNamespace, ofId, forNamespace, forId, agreedHash, ...order } = row;
  const key = { namespace, id };
  const placedFor = forNamespace !== null && forId !== null && { placedFor: { namespace: forNamespace, id: forId } };
  const customer = { namespace: ofNamespace, id: ofId };
  return [formatKey(key), { ...order, key, customer, agreedHash: agreedHash ?? undefined, ...placedFor }];
}
