import { type OrderHistory, standingAfter } from "./fold.ts";
import { toJson } from "../../base/canonical-json.ts";
import { physicalLockTypes } from "../../contract/limits.ts";
import { formatKey } from "../../crm/keys.ts";
import type { LicenseType, RecordKey } from "../../crm/model.ts";
import type { StateRows, StateStore } from "../../engine/model/resource.ts";
import type { StateChange } from "../../engine/model/state.ts";
import type { LoadedCustomer } from "../../engine/plan/input.ts";
import type { Sqlite } from "../../ledger/database/database.ts";
import { sqlOf } from "../../ledger/database/statements.ts";
import type { LedgerRows } from "../../ledger/state/registry.ts";
import type { OrderStanding } from "./model.ts";
import { AssetNumberRows } from "./state/asset-number-rows.ts";
import { changes, type KnownOrders } from "./state/changes.ts";
import { OrderGathering, OrderHistories } from "./state/gather.ts";
import { OrderStepRows } from "./state/order-step-rows.ts";
import { PlacedOrderRows } from "./state/placed-order-rows.ts";

export interface OrderRows extends StateRows {
  readonly placed: PlacedOrderRows;
  readonly numbers: AssetNumberRows;
  readonly steps: OrderStepRows;
  readonly history: (customer: RecordKey, order: RecordKey) => OrderHistory | undefined;
  /** `lost`: the state is unknown. Undefined: the order is not placed. */
  readonly standing: (customer: RecordKey, order: RecordKey) => OrderStanding | { lost: string } | undefined;
  readonly licenceTypes: (customer: RecordKey) => ReadonlyMap<string, LicenseType>;
}

declare module "../../engine/model/resource.ts" {
  interface ResourceRows {
    order: OrderRows;
  }
}

const ofCustomer = "customer_namespace = +@namespace and customer_id = +@id";

const nothing: KnownOrders = { placedOrders: new Map(), numbers: [] };

export const state = {
  tables: [
    "placed_order",
    "licence_order",
    "moved_order",
    "asset_number",
    "earlier_number",
    "order_step",
    "amendment_number",
  ],
  nothing,
  changes,
  facts: {
    standing: {
      of: ({ placedOrders }) => [...placedOrders].map(([key, placed]) => [key, toJson({ ...placed, body: undefined })]),
      moved: (order) => [
        `the placed order ${order} changed`,
        `order ${order} was removed`,
        `order ${order} was placed`,
      ],
    },
  },
  holds: {
    orders: `(exists (select 1 from record where ${ofCustomer} and stream = 'orders')
      or exists (select 1 from placed_order where to_at is null and ${ofCustomer})
      or exists (select 1 from moved_order where ended_at is null and ${ofCustomer}))`,
    moved: `exists (select 1 from moved_order where ended_at is null and ${ofCustomer})`,
  },
  learned: ({ standings, away }, learned) => ({
    standings: standingsAfter(standings, learned),
    away: awayAfter(away, learned),
  }),
  open,
} satisfies StateStore<keyof typeof changes, OrderRows>;

function standingsAfter(before: LoadedCustomer["standings"], changes: readonly StateChange[]): typeof before {
  let standings = before;
  for (const change of changes) {
    if (change.type !== "order-removed" && change.type !== "order-priced") continue;
    const key = formatKey(change.order);
    const standing = standings?.get(key);
    if (standing === undefined || "lost" in standing) continue;
    standings = new Map([...(standings ?? []), [key, standingAfter(standing, change)]]);
  }
  return standings;
}

function awayAfter(before: LoadedCustomer["away"], changes: readonly StateChange[]): typeof before {
  const left = changes.flatMap((change) => (change.type === "order-left" ? [formatKey(change.order)] : []));
  return left.length === 0 ? before : before?.filter(({ order }) => !left.includes(formatKey(order.key)));
}

function open(database: Sqlite, ledger: LedgerRows): OrderRows {
  const placed = new PlacedOrderRows(database);
  const numbers = new AssetNumberRows(database);
  const steps = new OrderStepRows(database, ledger);
  const counts = sqlOf(database, counting);
  const histories = new OrderHistories(steps, ledger.desired);
  const known = (customer: RecordKey): KnownOrders => ({
    placedOrders: placed.known(customer),
    numbers: numbers.known(customer),
  });
  return {
    placed,
    numbers,
    steps,
    load: known,
    ofLink({ placedOrders }, customer) {
      const elsewhere = placed.elsewhere(customer);
      if (elsewhere.length === 0) return {};
      const all = new Map(placedOrders);
      for (const key of elsewhere.map(formatKey)) {
        const order = all.get(key);
        if (order !== undefined) all.set(key, { ...order, elsewhere: true });
      }
      return { placedOrders: all };
    },
    gather: (given) => new OrderGathering({ placed, numbers, steps, histories }, ledger, given).gathered(),
    writes: { ...placed.writes, ...numbers.writes, ...steps.writes },
    count(thing, customer) {
      if (thing !== "products" && thing !== "locks") return undefined;
      if (customer === undefined) return counts.value(`all ${thing}`) ?? 0;
      return counts.value(thing, { namespace: customer.namespace, id: customer.id }) ?? 0;
    },
    standing(customer, order) {
      const of = known(customer);
      const found = of.placedOrders.get(formatKey(order));
      return found && histories.standing(found, customer, of);
    },
    history: (customer, order) => histories.of(customer, order, known(customer)),
    licenceTypes: (customer) => histories.licenceTypes(known(customer)),
  };
}

/** Physical locks by the placed form of their order. The joins start at the orders, so each is read once. */
export const locksByType = `select count(*) as count from placed_order p
  cross join record_version v on v.stream = 'orders' and v.namespace = p.namespace and v.id = p.order_id
    and v.version = p.version
  cross join json_each(v.body, '$.instances') i
  cross join asset_number n on n.namespace = p.namespace and n.order_id = p.order_id
    and n.instance_id = i.value ->> 'id'
  where i.value ->> 'kind' = 'asset'
    and i.value ->> 'licenseType' in (${physicalLockTypes.map((type) => `'${type}'`).join(", ")})
    and n.fixed_at is not null and n.ended_at is null and p.to_at is null`;

const counting = {
  products: `select coalesce(sum(products), 0) from placed_order where to_at is null and ${ofCustomer}`,
  locks: `${locksByType} and p.customer_namespace = +@namespace and p.customer_id = +@id
    and n.customer_namespace = +@namespace and n.customer_id = +@id`,
  "all products": "select count from tally where name = 'product'",
  "all locks": locksByType,
};
