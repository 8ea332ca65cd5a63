import { formatKey } from "../../../crm/keys.ts";
import type { Money, RecordKey } from "../../../crm/model.ts";
import { withNumbers, type FixedNumber } from "../../../engine/model/references.ts";
import {
  inKeyOrder,
  isSameKey,
  notOfCustomers,
  oneByOne,
  together,
  goneWishes,
  withoutGone,
  type KnownRequests,
} from "../../../engine/model/state.ts";
import type { BoughtItem, RemovedItem } from "../shapes.ts";

type OrderChanges = { [One in OrderChange as One["type"]]: One };
declare module "../../../engine/model/resource.ts" {
  interface ChangeShapes extends OrderChanges {}
}
declare module "../../../engine/model/state.ts" {
  interface Known extends KnownOrders {}
}

export interface PlacedOrder {
  key: RecordKey;
  /** Not always the current customer in the CRM. */
  customer: RecordKey;
  /** If it moved since. */
  placedFor?: RecordKey | undefined;
  channelOrderId: string;
  bodyHash: string;
  version: number;
  origin: "placed" | "adopted";
  /** The form that the state last agreed with; undefined: the placed form. */
  agreedHash?: string | undefined;
  /** It is in an enterprise that its customer was linked with earlier. */
  elsewhere?: true;
}

export interface KnownOrders {
  placedOrders: ReadonlyMap<string, PlacedOrder>;
  numbers: FixedNumber[];
}

export const agreedWithNone = "";

/** The "form" of an order that is deleted in the CRM. */
export const goneForm = "gone";

function wantedForm({ state, bodyHash }: { state: string; bodyHash: string }): string {
  return state === "absent" ? goneForm : bodyHash;
}

export function agreed(order: { key: RecordKey; version: number; state: string; bodyHash: string }): OrderAgreed {
  return { type: "order-agreed", order: order.key, version: order.version, bodyHash: wantedForm(order) };
}

export function agreesWith(
  { agreedHash, bodyHash }: Pick<PlacedOrder, "agreedHash" | "bodyHash">,
  order: { state: string; bodyHash: string },
): boolean {
  return (agreedHash ?? bodyHash) === wantedForm(order);
}

export interface LicenceOrder {
  sequence: number;
  licenseType: string;
  platformCustomerId: string;
  licenseOrderId: string;
}

export interface OrderPlaced extends Pick<PlacedOrder, "customer" | "channelOrderId" | "bodyHash" | "version"> {
  type: "order-placed";
  order: RecordKey;
  products: number;
  operationId: string | null;
  origin: PlacedOrder["origin"];
  licenceOrders: LicenceOrder[];
}

interface OrderMoved {
  type: "order-moved";
  order: RecordKey;
  from: RecordKey;
  customer: RecordKey;
}

interface OrderLeft {
  type: "order-left";
  order: RecordKey;
  customer: RecordKey;
}

interface OrderLeaving {
  type: "order-leaving";
  order: RecordKey;
  customer: RecordKey;
  unclear: string | null;
}

/** `product: null`: the amount of the whole order. */
export interface PricedItem {
  product: string | null;
  from: Money | null;
  to: Money | null;
}

export type StepOrigin = "sent" | "by-hand" | "found" | "rebuilt";

interface Bought {
  channelOrderId: string;
  version: number;
  items: BoughtItem[];
  licenceOrders: LicenceOrder[];
}

export type OrderStep = {
  /** Sequence of the steps, independent of the clock. */
  number: number;
  order: RecordKey;
  /** Each customer of the order has a separate state. */
  customer: RecordKey;
  origin: StepOrigin;
} & (
  | ({ kind: "bought" } & Bought)
  | { kind: "removed"; items: RemovedItem[] }
  | { kind: "priced"; version: number; items: PricedItem[] }
);

interface Happened {
  order: RecordKey;
  customer: RecordKey;
  operationId: string | null;
  origin: StepOrigin;
  products: number;
}

export interface OrderBought extends Happened, Bought {
  type: "order-bought";
}

export interface OrderRemoved extends Happened {
  type: "order-removed";
  items: RemovedItem[];
}

export interface OrderPriced {
  type: "order-priced";
  order: RecordKey;
  customer: RecordKey;
  version: number;
  items: PricedItem[];
}

interface OrderAgreed {
  type: "order-agreed";
  order: RecordKey;
  version: number;
  bodyHash: string;
}

interface NumbersTaken {
  type: "numbers-taken";
  numbers: string[];
  operationId: string;
}

/**
 * Numbers of removed assets. Pool numbers are never used again. Their requests end and do not apply to a later asset.
 */
interface NumbersEnded {
  type: "numbers-ended";
  numbers: string[];
}

type OrderChange =
  | OrderPlaced
  | OrderMoved
  | OrderLeft
  | OrderLeaving
  | OrderBought
  | OrderRemoved
  | OrderPriced
  | OrderAgreed
  | NumbersTaken
  | NumbersEnded;

