import { hiddenTypeOf, ifNotShown } from "./not-shown.ts";
import type { Resource, Seeking, Sought } from "../../engine/model/resource.ts";
import type { ShownOrder } from "../../ledger/state/observations.ts";
import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import { productUnits } from "../../crm/tree.ts";
import {
  amendedElsewhere,
  maybeMoved,
  maybeThere,
  notShown,
  shownAtAnother,
  shownInOtherForm,
  shownInPart,
  otherThanWanted,
  shownTwice,
} from "./adoption.ts";
import { agreedWithNone } from "./state/changes.ts";
import type { StateChange, Known } from "../../engine/model/state.ts";
import type { Snapshot } from "../../platform/snapshot.ts";
import type { Block } from "../../engine/plan/blocks.ts";
import type { LoadedCustomer } from "../../engine/plan/input.ts";
import type { OrderWithTree } from "../../engine/model/desired.ts";
import { earlierOrders, isWanted } from "./model.ts";
import { channelNumberOf } from "./pool.ts";
import { type CustomerState, type EngineDependencies, unreadBlock } from "../../engine/customer.ts";
import {
  amendmentsOf,
  examine,
  purchasesShown,
  shownElsewhere,
  shownOf,
  type Examination,
  type ShownAt,
  type ShownAmendment,
} from "./shown-orders.ts";
import { isShown } from "../../engine/evidence.ts";

type Link = NonNullable<Known["link"]>;

type Order = OrderWithTree;

/** An order that M7 shows. `shown: undefined`: nothing is left of it, but it counts as placed. */
export interface FoundOrder {
  order: Order;
  customer: RecordKey;
  channelOrderId: string;
  shown: ShownOrder | undefined;
  /** The part under its own channel order number. */
  own: ShownOrder | undefined;
  amendments: readonly ShownAmendment[];
}

export interface RebuildOrders {
  placed(knows: CustomerState, found: FoundOrder): Promise<StateChange[]>;
  left(found: FoundOrder): Promise<StateChange[]>;
}

interface Compared {
  adopted: StateChange[];
  partial: Map<string, Block>;
  /** Orders that may exist although M7 does not show them here. */
  hidden: Map<string, Block>;
}

/**
 * Looks for existing orders, so that crm-sync never places one twice. Before the first order it reads all assets
 * ((M6 ∪ E8) → M7) and keeps the result. An order counts as placed only if M7 shows all its products in the CRM's form
 * under its number. A partial or different form, or silence that proves nothing (A43), waits for a person.
 * An unwanted order that M7 shows counts as placed, so that its removal is planned.
 */
export class OrderAdoption implements Seeking {
  readonly #deps: Pick<EngineDependencies, "ledger" | "settings">;
  readonly #snapshot: Snapshot;
  readonly #rebuild: RebuildOrders | undefined;
  readonly #whole: boolean;
  #examination: Examination | undefined;
  #unread: Block | undefined;

  /** Without `rebuild`, an order with amendments waits. `whole`: throw if something cannot be read. */
  constructor(
    deps: Pick<EngineDependencies, "ledger" | "settings">,
    snapshot: Snapshot,
    { rebuild, whole = false }: { rebuild?: RebuildOrders | undefined; whole?: boolean } = {},
  ) {
    this.#whole = whole;
    this.#deps = deps;
    this.#snapshot = snapshot;
    this.#rebuild = rebuild;
  }

  isNeeded(knows: CustomerState): boolean {
    const loaded = knows.held;
    const hasOpen = loaded.orders.some((order) => isOpen(order, loaded));
    if (readLink(loaded) === undefined) return hasOpen && this.#deps.ledger.state.mayStandElsewhere();
    return hasOpen || isUnclear(loaded);
  }

