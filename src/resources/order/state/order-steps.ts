import { formatKey } from "../../../crm/keys.ts";
import type { Money, RecordKey } from "../../../crm/model.ts";
import type { EarlierUnit, FixedNumber } from "../../../engine/model/references.ts";
import { withNumbers } from "../../../engine/model/references.ts";
import type { KnownAssetNumbers } from "./asset-numbers.ts";
import { goneWishes, withoutGone } from "../../../engine/model/state-parts.ts";
import type { KnownRequests } from "../../../engine/model/state-parts.ts";
import { notOfCustomers, oneByOne, isSameKey } from "../../../engine/model/state-part.ts";
import { agreedWithNone } from "./placed-orders.ts";
import type { KnownPlacedOrders } from "./placed-orders.ts";

type OrderStepChanges = { [One in OrderStepChange as One["type"]]: One };
declare module "../../../engine/model/resource.ts" {
  interface ChangeShapes extends OrderStepChanges {}
}

/** A licence order that one E5 made, by the sequence of its order record. */
export interface LicenceOrder {
  sequence: number;
  licenseType: string;
  platformCustomerId: string;
  licenseOrderId: string;
}

/** What one call bought under one asset number: ids of the products and of the outermost packages. */
export interface BoughtItem {
  instanceId: string;
  unit: number;
  number: string | null;
  products: string[];
  packages: string[];
  /** The earlier units whose number it has, nearest first, where it is a unit that renews one. */
  continues?: EarlierUnit[] | undefined;
}

/** What went from one asset number: one product of one purchase, or (`product: null`) all that the number held. */
export interface RemovedItem {
  instanceId: string;
  unit: number;
  number: string | null;
  product: string | null;
  channelOrderId: string | null;
  licenseOrderId: string | null;
}

/** An amount that changed; `product: null` is the order's own. */
export interface PricedItem {
  product: string | null;
  from: Money | null;
  to: Money | null;
}

/** Who says that a step happened: our own call, a person, a reading, or the ledger when it was built anew. */
export type StepOrigin = "sent" | "by-hand" | "found" | "rebuilt";

interface Step {
  /** In the order of what happened, without a clock. */
  number: number;
  order: RecordKey;
  /** For whom it was: the standing of an order is apart for each customer that it was placed for. */
  customer: RecordKey;
  origin: StepOrigin;
}

/** What changed of an order that stands on the platform. `version`: the form of the order that it was made from. */
export type OrderStep = Step &
  (
    | {
        kind: "bought";
        channelOrderId: string;
        version: number;
        items: readonly BoughtItem[];
        licenceOrders: readonly LicenceOrder[];
      }
    | { kind: "removed"; items: readonly RemovedItem[] }
    | { kind: "priced"; version: number; items: readonly PricedItem[] }
  );

interface Happened {
  order: RecordKey;
  customer: RecordKey;
  operationId: string | null;
  origin: StepOrigin;
  /** How many products it brings or takes, each once for every asset number. */
  products: number;
}

export interface OrderBought extends Happened {
  type: "order-bought";
  channelOrderId: string;
  version: number;
  items: BoughtItem[];
  licenceOrders: LicenceOrder[];
}

export interface OrderRemoved extends Happened {
  type: "order-removed";
  items: RemovedItem[];
}

/** Amounts of a form of the order: the ledger and the reports have them, and no call is made. */
export interface OrderPriced {
  type: "order-priced";
  order: RecordKey;
  customer: RecordKey;
  version: number;
  items: PricedItem[];
}

/** What stands is what a form of the order says. */
export interface OrderAgreed {
  type: "order-agreed";
  order: RecordKey;
  version: number;
  bodyHash: string;
}

/**
 * Asset numbers whose assets are gone: a number of the pool is never used again, what was done or refused of one is
 * asked for no more, and what the CRM asked for says nothing of what is bought under it.
 */
export interface NumbersEnded {
  type: "numbers-ended";
  numbers: string[];
}

export type OrderStepChange = OrderBought | OrderRemoved | OrderPriced | OrderAgreed | NumbersEnded;

const step = oneByOne<KnownPlacedOrders, OrderBought | OrderRemoved | OrderAgreed>((known, change) => {
  const placed = known.placedOrders.get(formatKey(change.order));
  // What happens of it elsewhere says nothing of what stands for whom it stands.
  if (placed === undefined || ("customer" in change && !isSameKey(change.customer, placed.customer))) return known;
  const agreedHash = change.type === "order-agreed" ? change.bodyHash : agreedWithNone;
  const all = new Map(known.placedOrders);
  all.set(formatKey(change.order), { ...placed, agreedHash });
  return { ...known, placedOrders: all };
});

const ended = oneByOne<KnownAssetNumbers & KnownRequests, NumbersEnded>((known, { numbers }) => ({
  ...known,
  requests: withoutGone(known.requests, numbers),
  crmAsked: goneWishes(known.crmAsked, numbers),
  numbers: known.numbers.filter(({ number }) => !numbers.includes(number)),
}));

/** Units that renew earlier ones have their numbers by the purchase that brought them. */
const bought = oneByOne<KnownPlacedOrders & KnownAssetNumbers, OrderBought>((known, change, context) => {
  if (!isSameKey(change.customer, context.customer)) return step.apply(known, [change], context);
  const { namespace, id: orderId } = change.order;
  const renewed = change.items.flatMap(({ instanceId, unit, number, continues }): FixedNumber[] =>
    continues === undefined || number === null ? [] : [{ number, namespace, orderId, instanceId, unit, continues }],
  );
  return step.apply(withNumbers(known, renewed), [change], context);
});

/** A unit that goes has its number no more, where another unit has that by renewal. */
const removed = oneByOne<KnownPlacedOrders & KnownAssetNumbers, OrderRemoved>((known, change, context) => {
  const whole = change.items.filter(({ product, number }) => product === null && number !== null);
  const isRenewed = (of: string): boolean =>
    known.numbers.some(({ number, continues }) => number === of && continues !== undefined);
  const numbers = known.numbers.filter(
    (item) =>
      !isRenewed(item.number) ||
      !whole.some(
        ({ instanceId, unit, number }) =>
          number === item.number &&
          instanceId === item.instanceId &&
          unit === item.unit &&
          change.order.id === item.orderId &&
          change.order.namespace === item.namespace,
      ),
  );
  const left = numbers.length === known.numbers.length ? known : { ...known, numbers };
  return step.apply(left, [change], context);
});

const isReadAnew = (): boolean => true;

export const orderStepsParts = {
  "order-bought": { ...bought, isReadAnew },
  "order-removed": { ...removed, isReadAnew },
  "order-priced": { ...notOfCustomers, isReadAnew },
  "order-agreed": { ...step, isReadAnew },
  "numbers-ended": { ...ended, isReadAnew },
};
