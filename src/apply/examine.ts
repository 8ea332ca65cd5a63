import { fillTemplate } from "../contract/template.ts";
import { formatKey } from "../crm/keys.ts";
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
  const changes: KnownChange[] = [
    { type: "examined", customer: loaded.customer },
    { type: "licence-types-shown", types: [...types] },
  ];
  const adopted: string[] = [];
  for (const order of loaded.orders) {
    if (loaded.known.placedOrders.has(formatKey(order.key))) continue;
    const channelOrderId =
      order.body.channelOrderId ??
      fillTemplate(deps.settings.channelOrderIdTemplate, { id: order.key.id, namespace: order.key.namespace });
    const licenceOrders = shown.get(channelOrderId);
    if (licenceOrders === undefined) continue;
    adopted.push(formatKey(order.key));
    changes.push({
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
  await deps.ledger.learn(loaded.customer, changes, {
    kind: "examined",
    subject: `customer:${formatKey(loaded.customer)}`,
    body: { enterpriseGlobalId: link.enterpriseGlobalId, assets: assets.size, adopted },
  });
}
