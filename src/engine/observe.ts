import { toInstant } from "../base/clock.ts";
import type { AssumptionSettings } from "../contract/assumption-settings.ts";
import { formatKey } from "../crm/keys.ts";
import type { Block } from "./plan/blocks.ts";
import { countAbsences, settleTimeLeft } from "./settle-time.ts";
import { type CustomerState, type EngineDependencies, unreadBlock } from "./customer.ts";
import { ReadFailure } from "../http/call.ts";
import type { ObservedMember, ShownEnterprise, Snapshot } from "../platform/snapshot.ts";
import type { AssumptionMet } from "./model/assumptions-met.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { candidatesKind } from "../ledger/state/observations.ts";
import {
  type LoadedCustomer,
  type Observed,
  type Unread,
  correlationFor,
  customerNumbers,
  readsOf,
  selectPlatformCustomer,
} from "./plan/input.ts";
import { isSameKey, type Known } from "./model/state.ts";
import type { Operation } from "./model/operation.ts";
import { freedBy, typeOf } from "./model/registry.ts";
import { deletesAccounts } from "./model/policy-settings.ts";

type Link = NonNullable<Known["link"]>;

const customersOfE2 = 2;
/** An enterprise linked within this many settle times needs `settle.readings` readings of E3. */
const settleTimesYoung = 10;
const countsOf = new WeakMap<Ledger, Map<string, number>>();

function readingsOf(ledger: Ledger, enterpriseGlobalId: string): number {
  const counts = countsOf.get(ledger) ?? new Map<string, number>();
  countsOf.set(ledger, counts);
  const count = (counts.get(enterpriseGlobalId) ?? 0) + 1;
  counts.set(enterpriseGlobalId, count);
  return count;
}

/** So many incomplete lists of one enterprise in a row contradict A27. */
const incompleteOnesInARow = 3;
const incompleteEvidence = `M5 gave ${incompleteOnesInARow} lists of one enterprise in a row that do not add up`;

/** E3 is read this many times as often as for settling: it costs one call, and orders wait for it. */
const readingsOver = 4;

export interface CustomersAwaited {
  until: string;
  reason: string;
}

type SnapshotDependencies = Pick<EngineDependencies, "ledger" | "settings" | "policies" | "clock" | "settle">;

interface SnapshotOptions {
  thorough: boolean;
  /** A failed reading throws. Otherwise only what depends on it waits. */
  whole: boolean;
  contents?: () => ReadonlySet<string> | "all" | undefined;
}

/** The platform's data of one customer. Each list is read once, and again if an operation made it old. */
export class CustomerSnapshot {
  readonly #deps: SnapshotDependencies;
  readonly #snapshot: Snapshot;
  readonly #options: SnapshotOptions;
  #observed: Observed = { enterprises: undefined, members: undefined, assets: undefined };
  #customersRead = false;
  #staffRead = false;
  #absenceAgain: string | undefined;

  constructor(deps: SnapshotDependencies, snapshot: Snapshot, options: SnapshotOptions) {
    this.#deps = deps;
    this.#snapshot = snapshot;
    this.#options = options;
  }

  get observed(): Observed {
    return this.#observed;
  }

