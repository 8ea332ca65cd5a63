import type { ShownOrder } from "../ledger/state/observations.ts";
import type { RecordKey } from "../crm/model.ts";
import { formatKey } from "../crm/keys.ts";
import { productUnits } from "../crm/tree.ts";
import type { OrderWithTree } from "../engine/desired.ts";
import { productsUnder } from "../resources/order/model.ts";
import type { FixedNumber } from "../resources/order/state/asset-numbers.ts";
import type { StateChange } from "../engine/state.ts";
import { wantedForm } from "../resources/order/state/order-steps.ts";
import type { BoughtItem, OrderBought, RemovedItem } from "../resources/order/state/order-steps.ts";
import type { ShownAmendment } from "./shown-amendments.ts";

/** An order of which everything is shown, some of it under numbers of amendments. */
interface Amended {
  order: OrderWithTree;
  customer: RecordKey;
  channelOrderId: string;
  /** Under the order's own number. */
  own: ShownOrder | undefined;
  amendments: readonly ShownAmendment[];
  /** Numbers of units of the order. */
  numbers: readonly FixedNumber[];
  /** Those of its units that continue earlier ones. */
  renewed: readonly FixedNumber[];
}

/**
 * What was bought under the number of an amendment stands by that purchase and not by the first one: as a step each,
 * the form that the CRM has now in the place of the one that was bought then.
 */
export function rebuiltSteps(amended: Amended): StateChange[] {
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

/**
 * What is left of an order where it was before it moved, as a purchase for each number under which it is shown;
 * undefined where something is shown that belongs to no unit of the order, or of which nobody knows what it is.
 */
export function leftSteps(
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

/** All that an order has is gone, and it agrees with the CRM, which does not want it. */
export function nothingStands(order: OrderWithTree, customer: RecordKey): StateChange[] {
  const { key, version } = order;
  const items = order.tree.assets.flatMap(({ id: instanceId, quantity }) =>
    Array.from({ length: quantity }, (_, unit): RemovedItem => {
      return { instanceId, unit, number: null, product: null, channelOrderId: null, licenseOrderId: null };
    }),
  );
  const products = productUnits(order.tree.assets);
  return [
    { type: "order-removed", order: key, customer, operationId: null, origin: "rebuilt", products, items },
    { type: "order-agreed", order: key, version, bodyHash: wantedForm(order) },
  ];
}

/** What one purchase brought under one number; `ids` are all its products, also those in packages. */
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

/** Products of an amendment that the first purchase is not shown to have brought under the same number. */
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
