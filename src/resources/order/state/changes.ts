import { formatKey } from "../../../crm/keys.ts";
import type { Money, RecordKey } from "../../../crm/model.ts";
import { withNumbers, type FixedNumber } from "../../../engine/model/references.ts";
import { inKeyOrder, isSameKey, notOfCustomers, oneByOne, together } from "../../../engine/model/state-part.ts";
import { goneWishes, withoutGone, type KnownRequests } from "../../../engine/model/state-parts.ts";
import type { BoughtItem, RemovedItem } from "../payload.ts";

type OrderChanges = { [One in OrderChange as One["type"]]: One };
declare module "../../../engine/model/resource.ts" {
  interface ChangeShapes extends OrderChanges {}
}
declare module "../../../engine/model/state.ts" {
  interface Known extends KnownOrders {}
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

export interface KnownOrders {
  placedOrders: ReadonlyMap<string, PlacedOrder>;
  numbers: FixedNumber[];
}

/** Of no form of an order is it said that what stands is that. */
export const agreedWithNone = "";

/** What an order that is gone from the CRM agrees with once nothing of it stands: no form is this. */
export const goneForm = "gone";

/** With what the CRM wants of an order its standing can agree: the hash of its form, or that it is gone. */
function wantedForm({ state, bodyHash }: { state: string; bodyHash: string }): string {
  return state === "absent" ? goneForm : bodyHash;
}

/** What stands is what this form says. */
export function agreed(order: { key: RecordKey; version: number; state: string; bodyHash: string }): OrderAgreed {
  return { type: "order-agreed", order: order.key, version: order.version, bodyHash: wantedForm(order) };
}

/** Whether what stands of an order was last in agreement with what the CRM wants of it now. */
export function agreesWith(
  { agreedHash, bodyHash }: Pick<PlacedOrder, "agreedHash" | "bodyHash">,
  order: { state: string; bodyHash: string },
): boolean {
  return (agreedHash ?? bodyHash) === wantedForm(order);
}

/** A licence order that one E5 made, by the sequence of its order record. */
export interface LicenceOrder {
  sequence: number;
  licenseType: string;
  platformCustomerId: string;
  licenseOrderId: string;
}

export interface OrderPlaced extends Pick<PlacedOrder, "customer" | "channelOrderId" | "bodyHash" | "version"> {
  type: "order-placed";
  order: RecordKey;
  /** Its products, each once for every number of its asset. */
  products: number;
  operationId: string | null;
  origin: PlacedOrder["origin"];
  licenceOrders: LicenceOrder[];
}

/** An order that moved in the CRM, and of which nothing is left where it was, is its new customer's from now on. */
interface OrderMoved {
  type: "order-moved";
  order: RecordKey;
  from: RecordKey;
  customer: RecordKey;
}

/** Nothing of an order stands any more for a customer that it moved away from. */
interface OrderLeft {
  type: "order-left";
  order: RecordKey;
  customer: RecordKey;
}

/** Something of an order was found where it stands for a customer that is not its own in the CRM. */
interface OrderLeaving {
  type: "order-leaving";
  order: RecordKey;
  customer: RecordKey;
  /** Why nobody knows what of it stands there; null where the steps of the order say it. */
  unclear: string | null;
}

/** An amount that changed; `product: null` is the order's own. */
export interface PricedItem {
  product: string | null;
  from: Money | null;
  to: Money | null;
}

/** Who says that a step happened: our own call, a person, a reading, or the ledger when it was built anew. */
export type StepOrigin = "sent" | "by-hand" | "found" | "rebuilt";

interface Bought {
  channelOrderId: string;
  /** The form of the order that it was made from. */
  version: number;
  items: BoughtItem[];
  licenceOrders: LicenceOrder[];
}

/** What changed of an order that stands on the platform. */
export type OrderStep = {
  /** In the order of what happened, without a clock. */
  number: number;
  order: RecordKey;
  /** For whom it was: the standing of an order is apart for each customer that it was placed for. */
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
  /** How many products it brings or takes, each once for every asset number. */
  products: number;
}

export interface OrderBought extends Happened, Bought {
  type: "order-bought";
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
interface OrderAgreed {
  type: "order-agreed";
  order: RecordKey;
  version: number;
  bodyHash: string;
}

/** Numbers of the pool, which belong to no customer before they are fixed. */
interface NumbersTaken {
  type: "numbers-taken";
  numbers: string[];
  operationId: string;
}

/**
 * Asset numbers whose assets are removed. A number of the pool is never used again. Requests about such a number end, and
 * requests of the CRM do not apply to an asset that is bought under it later.
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

/** With one placed order as it is now; undefined: as it was. */
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
    // What happens of it elsewhere says nothing of what stands for whom it stands.
    if ("customer" in change && !isSameKey(change.customer, before.customer)) return undefined;
    return { ...before, agreedHash: change.type === "order-agreed" ? change.bodyHash : agreedWithNone };
  }),
);

/** Units that renew earlier ones have their numbers by the purchase that brought them. */
const bought = oneByOne<KnownOrders, OrderBought>((known, change, context) => {
  if (!isSameKey(change.customer, context.customer)) return step.apply(known, [change], context);
  const { namespace, id: orderId } = change.order;
  const renewed = change.items.flatMap(({ instanceId, unit, number, continues }): FixedNumber[] =>
    continues === undefined || number === null ? [] : [{ number, namespace, orderId, instanceId, unit, continues }],
  );
  return step.apply(withNumbers(known, renewed), [change], context);
});

/** A unit that goes has its number no more, where another unit has that by renewal. */
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

/** Names a unit with the number that it has. */
export function unitNamed({ namespace, orderId, instanceId, unit, number }: FixedNumber): string {
  return JSON.stringify([namespace, orderId, instanceId, unit, number]);
}

const isReadAnew = (): boolean => true;

export const changes = {
  "order-placed": {
    ...placed,
    isForLater: true as const,
    /** An order of which the CRM says something else by now comes with what stands of it, which only the ledger has. */
    isReadAnew: ({ order, bodyHash }: OrderPlaced, bodyHashes: ReadonlyMap<string, string>): boolean =>
      (bodyHashes.get(formatKey(order)) ?? bodyHash) !== bodyHash,
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
