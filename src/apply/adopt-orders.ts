import { fillTemplate } from "../contract/template.ts";
import { formatKey } from "../crm/keys.ts";
import { shownOrderKind } from "../ledger/state/observations.ts";
import { maybeThere, notShown, shownInPart } from "../plan/adoption.ts";
import type { ShownOrder } from "../plan/adoption.ts";
import type { StateChange } from "../operation/state.ts";
import type { Link } from "../operation/state/link.ts";
import type { Snapshot } from "../platform/snapshot.ts";
import type { Block } from "../plan/block.ts";
import type { LoadedCustomer } from "../plan/input.ts";
import type { OrderWithTree } from "../operation/desired.ts";
import type { CustomerState } from "./customer-state.ts";
import type { ApplyDependencies } from "./dependencies.ts";
import { isShown } from "./licence-types.ts";

type Order = OrderWithTree;

/** What looking for the orders of an enterprise that somebody else made came to. */
export interface Sought {
  /** Those that were found, which count as placed. */
  adopted: readonly OrderPlaced[];
  /** Why others wait, by order: they may be there, whole or in part. */
  unclear: ReadonlyMap<string, Block>;
}

type OrderPlaced = Extract<StateChange, { type: "order-placed" }>;

interface ShownNow {
  licenceOrders: Map<string, string>;
  products: Map<string, string[]>;
}

/** One reading of all assets of an enterprise. */
interface Examination {
  shown: Map<string, ShownNow>;
  /** Numbers of assets in which M7 shows neither a product nor a package. */
  bareAssets: string[];
  types: ReadonlySet<string>;
}

/**
 * Looks for the orders of an enterprise that somebody else made, so that none that is there is placed a second time.
 * Before its first order every asset it shows is read ((M6 ∪ E8) → M7), and what it shows is kept; an order that comes
 * later is compared with that. An order counts as placed only where all its products are shown under its channel order
 * number; one that is shown in part is looked for anew in each attempt and waits for a person, and so does one that is
 * not shown where that proves nothing (A43).
 */
export class OrderAdoption {
  readonly #deps: Pick<ApplyDependencies, "ledger" | "settings">;
  readonly #snapshot: Snapshot;
  #examination: Examination | undefined;

  constructor(deps: Pick<ApplyDependencies, "ledger" | "settings">, snapshot: Snapshot) {
    this.#deps = deps;
    this.#snapshot = snapshot;
  }

  async seek(knows: CustomerState): Promise<Sought> {
    const loaded = knows.held ?? (await knows.loaded());
    const { link } = loaded.known;
    const orders = loaded.orders.filter((order) => isOpen(order, loaded));
    if (link === undefined || link.origin === "created" || orders.length === 0)
      return { adopted: [], unclear: new Map() };
    await knows.settled();
    if (!link.examined) await this.#examine(knows, link);
    let found = await this.#compare(loaded, orders);
    if (found.partial.size > 0 && this.#examination === undefined) {
      await this.#examine(knows, link);
      found = await this.#compare(loaded, orders);
    }
    if (found.adopted.length > 0) {
      await knows.record(found.adopted, {
        kind: "examined",
        subject: `customer:${formatKey(loaded.customer)}`,
        body: { enterpriseGlobalId: link.enterpriseGlobalId, adopted: found.adopted.map(orderIn) },
      });
    }
    return {
      adopted: found.adopted,
      unclear: new Map([...found.partial, ...found.hidden]),
    };
  }

