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
import type { Block } from "../../engine/plan/records.ts";
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

/** An order of which something is shown, or (`shown: undefined`) surely nothing any more, as it counts as placed. */
export interface FoundOrder {
  order: Order;
  /** In whose enterprise it is shown. */
  customer: RecordKey;
  channelOrderId: string;
  /** All that is shown of it. */
  shown: ShownOrder | undefined;
  /** Under its own number. */
  own: ShownOrder | undefined;
  amendments: readonly ShownAmendment[];
}

/** Brings orders back when the ledger is built anew, as changes that are recorded together. */
export interface RebuildOrders {
  /** What stands of an order beside that it is placed. */
  placed(knows: CustomerState, found: FoundOrder): Promise<StateChange[]>;
  /** What an order that moved left in the enterprise of another customer. */
  left(found: FoundOrder): Promise<StateChange[]>;
}

interface Compared {
  adopted: StateChange[];
  /** Why orders wait that are shown here, and otherwise than they would have to be. */
  partial: Map<string, Block>;
  /** Why orders wait that may stand without being shown here. */
  hidden: Map<string, Block>;
}

/**
 * Looks for the orders of an enterprise that somebody else made, so that none that is there is placed a second time.
 * Before its first order every asset it shows is read ((M6 ∪ E8) → M7), and what it shows is kept; an order that comes
 * later is compared with that. An order counts as placed only where all its products are shown under its channel order
 * number, in the form that the CRM gives; one that is shown in part or otherwise is looked for anew in each attempt and
 * waits for a person, and so does one that is not shown where that proves nothing (A43). One that the CRM does not want
 * any more and that is shown counts as placed and agrees with nothing, so that its ending is planned. One that another
 * customer's enterprise shows is not placed either, whoever says so: a rebuild brings it back as one that moved.
 */
export class OrderAdoption implements Seeking {
  readonly #deps: Pick<EngineDependencies, "ledger" | "settings">;
  readonly #snapshot: Snapshot;
  readonly #rebuild: RebuildOrders | undefined;
  readonly #whole: boolean;
  #examination: Examination | undefined;
  #unread: Block | undefined;

  /**
   * `rebuild` brings amendments and numbers back; without it an order that has amendments waits. `whole`: what cannot be
   * read throws.
   */
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

  /** Reads all that the enterprise of a customer shows, and keeps it: orders of others may be among it. */
  async look(knows: CustomerState): Promise<void> {
    const link = readLink(knows.held);
    if (link !== undefined) this.#examination ??= await examine(this.#deps, this.#snapshot, knows, link);
  }

  /** Of what an order that moved away left here, and of which nobody knew what it is, nothing is shown any more. */
  #gone(loaded: LoadedCustomer): StateChange[] {
    const numbers = [...(this.#examination?.shown.keys() ?? [])];
    if (this.#examination === undefined || this.#examination.bareAssets.length > 0) return [];
    const { settings } = this.#deps;
    return unclearIn(loaded).flatMap((order): StateChange[] => {
      const placed = loaded.known.placedOrders.get(formatKey(order.key))?.channelOrderId;
      // Its number may be another one by now than it was found under.
      const isShownStill = [channelNumberOf(this.#deps, order), placed].some((channelOrderId) => {
        if (channelOrderId === undefined) return false;
        const nOf = amendmentsOf(settings, { order: order.key, channelOrderId });
        return numbers.some((number) => number === channelOrderId || nOf(number) !== undefined);
      });
      return isShownStill ? [] : [{ type: "order-left", order: order.key, customer: loaded.customer }];
    });
  }

  /** Once in an attempt. Answers why it could not be. */
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
    // What was shown of an enterprise that the customer was linked with before says nothing of the one that it has now.
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

  /**
   * An order that is not shown here: one that another enterprise shows stands there, one that may be in an enterprise
   * that could not be looked at waits until it can be, and one that nobody wants any more counts as ended.
   */
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

  /** Why an order waits that is shown: not as the CRM has it, or with what only a rebuild brings back. */
  #whyNotAdopted(found: FoundOrder, shown: ShownOrder): Block | undefined {
    const { order, channelOrderId, amendments } = found;
    if (amendments.length > 0 && this.#rebuild === undefined)
      return amendedElsewhere(order, channelOrderId, amendments);
    const missing = notShown(order, shown);
    if (missing.length > 0) return shownInPart(order, channelOrderId, missing);
    const otherwise = this.#otherwise(order, { ...found, shown });
    return otherwise.length > 0 ? shownInOtherForm(order, channelOrderId, otherwise) : undefined;
  }

  /** What all that is shown of an order, and each purchase of it, shows otherwise than the CRM has it. */
  #otherwise(order: Order, { shown, own, amendments }: Pick<ShownAt, "shown" | "own" | "amendments">): string[] {
    const twice = shownTwice(purchasesShown({ own, amendments }));
    return [...otherThanWanted(order, shown, this.#deps.settings), ...twice];
  }

  /**
   * Takes an order for the one that is there, unless the ledger or another order has that number already: then it
   * waits, and says so. `left`: where else something of it is shown. Answers whether it counts as placed now.
   */
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

  /** All channel order numbers under which the enterprise shows anything. */
  async #numbers({ customer }: LoadedCustomer): Promise<string[]> {
    if (this.#examination !== undefined) return [...this.#examination.shown.keys()];
    return await this.#deps.ledger.state.shownNumbers(customer);
  }

  async #shown(loaded: LoadedCustomer, channelOrderId: string): Promise<ShownOrder | undefined> {
    if (this.#examination !== undefined) return this.#examination.shown.get(channelOrderId);
    return await this.#deps.ledger.state.shownOrder(loaded.customer, channelOrderId);
  }

  /** `isMade`: not in the enterprise of its customer, but it may be in that of the one before. */
  async #mayBeThere(order: Order, isMade: boolean): Promise<Block | undefined> {
    const types = order.body.instances.flatMap((item) => (item.kind === "asset" ? [item.licenseType] : []));
    const hiddenType = await hiddenTypeOf(
      types,
      async (type) => this.#justShown(type) || (await isShown(this.#deps, type)),
    );
    return maybeThere(order, { bareAssets: this.#examination?.bareAssets ?? [], hiddenType, isMade });
  }

  /**
   * A licence type that this very look showed is one that the platform shows, unless the settings name others (A43).
   */
  #justShown(licenseType: string): boolean {
    return this.#deps.settings.visibleLicenseTypes === undefined && this.#examination?.types.has(licenseType) === true;
  }
}

/** None of the orders is placed while what the enterprise shows is not read. */
function unreadOf(orders: readonly Order[], unread: Block): Sought {
  return { adopted: [], unclear: new Map(orders.map((order) => [formatKey(order.key), unread])), unread };
}

/** The link with an enterprise that is read: of one that this ledger made, everything is known. */
function readLink({ known: { link } }: LoadedCustomer): Link | undefined {
  return link?.origin === "created" ? undefined : link;
}

/** Orders that moved away, or away and back, of which nobody knows what stands here. */
function unclearIn({ away = [], unclear = [] }: LoadedCustomer): readonly Order[] {
  const lost = away.filter(({ standing }) => standing !== undefined && "lost" in standing);
  return [...lost.map(({ order }) => order), ...unclear];
}

function isUnclear(loaded: LoadedCustomer): boolean {
  return loaded.unread === true || unclearIn(loaded).length > 0;
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

/** Before a plan: an order that has amendments waits. */
export const seek: NonNullable<Resource["seek"]> = (deps, snapshot, options) =>
  new OrderAdoption(deps, snapshot, options);
