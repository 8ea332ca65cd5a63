import type { JsonObject } from "../base/canonical-json.ts";
import { formatKey, subjectOf } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import { productUnits } from "../crm/tree.ts";
import { CustomerState, type EngineDependencies } from "../engine/customer.ts";
import type { FixedNumber } from "../engine/model/references.ts";
import type { OrderWithTree } from "../engine/model/desired.ts";
import { requestKindOf, requestsOf } from "../engine/model/requests.ts";
import { isSameKey, type StateChange } from "../engine/model/state.ts";
import type { Block } from "../engine/plan/blocks.ts";
import type { Observed } from "../engine/plan/input.ts";
import type { CustomerPlan } from "../engine/plan/plan.ts";
import { CustomerPlanning } from "../engine/planning.ts";
import type { ShownOrder } from "../ledger/state/observations.ts";
import type { SnapshotReader } from "../platform/snapshot.ts";
import { acknowledgedFields } from "../resources/enterprise/state.ts";
import { otherThanWanted } from "../resources/order/adoption.ts";
import { productsUnder } from "../resources/order/model.ts";
import { OrderAdoption, type FoundOrder } from "../resources/order/seek.ts";
import type { ShownAmendment } from "../resources/order/shown-orders.ts";
import type { WantedNumbers } from "../resources/order/state/asset-number-rows.ts";
import type { BoughtItem, RemovedItem } from "../resources/order/shapes.ts";
import { type OrderBought, agreed } from "../resources/order/state/changes.ts";
import { adoptedPeople } from "../resources/staff/observe.ts";
import { earlierUnits, sharedNumbers, shownOrders } from "./restored-customer.ts";

const mostRounds = 24;

interface RebuiltCustomer {
  /** Undefined: the platform did not show enough in time. */
  plan: CustomerPlan | undefined;
  why?: string;
  assumed: { record: string; why: string }[];
  /** Customers whose enterprise still has parts of moved orders. */
  left: RecordKey[];
}

type Dependencies = Pick<EngineDependencies, "ledger" | "settings" | "clock" | "settle" | "policies"> & {
  reader: SnapshotReader;
};

const onlyRead: Block = {
  code: "rebuild.only-reads",
  reason: "a rebuild of the ledger removes nothing",
  again: true,
};

/** Adopts all that is shown; the CRM's customer counts as acknowledged. No writing call. Throws if reading fails. */
export async function rebuildCustomer(
  deps: Dependencies,
  customer: RecordKey,
  signal: AbortSignal | undefined,
): Promise<RebuiltCustomer> {
  const knows = new CustomerState(deps, customer);
  const planning = new CustomerPlanning(deps, knows, {
    thorough: true,
    whole: true,
    signal,
    removalsBlocked: onlyRead,
    seek: (snapshot) =>
      new OrderAdoption(deps, snapshot, {
        whole: true,
        rebuild: {
          placed: async (of, found) => await rebuiltOrder(deps, of, found),
          left: async (found) => await leftOfOrder(deps, found),
        },
      }),
  });
  const assumed: RebuiltCustomer["assumed"] = [];
  const left: RecordKey[] = [];
  const awaitedUntil = deps.clock.now() + deps.settle.maxWaitMs;
  for (let round = 0; round < mostRounds; round += 1) {
    await acknowledge(knows);
    const planned = await planning.plan();
    if (planned.kind === "awaits") {
      if (deps.clock.now() > awaitedUntil) return { plan: undefined, why: planned.reason, assumed, left };
      await deps.clock.sleep(Math.max(1, Date.parse(planned.until) - deps.clock.now()), signal);
      continue;
    }
    if (planned.kind === "recorded") {
      assumed.push(...endedOf(planned.changes));
      left.push(...planned.changes.flatMap((change) => (change.type === "order-leaving" ? [change.customer] : [])));
    }
    const learned = await adoptPeople(deps, knows, planning.snapshot.observed);
    const wishes = await assumeRequests(deps, knows);
    assumed.push(...wishes);
    if (planned.kind === "planned" && !learned && wishes.length === 0) return { plan: planned.plan, assumed, left };
  }
  return { plan: undefined, why: `${formatKey(customer)}: the platform kept changing`, assumed, left };
}

