import { canonicalJson } from "../base/canonical-json.ts";
import type { ProductInstance } from "../contract/asset-contents.ts";
import { fillTemplate } from "../contract/template.ts";
import { formatKey } from "../crm/keys.ts";
import { productUnits } from "../crm/tree.ts";
import { shownOrderKind } from "../ledger/state/observations.ts";
import { amendedElsewhere, maybeThere, notShown, shownInOtherForm, shownInPart } from "../plan/adoption.ts";
import type { ShownForm, ShownOrder } from "../plan/adoption.ts";
import { otherThanWanted } from "../plan/shown-otherwise.ts";
import { agreedWithNone } from "../operation/state/order-steps.ts";
import type { StateChange } from "../operation/state.ts";
import type { Link } from "../operation/state/link.ts";
import type { Snapshot } from "../platform/snapshot.ts";
import type { Block } from "../plan/block.ts";
import type { LoadedCustomer } from "../plan/input.ts";
import type { OrderWithTree } from "../operation/desired.ts";
import { earlierOrders } from "../operation/order-standing.ts";
import type { CustomerState } from "./customer-state.ts";
import type { ApplyDependencies } from "./dependencies.ts";
import { isShown } from "./licence-types.ts";
import { shownAmendments, shownTogether } from "./shown-amendments.ts";
import type { ShownAmendment } from "./shown-amendments.ts";

type Order = OrderWithTree;

/** What looking for the orders of an enterprise that somebody else made came to. */
export interface Sought {
  /** That those which were found count as placed, and what stands of them. */
  adopted: readonly StateChange[];
  /** Why others wait, by order: they may be there, whole or in part. */
  unclear: ReadonlyMap<string, Block>;
}

interface ShownNow {
  licenceOrders: Map<string, string>;
  products: Map<string, string[]>;
  forms: Map<string, ShownForm[]>;
}

/** An order of which something is shown, or (`shown: undefined`) surely nothing any more, as it counts as placed. */
export interface FoundOrder {
  order: Order;
  channelOrderId: string;
  /** All that is shown of it. */
  shown: ShownOrder | undefined;
  /** Under its own number. */
  own: ShownOrder | undefined;
  amendments: readonly ShownAmendment[];
}

/** Brings back what stands of an order beside that it is placed, as changes that are recorded together with that. */
export type RebuildOrder = (knows: CustomerState, found: FoundOrder) => Promise<StateChange[]>;

interface Compared {
  adopted: StateChange[];
  partial: Map<string, Block>;
  hidden: Map<string, Block>;
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
 * number, in the form that the CRM gives; one that is shown in part or otherwise is looked for anew in each attempt and
 * waits for a person, and so does one that is not shown where that proves nothing (A43). One that the CRM does not want
 * any more and that is shown counts as placed and agrees with nothing, so that its ending is planned.
 */
export class OrderAdoption {
  readonly #deps: Pick<ApplyDependencies, "ledger" | "settings">;
  readonly #snapshot: Snapshot;
  readonly #rebuild: RebuildOrder | undefined;
  #examination: Examination | undefined;

  /** `rebuild` brings amendments and numbers back; without it an order that has amendments waits. */
  constructor(
    deps: Pick<ApplyDependencies, "ledger" | "settings">,
    snapshot: Snapshot,
    { rebuild }: { rebuild?: RebuildOrder | undefined } = {},
  ) {
    this.#deps = deps;
    this.#snapshot = snapshot;
    this.#rebuild = rebuild;
  }