  /** If E3 shows too few customers, returns when to read it again. Until then no order is placed or blocked for it. */
  async read(knows: CustomerState): Promise<CustomersAwaited | undefined> {
    const loaded = knows.held;
    const { link } = loaded.known;
    const { thorough, contents: own } = this.#options;
    const needs = readsOf(loaded, {
      ...this.#deps,
      thorough,
      ...(own !== undefined && { instead: { contents: endsOf(own()) } }),
    });
    const contents = needs.contents?.numbers;
    if (needs.enterprises) await this.#lookUp(knows, loaded);
    const looksForCustomers =
      link !== undefined && knows.keeps && !this.#customersRead && customersLacking(loaded, this.#deps.settings);
    const awaited = looksForCustomers
      ? await this.#reading("customers", () => this.#readCustomers(knows, link))
      : undefined;
    if (link === undefined) return awaited;
    // If an operation made it old, it is read again even if the plan no longer needs it.
    if (needs.people || this.#staffRead) await this.#reading("people", () => this.#readStaff(knows, link, needs));
    if (contents !== undefined) await this.#reading("contents", () => this.#readContents(knows, link, contents));
    return awaited;
  }

  async #reading<Read>(of: keyof Unread, read: () => Promise<Read>): Promise<Read | undefined> {
    if (this.#observed.unread?.[of] !== undefined) return undefined;
    try {
      return await read();
    } catch (error) {
      if (this.#options.whole) throw error;
      this.unread(of, unreadBlock(error));
      return undefined;
    }
  }

  readsPeople(): boolean {
    if (this.#staffRead) return false;
    this.#staffRead = true;
    return true;
  }

  unread(of: keyof Unread, block: Block): void {
    this.#observed.unread = { ...this.#observed.unread, [of]: block };
    if (of === "people") Object.assign(this.#observed, { members: undefined, assets: undefined, loans: undefined });
  }

  /** When to read M7 again, if it left out something to remove that does not count as gone yet. */
  get absenceAgain(): string | undefined {
    return this.#absenceAgain;
  }

  /** Several candidates are recorded, so that people see them without a call. */
  async #lookUp(knows: CustomerState, { customer, desiredCustomer }: LoadedCustomer): Promise<void> {
    const { settings } = this.#deps;
    const { enterprises, ambiguous } = this.#observed;
    if (settings.channelCode === undefined || enterprises !== undefined || ambiguous !== undefined) return;
    const { channelCustomerId } = customerNumbers(customer, desiredCustomer?.body.channelCustomerId, settings);
    Object.assign(this.#observed, await this.#snapshot.lookUp(channelCustomerId));
    const found = this.#observed.enterprises ?? [];
    if (found.length < 2) return;
    const body = found.map((item) => ({
      enterprise: item.enterpriseGlobalId,
      customers: item.customers.map(({ customerId, isDefault }) => ({ customerId, isDefault })),
    }));
    await knows.record([{ type: "observed", customer, kind: candidatesKind, subject: channelCustomerId, body }]);
  }

  async #readStaff(
    knows: CustomerState,
    { enterpriseGlobalId }: Link,
    { seats, loans: wanted }: Pick<ReturnType<typeof readsOf>, "seats" | "loans">,
  ): Promise<void> {
    this.#staffRead = true;
    const members = await this.#wholeList(knows, enterpriseGlobalId);
    let assets = await this.#snapshot.assets(enterpriseGlobalId);
    const inM6 = new Set(assets.map((asset) => asset.assetNum));
    if (!seats.isSubsetOf(inM6))
      await this.#reading("seats", async () => {
        assets = await this.#snapshot.assetRows(enterpriseGlobalId);
      });
    const isLent =
      wanted || assets.some((asset) => asset.borrowed) || members.some((member) => member.borrows !== null);
    const loans = isLent ? await this.#snapshot.loans(enterpriseGlobalId) : undefined;
    Object.assign(this.#observed, { members, assets, loans });
  }

  async #wholeList(knows: CustomerState, enterpriseGlobalId: string): Promise<ObservedMember[]> {
    const { ledger } = this.#deps;
    try {
      const members = await this.#snapshot.members(enterpriseGlobalId);
      await ledger.assumptions.wholeList(enterpriseGlobalId);
      return members;
    } catch (error) {
      const isIncomplete = error instanceof ReadFailure && error.kind === "incomplete";
      const inARow = isIncomplete && knows.keeps ? await ledger.assumptions.incompleteList(enterpriseGlobalId) : 0;
      if (inARow >= incompleteOnesInARow)
        await ledger.assumptions.met([{ row: "A27", about: formatKey(knows.customer), evidence: incompleteEvidence }]);
      throw error;
    }
  }

  /** If a product's licence order is unknown, its deletion could reach every asset, so all are read. */
  async #readContents(
    knows: CustomerState,
    { enterpriseGlobalId }: Link,
    wanted: ReadonlySet<string> | "all",
  ): Promise<void> {
    const { contents: before, allContents } = this.#observed;
    if (allContents === true) return;
    const contents = new Map(before);
    const read = async (numbers: ReadonlySet<string> | "all"): Promise<void> => {
      const lacking = numbers === "all" ? undefined : [...numbers].filter((number) => !contents.has(number));
      for await (const reading of this.#snapshot.contentsThere(enterpriseGlobalId, lacking))
        if (reading === "gone") isWhole = false;
        else contents.set(reading.asset.assetNum, reading);
    };
    let isWhole = true;
    await read(wanted);
    const isUnowned = [...contents.values()].some(({ products }) => products.some((row) => !row.licenseOrderId));
    if (isUnowned && wanted !== "all") await read("all");
    this.#observed.contents = contents;
    this.#observed.allContents = isWhole && (wanted === "all" || isUnowned);
    if (before !== undefined) return;
    const input = { ...knows.held, observed: this.#observed };
    const { gone, again } = await countAbsences(this.#deps, knows, input);
    this.#observed.gone = gone;
    this.#absenceAgain = again;
  }

  unclear(orders: Observed["unclearOrders"]): void {
    this.#observed.unclearOrders = orders;
  }

  forget(operations: readonly Operation[]): void {
    const outdated = new Set(operations.flatMap((operation) => typeOf(operation).invalidates));
    const isFreed = operations.some((operation) => freedBy(operation).length > 0);
    // M5 also shows members' assets, which decide whether an account may be deleted.
    if (isFreed && deletesAccounts(this.#deps.policies)) outdated.add("members");
    this.#snapshot.forget(outdated);
    if (outdated.has("enterprises")) {
      this.#observed.enterprises = undefined;
      this.#observed.ambiguous = undefined;
      this.#customersRead = false;
    }
    if (outdated.has("members")) this.#observed.members = undefined;
    if (outdated.has("assets"))
      Object.assign(this.#observed, {
        assets: undefined,
        loans: undefined,
        contents: undefined,
        allContents: undefined,
        gone: undefined,
      });
  }

  /** E3 after E2. It confirms the correlation (A8). */
  async #readCustomers(knows: CustomerState, link: Link): Promise<CustomersAwaited | undefined> {
    const { ledger, settings } = this.#deps;
    const { enterpriseGlobalId, channelCustomerId, origin } = link;
    this.#customersRead = true;
    const found = await this.#snapshot.enterprises(channelCustomerId);
    const ours = found.find((item) => item.enterpriseGlobalId === enterpriseGlobalId);
    if (ours !== undefined) {
      knows.recordAhead([{ type: "platform-customers", enterpriseGlobalId, customers: ours.customers }]);
      if (origin === "created") {
        const correlation = correlationFor(settings, knows.customer, channelCustomerId);
        if (!ledger.state.isConfirmed(correlation)) await ledger.state.confirmCorrelation(correlation, knows.after);
        const met = metByChannel(ours, settings);
        if (met.length > 0) await ledger.assumptions.met(met);
      }
    }
    const lacking = customersLacking(knows.held, settings);
    const awaited = lacking ? await this.#settles(link) : undefined;
    if (lacking && awaited === undefined && ours === undefined && origin === "created")
      await ledger.assumptions.met([notUnderItsNumber]);
    return awaited;
  }

  /** When to read E3 again. Undefined if the settle time is over and a young enterprise was read often enough. */
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
      `E3 does not show all customers of the enterprise ${link.enterpriseGlobalId} yet that the orders need. ` +
      `crm-sync reads E3 again from ${until} on and orders nothing before the settle time is over`;
    return { until, reason };
  }
}

const notUnderItsNumber: AssumptionMet = {
  row: "A8",
  evidence: "E3 did not show an enterprise that E2 had made, over the settle time",
};

/** E2 created the enterprise, so another channel code contradicts A9. */
function metByChannel({ customers }: ShownEnterprise, { channelCode }: AssumptionSettings): AssumptionMet[] {
  if (customers.some((customer) => customer.channelCode === channelCode)) return [];
  return [{ row: "A9", evidence: "E3 showed an enterprise that E2 had made under another channel code" }];
}

/** Too few to place the waiting orders or to block them (A12). */
function customersLacking({ customer, known, orders }: LoadedCustomer, settings: AssumptionSettings): boolean {
  const { link, platformCustomers } = known;
  if (link === undefined) return false;
  const waiting = orders.filter(({ key, pending, state }) => {
    const placed = known.placedOrders.get(formatKey(key));
    return pending && state === "current" && (placed === undefined || !isSameKey(placed.customer, customer));
  });
  if (waiting.length === 0) return platformCustomers.length === 0;
  if (link.origin === "created" && platformCustomers.length < customersOfE2) return true;
  const types = new Set(
    waiting.flatMap((order) =>
      order.body.instances.flatMap((item) => (item.kind === "asset" ? [item.licenseType] : [])),
    ),
  );
  return [...types].some((type) => "code" in selectPlatformCustomer(known, type, settings));
}

function endsOf(numbers: ReadonlySet<string> | "all" | undefined): ReturnType<typeof readsOf>["contents"] {
  return numbers === undefined ? undefined : { numbers, ends: true };
}
