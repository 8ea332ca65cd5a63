import type { Writes } from "../../../engine/model/resource.ts";
import { formatKey } from "../../../crm/keys.ts";
import type { RecordKey } from "../../../crm/model.ts";
import { together, inKeyOrder, isSameKey } from "../../../engine/model/state-part.ts";
import type { Sqlite } from "../../../ledger/database/database.ts";
import { statements } from "../../../ledger/database/statements.ts";
import { table } from "../../../ledger/database/statements.ts";

type OrderPlaceds = { [One in OrderPlaced as One["type"]]: One };
declare module "../../../engine/model/resource.ts" {
  interface ChangeShapes extends OrderPlaceds {}
  interface ResourceTables {
    placed_order: PlacedOrderTable;
    licence_order: LicenceOrderTable;
  }
}
declare module "../../../engine/model/state.ts" {
  interface Known extends KnownPlacedOrders {}
}

export interface PlacedOrder {
  key: RecordKey;
  /** For whom it stands: not always the customer that the CRM names now. */
  customer: RecordKey;
  /** For whom it was placed, where it moved since. */
  placedFor?: RecordKey | undefined;
  channelOrderId: string;
  bodyHash: string;
  version: number;
  origin: "placed" | "adopted";
  /** Hash of the form that what stands was last in agreement with; undefined: the one that it was placed with. */
  agreedHash?: string | undefined;
  /** It was placed in an enterprise that its customer was linked with before, and stands there. */
  elsewhere?: true;
}

export interface KnownPlacedOrders {
  placedOrders: ReadonlyMap<string, PlacedOrder>;
}

export interface OrderPlaced {
  type: "order-placed";
  order: RecordKey;
  customer: RecordKey;
  channelOrderId: string;
  bodyHash: string;
  version: number;
  /** Its products, each once for every number of its asset. */
  products: number;
  operationId: string | null;
  origin: "placed" | "adopted";
  licenceOrders: { sequence: number; licenseType: string; platformCustomerId: string; licenseOrderId: string }[];
}

/** Of no form of an order is it said that what stands is that. */
export const agreedWithNone = "";

/** What an order that is gone from the CRM agrees with once nothing of it stands: no form is this. */
export const goneForm = "gone";

/** With what the CRM wants of an order its standing can agree: the hash of its form, or that it is gone. */
export function wantedForm({ state, bodyHash }: { state: string; bodyHash: string }): string {
  return state === "absent" ? goneForm : bodyHash;
}

const placedOrders = together<KnownPlacedOrders, OrderPlaced>((known, changes, context) => {
  const placed = changes.filter(({ customer }) => isSameKey(customer, context.customer));
  if (placed.length === 0) return known;
  const all = new Map(known.placedOrders);
  for (const { order: key, customer, channelOrderId, bodyHash, version, origin } of placed)
    all.set(formatKey(key), { key, customer, channelOrderId, bodyHash, version, origin });
  return { ...known, placedOrders: inKeyOrder(all) };
});

/** An order of which the CRM says something else by now comes with what stands of it, which only the ledger has. */
function isReadAnew({ order, bodyHash }: OrderPlaced, bodyHashes: ReadonlyMap<string, string>): boolean {
  return (bodyHashes.get(formatKey(order)) ?? bodyHash) !== bodyHash;
}

export const placedOrdersParts = { "order-placed": { ...placedOrders, isForLater: true as const, isReadAnew } };

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
  /** Products that stand of it, each once for every number of its asset. */
  products: number;
  /** The form with which what stands was last in agreement; null: the one that it was placed with. */
  agreed_hash: string | null;
  agreed_version: number | null;
  /** For whom it was placed, where it moved since. */
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

export const placedOrderTables = {
  placed_order: table<PlacedOrderTable>(),
  licence_order: table<LicenceOrderTable>(),
};

/** Orders that are on the platform, with the licence orders that it made of each. */
export class PlacedOrderRows {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = prepareStatements(database);
  }

  known({ namespace, id }: RecordKey): KnownPlacedOrders {
    const rows = this.#statements.of.all({ namespace, id }).map((row): [string, PlacedOrder] => {
      const key = { namespace: row.namespace, id: row.order_id };
      return [
        formatKey(key),
        {
          key,
          channelOrderId: row.channel_order_id,
          bodyHash: row.body_hash,
          version: row.version,
          origin: row.origin,
          agreedHash: row.agreed_hash ?? undefined,
          ...(row.placed_for_namespace !== null &&
            row.placed_for_id !== null && {
              placedFor: { namespace: row.placed_for_namespace, id: row.placed_for_id },
            }),
          customer: { namespace: row.customer_namespace, id: row.customer_id },
        },
      ];
    });
    return { placedOrders: new Map(rows) };
  }

  /** Orders of a customer that were placed in another enterprise than the one that it is linked with. */
  elsewhere({ namespace, id }: RecordKey): RecordKey[] {
    return this.#statements.elsewhere.all({ namespace, id });
  }

  /** Whether an order is placed under a channel order number, whosoever it is. */
  isPlaced(channelOrderId: string): boolean {
    return this.#statements.placedUnder.get(channelOrderId) !== undefined;
  }

  readonly writes = {
    "order-placed": (change, at) => {
      const { order, customer, channelOrderId, bodyHash, version, operationId, origin } = change;
      this.#statements.place.run(
        order.namespace,
        order.id,
        at,
        customer.namespace,
        customer.id,
        channelOrderId,
        bodyHash,
        version,
        operationId,
        origin,
        change.products,
      );
      for (const { sequence, licenseType, platformCustomerId, licenseOrderId } of change.licenceOrders) {
        this.#statements.licenceOrder.run(
          order.namespace,
          order.id,
          sequence,
          licenseType,
          platformCustomerId,
          licenseOrderId,
          at,
        );
      }
    },
  } satisfies Writes;
}