  async seek(knows: CustomerState): Promise<Sought> {
    const loaded = knows.held ?? (await knows.loaded());
    const { link } = loaded.known;
    const orders = earlierFirst(loaded.orders.filter((order) => isOpen(order, loaded)));
    if (link === undefined || link.origin === "created" || orders.length === 0)
      return { adopted: [], unclear: new Map() };
    await knows.settled();
    if (!link.examined) await this.#examine(knows, link);
    let found = await this.#compare(knows, loaded, orders);
    if (found.partial.size > 0 && this.#examination === undefined) {
      await this.#examine(knows, link);
      found = await this.#compare(knows, loaded, orders);
    }
    if (found.adopted.length > 0) {
      await knows.record(found.adopted, {
        kind: "examined",
        subject: `customer:${formatKey(loaded.customer)}`,
        body: { enterpriseGlobalId: link.enterpriseGlobalId, adopted: found.adopted.flatMap(orderIn) },
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
          forms: new Map(),
        };
        if (product.licenseOrderId !== null) order.licenceOrders.set(product.licenseOrderId, product.licenseType ?? "");
        if (product.crmProductId !== null) {
          const numbers = order.products.get(product.crmProductId) ?? [];
          order.products.set(product.crmProductId, [...numbers, asset.assetNum]);
          addForm(order.forms, product.crmProductId, product);
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
      body: {
        licenceOrders: Object.fromEntries(order.licenceOrders),
        products: Object.fromEntries(order.products),
        forms: Object.fromEntries(order.forms),
      },
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

  async #compare(knows: CustomerState, loaded: LoadedCustomer, orders: readonly Order[]): Promise<Compared> {
    const compared: Compared = { adopted: [], partial: new Map(), hidden: new Map() };
    const others = new Set(loaded.orders.map((order) => channelNumberOf(this.#deps, order)));
    const numbers = await this.#numbers(loaded);
    for (const order of orders) {
      const key = formatKey(order.key);
      const channelOrderId = channelNumberOf(this.#deps, order);
      const shownUnder = async (number: string): Promise<ShownOrder | undefined> => await this.#shown(loaded, number);
      const own = await shownUnder(channelOrderId);
      const amended = { order: order.key, channelOrderId, others, numbers };
      const amendments = await shownAmendments(this.#deps.settings, amended, shownUnder);
      const under = [...(own === undefined ? [] : [own]), ...amendments.map((item) => item.shown)];
      const shown = under.length === 0 ? undefined : shownTogether(under);
      const found: FoundOrder = { order, channelOrderId, shown, own, amendments };
      if (shown === undefined) {
        const block = await this.#mayBeThere(order);
        if (isWanted(order) && block !== undefined) compared.hidden.set(key, block);
        if (!isWanted(order) && block === undefined && this.#rebuild !== undefined)
          await this.#adopt(knows, found, compared.adopted);
        continue;
      }
      const waits = this.#whyNotAdopted(found, shown);
      if (waits !== undefined) compared.partial.set(key, waits);
      else await this.#adopt(knows, found, compared.adopted);
    }
    return compared;
  }

  /** Why an order waits that is shown: not as the CRM has it, or with what only a rebuild brings back. */
  #whyNotAdopted({ order, channelOrderId, amendments }: FoundOrder, shown: ShownOrder): Block | undefined {
    if (amendments.length > 0 && this.#rebuild === undefined)
      return amendedElsewhere(order, channelOrderId, amendments);
    const missing = notShown(order, shown);
    if (missing.length > 0) return shownInPart(order, channelOrderId, missing);
    const otherwise = otherThanWanted(order, shown, this.#deps.settings);
    return otherwise.length > 0 ? shownInOtherForm(order, channelOrderId, otherwise) : undefined;
  }

  /**
   * Takes an order for the one that is there, unless the ledger or another order has that number already: then it
   * waits, and says so.
   */
  async #adopt(knows: CustomerState, found: FoundOrder, adopted: StateChange[]): Promise<void> {
    const { order, channelOrderId } = found;
    if (adopted.some((change) => change.type === "order-placed" && change.channelOrderId === channelOrderId)) return;
    if (await this.#deps.ledger.state.isPlaced(channelOrderId)) return;
    adopted.push(placedBy(knows, found), ...((await this.#rebuild?.(knows, found)) ?? []));
    if (found.shown === undefined || isWanted(order)) return;
    adopted.push({ type: "order-agreed", order: order.key, version: order.version, bodyHash: agreedWithNone });
  }

  /** All channel order numbers under which the enterprise shows anything. */
  async #numbers({ customer }: LoadedCustomer): Promise<string[]> {
    if (this.#examination !== undefined) return [...this.#examination.shown.keys()];
    return await this.#deps.ledger.state.shownNumbers(customer);
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

/** Orders after those of the list that they take something over from: what they bring back names that. */
function earlierFirst(orders: readonly Order[]): readonly Order[] {
  if (orders.length < 2) return orders;
  const byKey = new Map(orders.map((order) => [formatKey(order.key), order]));
  const sorted = new Set<Order>();
  const entered = new Set<Order>();
  const enter = (order: Order): void => {
    if (entered.has(order)) return;
    entered.add(order);
    for (const earlier of earlierOrders(order.key, order.body.instances)) {
      const other = byKey.get(formatKey(earlier));
      if (other !== undefined) enter(other);
    }
    sorted.add(order);
  };
  for (const order of orders) enter(order);
  return [...sorted];
}

/** The channel order number that an order has, or would be placed under (A16). */
export function channelNumberOf(deps: Pick<ApplyDependencies, "settings">, order: Order): string {
  const { id, namespace } = order.key;
  return order.body.channelOrderId ?? fillTemplate(deps.settings.channelOrderIdTemplate, { id, namespace });
}

function isWanted({ state, body }: Order): boolean {
  return state === "current" && !body.cancelled;
}

function placedBy({ customer }: CustomerState, { order, channelOrderId, own }: FoundOrder): StateChange {
  return {
    type: "order-placed",
    order: order.key,
    customer,
    channelOrderId,
    bodyHash: order.bodyHash,
    version: order.version,
    products: productUnits(order.tree.assets),
    operationId: null,
    origin: "adopted",
    licenceOrders: [...(own?.licenceOrders ?? [])].map(([licenseOrderId, licenseType], index) => ({
      sequence: index + 1,
      licenseType,
      platformCustomerId: "",
      licenseOrderId,
    })),
  };
}

/** Each form once. */
function addForm(forms: Map<string, ShownForm[]>, id: string, product: ProductInstance): void {
  const form: ShownForm = {
    productUri: product.productUri ?? null,
    gmsPid: product.gmsPid ?? null,
    appKey: product.appKey ?? null,
    limitConcurrent: product.limitConcurrent ?? null,
    limitStartTime: product.limitStartTime ?? null,
    limitEndTime: product.limitEndTime ?? null,
    trial: product.trial ?? null,
    timeDurationExpression: product.timeDurationExpression ?? null,
  };
  const known = forms.get(id) ?? [];
  const text = canonicalJson(form);
  if (!known.some((other) => canonicalJson(other) === text)) forms.set(id, [...known, form]);
}

function orderIn(change: StateChange): string[] {
  return change.type === "order-placed" ? [formatKey(change.order)] : [];
}