/** No reading shows these fields, so they count as equal to the CRM's. */
async function acknowledge(knows: CustomerState): Promise<void> {
  const { customer, desiredCustomer, known } = knows.held;
  if (desiredCustomer === undefined || known.link === undefined || known.acknowledged !== undefined) return;
  const fields = acknowledgedFields(desiredCustomer.body);
  await knows.record([{ type: "acknowledged", customer, fields }], auditOf(customer, { acknowledged: "assumed" }));
}

/**
 * CRM numbers come first, and all are fixed before the order counts as placed. An unwanted order that is not shown has
 * no parts left; if it returns, it is amended.
 */
async function rebuiltOrder(
  deps: Dependencies,
  knows: CustomerState,
  { order, customer, channelOrderId, shown, own, amendments }: FoundOrder,
): Promise<StateChange[]> {
  if (shown === undefined) {
    const gone = nothingStands(order, customer);
    // If the CRM wants the order, its contents are bought as an amendment.
    const isWanted = order.state === "current" && !order.body.cancelled;
    return isWanted ? gone.filter(({ type }) => type !== "order-agreed") : gone;
  }
  const { ledger } = deps;
  const isHere = isSameKey(customer, knows.customer);
  const known = async (): Promise<readonly FixedNumber[]> =>
    isHere ? knows.held.known.numbers : await ledger.state.readTogether((rows) => rows.order.numbers.known(customer));
  const aside = await ledger.gap.numbersAside(customer);
  const { orders } = knows.held;
  const renewed = renewedUnits(order, orders, shown, [...(await known()), ...aside]);
  const numbersAside = new Set(aside.map(({ number }) => number));
  const goesOn = renewed.map(({ number }) => number).filter((number) => numbersAside.has(number));
  const all = goesOn.length === 0 ? new Map() : await shownOrders(deps, customer);
  await ledger.gap.bringNumbersBack(sharedNumbers(deps, all, aside, goesOn));
  const { fixed } = await ledger.state.write((rows, at) =>
    rows.order.numbers.fixNumbers(order.key, customer, numbersOf(order, shown, renewed), at),
  );
  if (isHere) knows.fixed(fixed);
  for (const { n, channelOrderId: number } of amendments)
    await ledger.state.write((rows, at) => rows.order.steps.noteNumber(order.key, { n, channelOrderId: number }, at));
  const numbers = [...(await known()), ...renewed];
  return rebuiltSteps({ order, customer, channelOrderId, own, renewed, amendments, numbers });
}

/** Parts of an order at its former customer. Unknown if their form differs from the CRM's. */
async function leftOfOrder(
  { ledger, settings }: Dependencies,
  { order, customer, channelOrderId, shown, own, amendments }: FoundOrder,
): Promise<StateChange[]> {
  if (shown === undefined) return [];
  const leaving = { type: "order-leaving", order: order.key, customer } as const;
  const unclear = (why: string): StateChange[] => {
    const what = `something of the order ${formatKey(order.key)} there, under ${channelOrderId} or amendments of it`;
    return [{ ...leaving, unclear: `the platform shows ${what}, ${why}` }];
  };
  const otherwise = otherThanWanted(order, shown, settings);
  if (otherwise.length > 0) return unclear(`which differs from the CRM now: ${otherwise.join("; ")}`);
  await ledger.state.write((rows, at) =>
    rows.order.numbers.fixNumbers(order.key, customer, numbersOf(order, shown, []), at),
  );
  for (const { n, channelOrderId: number } of amendments)
    await ledger.state.write((rows, at) => rows.order.steps.noteNumber(order.key, { n, channelOrderId: number }, at));
  const numbers = await ledger.state.readTogether((rows) => rows.order.numbers.known(customer));
  const under = [...(own === undefined ? [] : [{ channelOrderId, shown: own }]), ...amendments];
  const steps = leftSteps({ order, customer, numbers }, under);
  return steps === undefined
    ? unclear("but some of it under asset numbers that are not its own")
    : [...steps, { ...leaving, unclear: null }];
}