  async seek(knows: CustomerState): Promise<Sought> {
    const loaded = knows.held;
    const { link } = loaded.known;
    const orders = earlierFirst(loaded.orders.filter((order) => isOpen(order, loaded)));
    const shows = readLink(loaded);
    if (shows !== undefined) await knows.settled();
    const isNew = shows !== undefined && (!shows.examined || isUnclear(loaded));
    const unread = isNew ? await this.#examine(knows) : undefined;
    if (unread !== undefined) return unreadOf(orders, unread);
    let found = await this.#compare(knows, loaded, orders);
    if (found.partial.size > 0 && shows !== undefined && this.#examination === undefined) {
      const later = await this.#examine(knows);
      if (later !== undefined) return unreadOf(orders, later);
      found = await this.#compare(knows, loaded, orders);
    }
    found.adopted.push(...this.#gone(loaded));
    if (found.adopted.length > 0) {
      await knows.record(found.adopted, {
        kind: "examined",
        subject: `customer:${formatKey(loaded.customer)}`,
        body: { enterpriseGlobalId: link?.enterpriseGlobalId ?? null, adopted: found.adopted.flatMap(orderIn) },
      });
    }
    return {
      adopted: found.adopted,
      unclear: new Map([...found.partial, ...found.hidden]),
    };
  }

  /** Keeps everything that the enterprise shows, also orders of other customers. */
  async look(knows: CustomerState): Promise<void> {
    const link = readLink(knows.held);
    if (link !== undefined) this.#examination ??= await examine(this.#deps, this.#snapshot, knows, link);
  }

  #gone(loaded: LoadedCustomer): StateChange[] {
    const numbers = [...(this.#examination?.shown.keys() ?? [])];
    if (this.#examination === undefined || this.#examination.bareAssets.length > 0) return [];
    const { settings } = this.#deps;
    return unclearIn(loaded).flatMap((order): StateChange[] => {
      const placed = loaded.known.placedOrders.get(formatKey(order.key))?.channelOrderId;
      const isShownStill = [channelNumberOf(this.#deps, order), placed].some((channelOrderId) => {
        if (channelOrderId === undefined) return false;
        const nOf = amendmentsOf(settings, { order: order.key, channelOrderId });
        return numbers.some((number) => number === channelOrderId || nOf(number) !== undefined);
      });
      return isShownStill ? [] : [{ type: "order-left", order: order.key, customer: loaded.customer }];
    });
  }

  /** Reads once per attempt. Returns the reason if the reading failed. */
  async #examine(knows: CustomerState): Promise<Block | undefined> {
    if (this.#unread !== undefined) return this.#unread;
    try {
      await this.look(knows);
    } catch (error) {
      if (this.#whole) throw error;
      this.#unread = unreadBlock(error);
    }
    return this.#unread;
  }

  async #compare(knows: CustomerState, loaded: LoadedCustomer, orders: readonly Order[]): Promise<Compared> {
    const compared: Compared = { adopted: [], partial: new Map(), hidden: new Map() };
    const others = new Set(loaded.orders.map((order) => channelNumberOf(this.#deps, order)));
    // Readings of an enterprise that the customer was linked with earlier do not apply to the current one.
    const isRead = readLink(loaded) !== undefined;
    const numbers = isRead ? await this.#numbers(loaded) : [];
    for (const order of orders) {
      const key = formatKey(order.key);
      const channelOrderId = channelNumberOf(this.#deps, order);
      const of = { order: order.key, channelOrderId, others, numbers };
      const here = await shownOf(this.#deps.settings, of, (number) => this.#shown(loaded, number));
      const none = { shown: undefined, own: undefined, amendments: [] };
      const found: FoundOrder = { order, customer: knows.customer, channelOrderId, ...(here ?? none) };
      const elsewhere = await shownElsewhere(this.#deps, knows.customer, order);
      if (here === undefined) {
        await this.#notShownHere(knows, loaded, { ...found, elsewhere }, compared);
        continue;
      }
      const waits = this.#whyNotAdopted(found, here.shown);
      if (waits !== undefined) compared.partial.set(key, waits);
      else if (elsewhere.length > 0 && this.#rebuild === undefined)
        compared.hidden.set(key, shownAtAnother(order, elsewhere, []));
      else await this.#adopt(knows, found, elsewhere, compared.adopted);
    }
    return compared;
  }

  /** If an enterprise could not be read, the order waits. An unwanted order counts as ended. */
  async #notShownHere(
    knows: CustomerState,
    { known: { link } }: LoadedCustomer,
    { elsewhere, ...found }: FoundOrder & { elsewhere: readonly ShownAt[] },
    { adopted, hidden }: Compared,
  ): Promise<void> {
    const { order } = found;
    const key = formatKey(order.key);
    const [home, ...left] = elsewhere;
    if (home !== undefined) {
      const { customer, shown } = home;
      const otherwise =
        this.#rebuild === undefined
          ? []
          : [...notShown(order, shown).map((what) => `it does not show ${what}`), ...this.#otherwise(order, home)];
      const isKnown = this.#rebuild !== undefined && otherwise.length === 0;
      if (isKnown && (await this.#adopt(knows, { ...found, ...home }, left, adopted)))
        adopted.push({ type: "order-leaving", order: order.key, customer, unclear: null });
      else hidden.set(key, shownAtAnother(order, elsewhere, otherwise));
      return;
    }
    const { ledger } = this.#deps;
    const unread = await ledger.state.unreadBefore(order.key, knows.customer);
    const isMade = link === undefined || link.origin === "created";
    const mayBe = !isMade || (await ledger.state.knewBeforeRebuild(order.key));
    const shownNowhere = mayBe ? await this.#mayBeThere(order, isMade) : undefined;
    const waits = unread === undefined ? shownNowhere : maybeMoved(order, unread);
    const wasPlaced = waits === undefined && isWanted(order) && (await ledger.gap.wasPlaced(order.key));
    const of = { order, waits, wasPlaced };
    const enterprise = link === undefined ? "none" : isMade ? "ours" : "others";
    const verdict = this.#rebuild === undefined ? ifNotShown.adopt(of) : ifNotShown.rebuild({ ...of, enterprise });
    if (verdict === "counts as placed") await this.#adopt(knows, found, [], adopted);
    else if (verdict !== undefined) hidden.set(key, verdict);
  }

  #whyNotAdopted(found: FoundOrder, shown: ShownOrder): Block | undefined {
    const { order, channelOrderId, amendments } = found;
    if (amendments.length > 0 && this.#rebuild === undefined)
      return amendedElsewhere(order, channelOrderId, amendments);
    const missing = notShown(order, shown);
    if (missing.length > 0) return shownInPart(order, channelOrderId, missing);
    const otherwise = this.#otherwise(order, { ...found, shown });
    return otherwise.length > 0 ? shownInOtherForm(order, channelOrderId, otherwise) : undefined;
  }

  #otherwise(order: Order, { shown, own, amendments }: Pick<ShownAt, "shown" | "own" | "amendments">): string[] {
    const twice = shownTwice(purchasesShown({ own, amendments }));
    return [...otherThanWanted(order, shown, this.#deps.settings), ...twice];
  }

  /** Waits if the ledger or another order has the number. Returns whether the order counts as placed. */
  async #adopt(
    knows: CustomerState,
    found: FoundOrder,
    left: readonly ShownAt[],
    adopted: StateChange[],
  ): Promise<boolean> {
    const { order, channelOrderId } = found;
    const isAdopted = adopted.some(
      (change) => change.type === "order-placed" && change.channelOrderId === channelOrderId,
    );
    if (isAdopted || (await this.#deps.ledger.state.read((rows) => rows.order.placed.isPlaced(channelOrderId))))
      return false;
    adopted.push(placedBy(found));
    if (this.#rebuild !== undefined) {
      adopted.push(...(await this.#rebuild.placed(knows, found)));
      for (const place of left) adopted.push(...(await this.#rebuild.left({ ...found, ...place })));
    }
    if (found.shown !== undefined && !isWanted(order))
      adopted.push({ type: "order-agreed", order: order.key, version: order.version, bodyHash: agreedWithNone });
    return true;
  }

  async #numbers({ customer }: LoadedCustomer): Promise<string[]> {
    if (this.#examination !== undefined) return [...this.#examination.shown.keys()];
    return await this.#deps.ledger.state.shownNumbers(customer);
  }

  async #shown(loaded: LoadedCustomer, channelOrderId: string): Promise<ShownOrder | undefined> {
    if (this.#examination !== undefined) return this.#examination.shown.get(channelOrderId);
    return await this.#deps.ledger.state.shownOrder(loaded.customer, channelOrderId);
  }

  async #mayBeThere(order: Order, isMade: boolean): Promise<Block | undefined> {
    const types = order.body.instances.flatMap((item) => (item.kind === "asset" ? [item.licenseType] : []));
    const hiddenType = await hiddenTypeOf(
      types,
      async (type) => this.#justShown(type) || (await isShown(this.#deps, type)),
    );
    return maybeThere(order, { bareAssets: this.#examination?.bareAssets ?? [], hiddenType, isMade });
  }

  /** Whether this reading showed the licence type; the setting overrides it (A43). */
  #justShown(licenseType: string): boolean {
    return this.#deps.settings.visibleLicenseTypes === undefined && this.#examination?.types.has(licenseType) === true;
  }
}

function unreadOf(orders: readonly Order[], unread: Block): Sought {
  return { adopted: [], unclear: new Map(orders.map((order) => [formatKey(order.key), unread])), unread };
}

/** Undefined for an enterprise that this ledger created: everything in it is known. */
function readLink({ known: { link } }: LoadedCustomer): Link | undefined {
  return link?.origin === "created" ? undefined : link;
}

function unclearIn({ away = [], unclear = [] }: LoadedCustomer): readonly Order[] {
  const lost = away.filter(({ standing }) => standing !== undefined && "lost" in standing);
  return [...lost.map(({ order }) => order), ...unclear];
}

function isUnclear(loaded: LoadedCustomer): boolean {
  return loaded.unread === true || unclearIn(loaded).length > 0;
}

function isOpen(order: Order, { known }: LoadedCustomer): boolean {
  return order.pending && order.state !== "quarantined" && !known.placedOrders.has(formatKey(order.key));
}

/** Sorts orders after those that they continue, because their restored changes refer to these. */
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

function placedBy({ order, customer, channelOrderId, own }: FoundOrder): StateChange {
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

function orderIn(change: StateChange): string[] {
  return change.type === "order-placed" ? [formatKey(change.order)] : [];
}

export const seek: NonNullable<Resource["seek"]> = (deps, snapshot, options) =>
  new OrderAdoption(deps, snapshot, options);