const placed = together<KnownOrders, OrderPlaced>((known, changes, context) => {
  const all = new Map(known.placedOrders);
  for (const { order: key, customer, channelOrderId, bodyHash, version, origin } of changes)
    if (isSameKey(customer, context.customer))
      all.set(formatKey(key), { key, customer, channelOrderId, bodyHash, version, origin });
  return all.size === 0 ? known : { ...known, placedOrders: inKeyOrder(all) };
});

function withOrder<Whole extends KnownOrders>(
  known: Whole,
  order: RecordKey,
  now: (placed: PlacedOrder) => PlacedOrder | undefined,
): Whole {
  const before = known.placedOrders.get(formatKey(order));
  const after = before && now(before);
  if (after === undefined) return known;
  return { ...known, placedOrders: new Map(known.placedOrders).set(formatKey(order), after) };
}

const moved = oneByOne<KnownOrders, OrderMoved>((known, { order, customer }) =>
  withOrder(known, order, (before) => {
    const { placedFor = before.customer } = before;
    return isSameKey(before.customer, customer)
      ? undefined
      : { ...before, customer, placedFor, agreedHash: agreedWithNone };
  }),
);

const left = oneByOne<KnownOrders, OrderLeft>((known, { order, customer }, context) => {
  const before = known.placedOrders.get(formatKey(order));
  if (before === undefined || !isSameKey(customer, context.customer) || isSameKey(before.customer, customer))
    return known;
  const others = [...known.placedOrders].filter(([key]) => key !== formatKey(order));
  return { ...known, placedOrders: new Map(others) };
});

const step = oneByOne<KnownOrders, OrderBought | OrderRemoved | OrderAgreed>((known, change) =>
  withOrder(known, change.order, (before) => {
    // Steps at another customer do not change the state here.
    if ("customer" in change && !isSameKey(change.customer, before.customer)) return undefined;
    return { ...before, agreedHash: change.type === "order-agreed" ? change.bodyHash : agreedWithNone };
  }),
);

const bought = oneByOne<KnownOrders, OrderBought>((known, change, context) => {
  if (!isSameKey(change.customer, context.customer)) return step.apply(known, [change], context);
  const { namespace, id: orderId } = change.order;
  const renewed = change.items.flatMap(({ instanceId, unit, number, continues }): FixedNumber[] =>
    continues === undefined || number === null ? [] : [{ number, namespace, orderId, instanceId, unit, continues }],
  );
  return step.apply(withNumbers(known, renewed), [change], context);
});

/** An ended unit loses its number if a renewing unit has it. */
const removed = oneByOne<KnownOrders, OrderRemoved>((known, change, context) => {
  const { namespace, id: orderId } = change.order;
  const whole = change.items.flatMap(({ product, number, instanceId, unit }) =>
    product === null && number !== null ? [unitNamed({ namespace, orderId, instanceId, unit, number })] : [],
  );
  const renewed = new Set(known.numbers.flatMap(({ number, continues }) => (continues === undefined ? [] : [number])));
  const goes = (item: FixedNumber): boolean => renewed.has(item.number) && whole.includes(unitNamed(item));
  const left = known.numbers.some(goes) ? { ...known, numbers: known.numbers.filter((item) => !goes(item)) } : known;
  return step.apply(left, [change], context);
});

const ended = oneByOne<KnownOrders & KnownRequests, NumbersEnded>((known, { numbers }) => ({
  ...known,
  requests: withoutGone(known.requests, numbers),
  crmAsked: goneWishes(known.crmAsked, numbers),
  numbers: known.numbers.filter(({ number }) => !numbers.includes(number)),
}));

export function unitNamed({ namespace, orderId, instanceId, unit, number }: FixedNumber): string {
  return JSON.stringify([namespace, orderId, instanceId, unit, number]);
}

const isReadAnew = (): boolean => true;

export const changes = {
  "order-placed": {
    ...placed,
    isForLater: true as const,
    /** If the CRM changed or moved the order meanwhile, its standing must be read from the ledger. */
    isReadAnew: ({ order, bodyHash }: OrderPlaced, bodyHashes: ReadonlyMap<string, string>): boolean =>
      bodyHashes.get(formatKey(order)) !== bodyHash,
  },
  "order-moved": { ...moved, isReadAnew },
  "order-left": { ...left, isReadAnew },
  "order-leaving": { ...notOfCustomers, isReadAnew },
  "order-bought": { ...bought, isReadAnew },
  "order-removed": { ...removed, isReadAnew },
  "order-priced": { ...notOfCustomers, isReadAnew },
  "order-agreed": { ...step, isReadAnew },
  "numbers-taken": notOfCustomers,
  "numbers-ended": { ...ended, isReadAnew },
};