function shownUnder(asset: OrderWithTree["tree"]["assets"][number], { products: shown }: ShownOrder): string[] {
  const products = [...asset.products, ...asset.packages.flatMap(productsUnder)];
  const numbers = new Set(products.flatMap(({ id }) => shown.get(id) ?? []));
  const first = asset.assetNumbers.filter((number) => numbers.has(number));
  return [...new Set([...first, ...[...numbers].sort()])];
}

/** Units shown under the number of the unit that they continue. */
function renewedUnits(
  order: OrderWithTree,
  orders: readonly OrderWithTree[],
  shown: ShownOrder,
  known: readonly FixedNumber[],
): FixedNumber[] {
  const { namespace, id: orderId } = order.key;
  return order.tree.assets.flatMap((asset) => {
    if (asset.continues === undefined) return [];
    return shownUnder(asset, shown)
      .slice(0, asset.quantity)
      .flatMap((number, unit): FixedNumber[] => {
        const continues = earlierUnits(orders, { order: order.key, asset, number }, known);
        return continues === undefined ? [] : [{ number, namespace, orderId, instanceId: asset.id, unit, continues }];
      });
  });
}

function numbersOf(order: OrderWithTree, shown: ShownOrder, renewed: readonly FixedNumber[]): WantedNumbers[] {
  return order.tree.assets.map((asset) => {
    const given = shownUnder(asset, shown).slice(0, asset.quantity);
    const others = given
      .map((number, unit) => ({ number, unit }))
      .filter((one) => !renewed.some((item) => item.instanceId === asset.id && item.unit === one.unit));
    return {
      instanceId: asset.id,
      quantity: others.length,
      units: others.map(({ unit }) => unit),
      given: others.map(({ number }) => number),
      wireNumber: (digits) => digits,
    };
  });
}

async function adoptPeople(
  { settings }: Dependencies,
  knows: CustomerState,
  { members, assets }: Pick<Observed, "members" | "assets">,
): Promise<boolean> {
  const loaded = knows.held;
  if (members === undefined || assets === undefined) return false;
  const changes = adoptedPeople(loaded, { members, assets }, settings);
  if (changes.length > 0) await knows.record(changes, auditOf(loaded.customer, { people: changes.length }));
  return changes.length > 0;
}

function endedOf(changes: readonly StateChange[]): RebuiltCustomer["assumed"] {
  return changes.flatMap((change) =>
    change.type === "order-removed" &&
    change.origin === "rebuilt" &&
    change.items.every((item) => item.product === null)
      ? [
          {
            record: subjectOf("orders", change.order),
            why: "cancelled, and the platform shows no part of it: it counts as ended",
          },
        ]
      : [],
  );
}

/** No reading shows these requests, so they count as made and nothing is sent. */
async function assumeRequests({ policies }: Dependencies, knows: CustomerState): Promise<RebuiltCustomer["assumed"]> {
  const loaded = knows.held;
  const { customer } = knows;
  const all = requestsOf().flatMap((of) => requestKindOf({ of }).assume?.(loaded, policies) ?? []);
  const changes = all.flatMap((one) => one.changes);
  const told = all.flatMap((one) => one.told);
  if (changes.length > 0) await knows.record(changes, auditOf(customer, { wishes: told.length }));
  return told.map((why) => ({ record: subjectOf("customers", customer), why }));
}

function auditOf(customer: RecordKey, body: JsonObject): { kind: string; subject: string; body: JsonObject } {
  return { kind: "rebuilt", subject: `customer:${formatKey(customer)}`, body };
}

interface Amended {
  order: OrderWithTree;
  customer: RecordKey;
  channelOrderId: string;
  own: ShownOrder | undefined;
  amendments: readonly ShownAmendment[];
  numbers: readonly FixedNumber[];
  renewed: readonly FixedNumber[];
}

