import { fillTemplate } from "../contract/template.ts";
import { formatKey } from "../crm/keys.ts";
import { shownOrderKind } from "../ledger/known.ts";
import type { KnownChange } from "../plan/changes.ts";
import type { CustomerInput } from "../plan/input.ts";
import type { ApplyDependencies } from "./dependencies.ts";
import type { Observer } from "./observe.ts";

/**
 * Before the first order of an enterprise that somebody else made: reads every asset it shows ((M6 ∪ E8) → M7) and adopts the orders whose
 * channel order number is there already, so that none of them is placed a second time.
 */
export async function examineOrders(
  deps: ApplyDependencies,
  observer: Observer,
  loaded: Omit<CustomerInput, "observed">,
  signal?: AbortSignal,
): Promise<void> {
  const { link } = loaded.known;
  if (link === undefined) return;
  const shown = new Map<string, Map<string, string>>();
  const types = new Set<string>();
  const assets = await observer.allAssets(loaded.customer, link.enterpriseGlobalId, signal);
  for (const asset of assets.values()) {
    const { products } = await observer.contents(loaded.customer, link.enterpriseGlobalId, asset, signal);
    for (const product of products) {
      if (product.licenseType !== null) types.add(product.licenseType);
      if (product.channelOrderId === null || product.channelOrderId === undefined) continue;
      const licenceOrders = shown.get(product.channelOrderId) ?? new Map<string, string>();
      if (product.licenseOrderId !== null && product.licenseOrderId !== "")
        licenceOrders.set(product.licenseOrderId, product.licenseType ?? "");
      shown.set(product.channelOrderId, licenceOrders);
    }
  }
  const adopted: KnownChange[] = [];
  for (const order of loaded.orders) {
    const licenceOrders = shown.get(channelNumberOf(deps, order));
    if (licenceOrders !== undefined) await adopt(deps, loaded, order, licenceOrders, adopted);
  }
  // All of them are kept: an order may come into the CRM, or out of quarantine, when the enterprise is not read any more.
  const kept = [...shown].map(([subject, licenceOrders]): KnownChange => ({
    type: "observed",
    customer: loaded.customer,
    kind: shownOrderKind,
    subject,
    body: { licenceOrders: Object.fromEntries(licenceOrders) },
  }));
  const changes: KnownChange[] = [
    { type: "examined", customer: loaded.customer },
    { type: "licence-types-shown", types: [...types] },
    ...kept,
    ...adopted,
  ];
  await deps.ledger.learn(loaded.customer, changes, {
    kind: "examined",
    subject: `customer:${formatKey(loaded.customer)}`,
    body: { enterpriseGlobalId: link.enterpriseGlobalId, assets: assets.size, adopted: adopted.map(orderIn) },
  });
}

/**
 * Adopts orders of an enterprise that somebody else made which it showed when it was examined, and which the CRM has given since. Answers whether
 * there were any.
 */
export async function adoptShownOrders(
  deps: ApplyDependencies,
  loaded: Omit<CustomerInput, "observed">,
): Promise<boolean> {
  const { link } = loaded.known;
  if (link === undefined || link.origin === "created" || !link.examined) return false;
  const adopted: KnownChange[] = [];
  for (const order of loaded.orders) {
    if (order.state !== "current" || loaded.known.placedOrders.has(formatKey(order.key))) continue;
    const shown = await deps.ledger.shownOrder(loaded.customer, channelNumberOf(deps, order));
    if (shown !== undefined) await adopt(deps, loaded, order, shown, adopted);
  }
  if (adopted.length === 0) return false;
  await deps.ledger.learn(loaded.customer, adopted, {
    kind: "examined",
    subject: `customer:${formatKey(loaded.customer)}`,
    body: { enterpriseGlobalId: link.enterpriseGlobalId, adopted: adopted.map(orderIn) },
  });
  return true;
}

function channelNumberOf(deps: ApplyDependencies, order: CustomerInput["orders"][number]): string {
  const { id, namespace } = order.key;
  return order.body.channelOrderId ?? fillTemplate(deps.settings.channelOrderIdTemplate, { id, namespace });
}

/** Takes an order for the one that is there, unless the ledger or another order has that number already: then it waits, and says so. */
async function adopt(
  deps: ApplyDependencies,
  loaded: Omit<CustomerInput, "observed">,
  order: CustomerInput["orders"][number],
  licenceOrders: ReadonlyMap<string, string>,
  adopted: KnownChange[],
): Promise<void> {
  const channelOrderId = channelNumberOf(deps, order);
  if (loaded.known.placedOrders.has(formatKey(order.key))) return;
  if (adopted.some((change) => change.type === "order-placed" && change.channelOrderId === channelOrderId)) return;
  if (await deps.ledger.isPlaced(channelOrderId)) return;
  adopted.push({
    type: "order-placed",
    order: order.key,
    customer: loaded.customer,
    channelOrderId,
    bodyHash: order.bodyHash,
    version: order.version,
    operationId: null,
    origin: "adopted",
    licenceOrders: [...licenceOrders].map(([licenseOrderId, licenseType], index) => ({
      sequence: index + 1,
      licenseType,
      platformCustomerId: "",
      licenseOrderId,
    })),
  });
}

function orderIn(change: KnownChange): string {
  return change.type === "order-placed" ? formatKey(change.order) : "";
}