  /**
   * Reads everything that the enterprise shows, once in an attempt, and keeps it; it counts as examined only where no
   * asset is ambiguous.
   */
  async #examine(knows: CustomerState, link: Link): Promise<void> {
    if (this.#examination !== undefined) return;
    const { customer } = knows;
    const { enterpriseGlobalId } = link;
    const shown: Examination["shown"] = new Map();
    const bareAssets: string[] = [];
    const types = new Set<string>();
    let assets = 0;
    for await (const { asset, products, bare } of this.#snapshot.contents(enterpriseGlobalId)) {
      assets += 1;
      if (bare) bareAssets.push(asset.assetNum);
      for (const product of products) {
        if (product.licenseType !== null) types.add(product.licenseType);
        if (product.channelOrderId === null) continue;
        const order: ShownNow = shown.get(product.channelOrderId) ?? {
          licenceOrders: new Map(),
          products: new Map(),
        };
        if (product.licenseOrderId !== null) order.licenceOrders.set(product.licenseOrderId, product.licenseType ?? "");
        if (product.crmProductId !== null) {
          const numbers = order.products.get(product.crmProductId) ?? [];
          order.products.set(product.crmProductId, [...numbers, asset.assetNum]);
        }
        shown.set(product.channelOrderId, order);
      }
    }
    // Read again, and not only when it was adopted: an order is placed for one of its customers.
    const enterprises = await this.#snapshot.enterprises(link.channelCustomerId);
    const customers = enterprises.find((item) => item.enterpriseGlobalId === enterpriseGlobalId)?.customers ?? [];
    this.#examination = { shown, bareAssets, types };
    // All orders are kept: one may come into the CRM, or out of quarantine, when the enterprise is not read any more.
    const kept = [...shown].map(([subject, order]): StateChange => ({
      type: "observed",
      customer,
      kind: shownOrderKind,
      subject,
      body: { licenceOrders: Object.fromEntries(order.licenceOrders), products: Object.fromEntries(order.products) },
    }));
    const clear: StateChange[] = bareAssets.length === 0 ? [{ type: "examined", customer }] : [];
    const changes: StateChange[] = [
      ...clear,
      { type: "platform-customers", enterpriseGlobalId, customers },
      { type: "licence-types-shown", types: [...types] },
      ...kept,
    ];
    await knows.record(changes, {
      kind: "examined",
      subject: `customer:${formatKey(customer)}`,
      body: { enterpriseGlobalId, assets, adopted: [] },
    });
  }

  async #compare(
    loaded: LoadedCustomer,
    orders: readonly Order[],
  ): Promise<{ adopted: OrderPlaced[]; partial: Map<string, Block>; hidden: Map<string, Block> }> {
    const adopted: OrderPlaced[] = [];
    const partial = new Map<string, Block>();
    const hidden = new Map<string, Block>();
    for (const order of orders) {
      const channelOrderId = channelNumberOf(this.#deps, order);
      const shown = await this.#shown(loaded, channelOrderId);
      if (shown === undefined) {
        const block = order.state === "current" && !order.body.cancelled ? await this.#mayBeThere(order) : undefined;
        if (block !== undefined) hidden.set(formatKey(order.key), block);
        continue;
      }
      const missing = notShown(order, shown);
      if (missing.length > 0) partial.set(formatKey(order.key), shownInPart(order, channelOrderId, missing));
      else await adopt(this.#deps, loaded, order, shown.licenceOrders, adopted);
    }
    return { adopted, partial, hidden };
  }

  async #shown(loaded: LoadedCustomer, channelOrderId: string): Promise<ShownOrder | undefined> {
    if (this.#examination !== undefined) return this.#examination.shown.get(channelOrderId);
    return await this.#deps.ledger.state.shownOrder(loaded.customer, channelOrderId);
  }

  async #mayBeThere(order: Order): Promise<Block | undefined> {
    let hiddenType: string | undefined;
    for (const item of order.body.instances) {
      if (item.kind !== "asset" || hiddenType !== undefined || this.#justShown(item.licenseType)) continue;
      if (!(await isShown(this.#deps, item.licenseType))) hiddenType = item.licenseType;
    }
    return maybeThere(order, { bareAssets: this.#examination?.bareAssets ?? [], hiddenType });
  }

  /**
   * A licence type that this very look showed is one that the platform shows, unless the settings name others (A43).
   */
  #justShown(licenseType: string): boolean {
    return this.#deps.settings.visibleLicenseTypes === undefined && this.#examination?.types.has(licenseType) === true;
  }
}

/** An order that the CRM gives and the ledger does not know as placed. */
function isOpen(order: Order, { known }: LoadedCustomer): boolean {
  return order.pending && order.state !== "quarantined" && !known.placedOrders.has(formatKey(order.key));
}

function channelNumberOf(deps: Pick<ApplyDependencies, "settings">, order: Order): string {
  const { id, namespace } = order.key;
  return order.body.channelOrderId ?? fillTemplate(deps.settings.channelOrderIdTemplate, { id, namespace });
}

/**
 * Takes an order for the one that is there, unless the ledger or another order has that number already: then it waits,
 * and says so.
 */
async function adopt(
  deps: Pick<ApplyDependencies, "ledger" | "settings">,
  loaded: LoadedCustomer,
  order: Order,
  licenceOrders: ReadonlyMap<string, string>,
  adopted: OrderPlaced[],
): Promise<void> {
  const channelOrderId = channelNumberOf(deps, order);
  if (adopted.some((change) => change.channelOrderId === channelOrderId)) return;
  if (await deps.ledger.state.isPlaced(channelOrderId)) return;
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

function orderIn(change: OrderPlaced): string {
  return formatKey(change.order);
}