/** Products under an amendment number belong to that amendment. Each becomes a step with the CRM's current form. */
function rebuiltSteps(amended: Amended): StateChange[] {
  const { order, customer, channelOrderId } = amended;
  const { key, version, bodyHash } = order;
  const changes: StateChange[] = [];
  const of = { order: key, customer, operationId: null, origin: "rebuilt" } as const;
  const renewed = amended.renewed.map(({ instanceId, unit, number, continues = [] }): BoughtItem => {
    return { instanceId, unit, number, products: [], packages: [], continues: [...continues] };
  });
  if (renewed.length > 0) {
    const nothing = { licenceOrders: [], products: 0 };
    changes.push({ type: "order-bought", ...of, channelOrderId, version, items: renewed, ...nothing });
  }
  for (const { channelOrderId: number, shown } of amended.amendments) {
    const items = itemsOf(amended, shown);
    if (items.length === 0) continue;
    const gone = items.flatMap((item) => notBought(amended, item, channelOrderId));
    const products = items.reduce((sum, item) => sum + item.ids.length, 0);
    if (gone.length > 0) changes.push({ type: "order-removed", ...of, products: gone.length, items: gone });
    changes.push({ ...of, ...purchaseOf(items, shown), channelOrderId: number, version, products });
  }
  if (changes.length > 0) changes.push({ type: "order-agreed", order: key, version, bodyHash });
  return changes;
}

function purchaseOf(
  items: readonly Brought[],
  { licenceOrders }: ShownOrder,
): Pick<OrderBought, "type" | "items" | "licenceOrders"> {
  return {
    type: "order-bought",
    items: items.map(({ ids: _ids, ...item }): BoughtItem => item),
    licenceOrders: [...licenceOrders].map(([licenseOrderId, licenseType], index) => {
      return { sequence: index + 1, licenseType, platformCustomerId: "", licenseOrderId };
    }),
  };
}

/** A purchase for each shown number. Undefined if a shown product belongs to no unit. */
function leftSteps(
  { order, customer, numbers }: Pick<Amended, "order" | "customer" | "numbers">,
  under: readonly { channelOrderId: string; shown: ShownOrder }[],
): StateChange[] | undefined {
  const { key, version } = order;
  const of = { order: key, customer, operationId: null, origin: "rebuilt", version } as const;
  const changes: StateChange[] = [];
  for (const { channelOrderId, shown } of under) {
    const items = itemsOf({ order, numbers }, shown);
    const products = items.reduce((sum, item) => sum + item.ids.length, 0);
    const all = [...shown.products.values()].reduce((sum, shownUnder) => sum + new Set(shownUnder).size, 0);
    if (products === 0 || products !== all) return undefined;
    changes.push({ ...of, ...purchaseOf(items, shown), channelOrderId, products });
  }
  return changes;
}

function nothingStands(order: OrderWithTree, customer: RecordKey): StateChange[] {
  const { key } = order;
  const items = order.tree.assets.flatMap(({ id: instanceId, quantity }) =>
    Array.from({ length: quantity }, (_, unit): RemovedItem => {
      return { instanceId, unit, number: null, product: null, channelOrderId: null, licenseOrderId: null };
    }),
  );
  const products = productUnits(order.tree.assets);
  return [
    { type: "order-removed", order: key, customer, operationId: null, origin: "rebuilt", products, items },
    agreed(order),
  ];
}

interface Brought extends BoughtItem {
  ids: string[];
}

function itemsOf({ order, numbers }: Pick<Amended, "order" | "numbers">, { products: shown }: ShownOrder): Brought[] {
  const isOwn = ({ orderId, namespace }: FixedNumber): boolean =>
    formatKey({ namespace, id: orderId }) === formatKey(order.key);
  return numbers.filter(isOwn).flatMap(({ instanceId, unit, number }) => {
    const asset = order.tree.assets.find((item) => item.id === instanceId);
    if (asset === undefined) return [];
    const isHere = ({ id }: { id: string }): boolean => shown.get(id)?.includes(number) === true;
    const products = asset.products.filter(isHere);
    const packages = asset.packages.filter((item) => productsUnder(item).some(isHere));
    const ids = [...products, ...packages.flatMap(productsUnder)].map(({ id }) => id);
    if (ids.length === 0) return [];
    const names = (items: readonly { id: string }[]): string[] => items.map(({ id }) => id);
    return [{ instanceId, unit, number, products: names(products), packages: names(packages), ids }];
  });
}

function notBought(
  { own }: Amended,
  { instanceId, unit, number, ids }: Brought,
  channelOrderId: string,
): RemovedItem[] {
  return ids.flatMap((product): RemovedItem[] => {
    if (number !== null && own?.products.get(product)?.includes(number) === true) return [];
    return [{ instanceId, unit, number, product, channelOrderId, licenseOrderId: null }];
  });
}
