import { toInstant } from "../base/clock.ts";
import type { AssumptionSettings } from "../contract/assumption-settings.ts";
import { formatKey } from "../crm/keys.ts";
import type { CustomerState } from "./customer-state.ts";
import type { ApplyDependencies } from "./dependencies.ts";
import type { Snapshot } from "../platform/snapshot.ts";
import { correlationFor } from "../operation/enterprise.ts";
import { settleTimeLeft } from "./settle-time.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { LoadedCustomer, Observed } from "../plan/input.ts";
import type { Link } from "../operation/state/link.ts";
import { customerNumbers } from "../plan/customer-numbers.ts";
import type { Operation } from "../operation/operation.ts";
import { kindOf } from "../operation/registry.ts";
import { selectPlatformCustomer } from "../plan/platform-customer.ts";
import { needsOf } from "../plan/needs.ts";

/** E2 makes a default and an industry customer. */
const customersOfE2 = 2;
/**
 * An enterprise that was linked no longer ago than so many settle times is read as often as anything is that has to
 * settle.
 */
const settleTimesYoung = 10;
/** How often E3 was read by this process for the customers of an enterprise that it did not show yet. */
const countsOf = new WeakMap<Ledger, Map<string, number>>();

/** Counts one more reading. */
function readingsOf(ledger: Ledger, enterpriseGlobalId: string): number {
  const counts = countsOf.get(ledger) ?? new Map<string, number>();
  countsOf.set(ledger, counts);
  const count = (counts.get(enterpriseGlobalId) ?? 0) + 1;
  counts.set(enterpriseGlobalId, count);
  return count;
}

/** In so many parts of a settle reading E3 is read again for customers: it costs one call, and orders wait for it. */
const readingsOver = 4;

/** When E3 is read again for the customers of an enterprise, and why. */
export interface CustomersAwaited {
  until: string;
  reason: string;
}

type SnapshotDependencies = Pick<ApplyDependencies, "ledger" | "settings" | "clock" | "settle">;

/**
 * What was read from the platform for one customer in this attempt: everything once for each need, and again after a
 * stage did something that made it old. A run and a plan read the same, but that a plan waits for nothing.
 */
export class CustomerSnapshot {
  readonly #deps: SnapshotDependencies;
  readonly #snapshot: Snapshot;
  readonly #options: { thorough: boolean };
  #observed: Observed = { enterprises: undefined, members: undefined, assets: undefined };
  #customersRead = false;

  constructor(deps: SnapshotDependencies, snapshot: Snapshot, options: { thorough: boolean }) {
    this.#deps = deps;
    this.#snapshot = snapshot;
    this.#options = options;
  }

  get observed(): Observed {
    return this.#observed;
  }

  /**
   * Reads what the customer's plan depends on and was not read yet; what E3 shows of a linked enterprise becomes known
   * by it. Answers when E3 is to be read again because it shows too few customers for the orders that wait: then
   * nothing is placed or blocked on it now.
   */
  async read(knows: CustomerState): Promise<CustomersAwaited | undefined> {
    const loaded = knows.held ?? (await knows.loaded());
    const needs = needsOf(loaded, this.#options.thorough);
    const { link } = loaded.known;
    if (needs.enterprises) await this.#lookUp(loaded);
    const looksForCustomers =
      link !== undefined && knows.keeps && !this.#customersRead && customersLacking(loaded, this.#deps.settings);
    const awaited = looksForCustomers ? await this.#readCustomers(knows, link) : undefined;
    if (needs.staff && link !== undefined) await this.#readStaff(link);
    return awaited;
  }

  async #lookUp({ customer, desiredCustomer }: LoadedCustomer): Promise<void> {
    const { settings } = this.#deps;
    const { enterprises, ambiguous } = this.#observed;
    if (settings.channelCode === undefined || enterprises !== undefined || ambiguous !== undefined) return;
    const { channelCustomerId } = customerNumbers(customer, desiredCustomer?.body.channelCustomerId, settings);
    Object.assign(this.#observed, await this.#snapshot.lookUp(channelCustomerId));
  }

  async #readStaff({ enterpriseGlobalId }: Link): Promise<void> {
    this.#observed.members = await this.#snapshot.members(enterpriseGlobalId);
    this.#observed.assets = await this.#snapshot.assets(enterpriseGlobalId);
  }