/**
 * Orders that stand in an enterprise that a customer was linked with before. Most customers never had another link:
 * then no order is looked at. Of one that moved it counts when something of it was bought last for the customer, or
 * when it was placed for it.
 */
const stoodBefore = `with earlier as (
       select e.namespace, e.customer_id, e.from_at, e.to_at from link l
       join link e on e.namespace = l.namespace and e.customer_id = l.customer_id and e.to_at is not null
         and e.enterprise_global_id <> l.enterprise_global_id
       where l.namespace = +@namespace and l.customer_id = +@id and l.to_at is null),
     own as (
       select p.namespace, p.order_id from earlier e
       join placed_order p on p.customer_namespace = e.namespace and p.customer_id = e.customer_id
         and p.to_at is null
       union
       select m.namespace, m.order_id from earlier e
       join moved_order m on m.customer_namespace = e.namespace and m.customer_id = e.customer_id
         and m.ended_at is null)
     select distinct p.namespace, p.order_id as id from own
     join placed_order p on p.namespace = own.namespace and p.order_id = own.order_id and p.to_at is null
     join earlier e on iif(p.placed_for_id is null,
         iif(p.customer_namespace = e.namespace and p.customer_id = e.customer_id, p.from_at, ''), coalesce(
         (select max(s.at) from order_step s where s.namespace = p.namespace and s.order_id = p.order_id
            and s.customer_namespace = e.namespace and s.customer_id = e.customer_id
            and s.kind = 'bought' and s.origin <> 'found' and s.forgotten_at is null),
         iif(p.placed_for_namespace = e.namespace and p.placed_for_id = e.customer_id, p.from_at, '')))
       between e.from_at and e.to_at`;

function prepareStatements(database: Sqlite) {
  return statements.onUse({
    of: () =>
      database.prepare<
        [{ namespace: string; id: string }],
        Omit<PlacedOrderTable, "from_at" | "to_at" | "operation_id" | "products" | "agreed_version">
      >(
        `select p.namespace, p.order_id, p.channel_order_id, p.body_hash, p.version, p.origin, p.customer_namespace,
         p.customer_id, p.agreed_hash, p.placed_for_namespace, p.placed_for_id
       from placed_order p where p.to_at is null and p.customer_namespace = +@namespace and p.customer_id = +@id
       union
       select p.namespace, p.order_id, p.channel_order_id, p.body_hash, p.version, p.origin, p.customer_namespace,
         p.customer_id, p.agreed_hash, p.placed_for_namespace, p.placed_for_id
       from record r join placed_order p on p.namespace = r.namespace and p.order_id = r.id and p.to_at is null
       where r.stream = 'orders' and r.customer_namespace = +@namespace and r.customer_id = +@id
       union
       select p.namespace, p.order_id, p.channel_order_id, p.body_hash, p.version, p.origin, p.customer_namespace,
         p.customer_id, p.agreed_hash, p.placed_for_namespace, p.placed_for_id
       from moved_order m join placed_order p on p.namespace = m.namespace and p.order_id = m.order_id
         and p.to_at is null
       where m.ended_at is null and m.customer_namespace = +@namespace and m.customer_id = +@id
       order by 1, 2`,
      ),
    elsewhere: () => database.prepare<[RecordKey], RecordKey>(stoodBefore),
    placedUnder: () =>
      database.prepare<[string], Pick<PlacedOrderTable, "order_id">>(
        "select order_id from placed_order where channel_order_id = +? and to_at is null",
      ),
    place: () =>
      database.prepare(
        `insert into placed_order (namespace, order_id, from_at, customer_namespace, customer_id, channel_order_id,
         body_hash, version, operation_id, origin, products) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ),
    licenceOrder: () =>
      database.prepare(
        `insert into licence_order (namespace, order_id, sequence, license_type, platform_customer_id, license_order_id,
         at)
       values (?, ?, ?, ?, ?, ?, ?)
       on conflict do update set license_type = excluded.license_type,
         platform_customer_id = excluded.platform_customer_id, license_order_id = excluded.license_order_id`,
      ),
  });
}