  /** Keeps which orders may be on the platform already, and why they wait. */
  unclear(orders: Observed["unclearOrders"]): void {
    this.#observed.unclearOrders = orders;
  }

  /** Forgets what operations of which some did something have made old. */
  forget(operations: readonly Operation[]): void {
    const outdated = new Set(operations.flatMap((operation) => kindOf(operation).outdates));
    this.#snapshot.forget(outdated);
    if (outdated.has("enterprises")) {
      this.#observed.enterprises = undefined;
      this.#observed.ambiguous = undefined;
      this.#customersRead = false;
    }
    if (outdated.has("members")) this.#observed.members = undefined;
    if (outdated.has("assets")) this.#observed.assets = undefined;
  }

  /**
   * E3 after E2: the customers of the enterprise, where too few are known of. What it shows of an enterprise we made
   * confirms the correlation (A8).
   */
  async #readCustomers(knows: CustomerState, link: Link): Promise<CustomersAwaited | undefined> {
    const { ledger, settings } = this.#deps;
    const { enterpriseGlobalId, channelCustomerId, origin } = link;
    this.#customersRead = true;
    const found = await this.#snapshot.enterprises(channelCustomerId);
    const ours = found.find((item) => item.enterpriseGlobalId === enterpriseGlobalId);
    if (ours !== undefined) {
      await knows.recordAhead([{ type: "platform-customers", enterpriseGlobalId, customers: ours.customers }]);
      if (origin === "created")
        await ledger.state.confirmCorrelation(correlationFor(settings, knows.customer, channelCustomerId), knows.after);
    }
    return customersLacking(knows.held ?? (await knows.loaded()), settings) ? await this.#settles(link) : undefined;
  }

  /**
   * When E3 is read again, while it may show more customers of the enterprise than now; undefined once its settle time
   * is over.
   */
  async #settles(link: Link): Promise<CustomersAwaited | undefined> {
    const { clock, settle } = this.#deps;
    const since = link.since === undefined ? clock.now() : Date.parse(link.since);
    const left = await settleTimeLeft(this.#deps, `customers-of:${link.enterpriseGlobalId}`, since);
    const readings = readingsOf(this.#deps.ledger, link.enterpriseGlobalId);
    const young = clock.now() - since < settleTimesYoung * settle.timeMs;
    if (left === 0 && !(young && readings < settle.readings)) return undefined;
    const pause = Math.ceil(settle.timeMs / (readingsOver * settle.readings));
    const until = toInstant(clock.now() + (left === 0 ? pause : Math.min(left, pause)));
    const reason =
      `E3 does not show all customers of the enterprise ${link.enterpriseGlobalId} that the orders need yet; ` +
      `it is read again from ${until} on, and nothing is placed or blocked on what it shows until ` +
      "its settle time is over";
    return { until, reason };
  }
}

/**
 * Whether E3 has shown too few customers of the enterprise to place the orders that wait, or to say that they cannot be
 * placed: none at all, fewer than E2 makes, or not exactly one that takes an order's licence type (A12).
 */
function customersLacking({ known, orders }: LoadedCustomer, settings: AssumptionSettings): boolean {
  const { link, platformCustomers } = known;
  if (link === undefined) return false;
  const waiting = orders.filter(
    (order) => order.pending && order.state === "current" && !known.placedOrders.has(formatKey(order.key)),
  );
  if (waiting.length === 0) return platformCustomers.length === 0;
  if (link.origin === "created" && platformCustomers.length < customersOfE2) return true;
  const types = new Set(
    waiting.flatMap((order) =>
      order.body.instances.flatMap((item) => (item.kind === "asset" ? [item.licenseType] : [])),
    ),
  );
  return [...types].some((type) => "code" in selectPlatformCustomer(known, type, settings));
}
