import type { ShownOrder, Absences } from "./observations.ts";
import type { JsonObject } from "../../base/canonical-json.ts";
import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { DesiredCustomer, DesiredStaff } from "../../engine/model/desired.ts";
import type { Known, StateChange } from "../../engine/model/state.ts";
import type { EnterpriseFacts } from "../../engine/model/state-part.ts";
import { noThings, takenThings, type TakenThing } from "../../engine/model/taking.ts";
import type { OpenRows } from "../../engine/model/resource.ts";
import type { LoadedCustomer } from "../../engine/plan/input.ts";
import { type ChangeTables, type KnownTables, type StateRows, countOf } from "./registry.ts";
import type { LedgerContext } from "../context.ts";
import { ReadTogether } from "../database/read-together.ts";
import type { Sequence } from "../database/sequence.ts";
import type { RejectionTables } from "../journal/rejections.ts";
import type { Difference } from "../../report/reconciliation/case.ts";
import type { DifferenceCount, SeenDifference, StandingDifference } from "./differences.ts";
import type { Unread } from "./unread-customers.ts";
import { saidLinks } from "./said-links.ts";

/** Customers that are woken in one transaction. */

/** What the platform showed of a customer with this link. */
export interface ShownOfCustomer {
  customer: RecordKey;
  link: Known["link"];
  changes: readonly StateChange[];
}

/** Whether anything is open of a customer, or waits to be begun, and where nothing is open what is known of it. */
export interface Begun {
  open: boolean;
  waits: boolean;
  /** Something is held, or a person approved or rejected it. */
  held: boolean;
  loaded?: LoadedCustomer;
}

/** What is known of each enterprise: links, placed orders, asset numbers, assignments, and what the platform showed. */
export class EnterpriseState {
  readonly #context: LedgerContext;
  readonly #rows: StateRows;
  readonly #changes: ChangeTables;
  readonly #known: KnownTables;
  readonly #rejections: RejectionTables;
  readonly #begins: ReadTogether<RecordKey, Begun>;
  /** Correlations that this process has seen confirmed. */
  readonly #confirmed = new Set<string>();

  constructor(
    context: LedgerContext,
    tables: {
      rows: StateRows;
      changes: ChangeTables;
      known: KnownTables;
      rejections: RejectionTables;
    },
  ) {
    this.#context = context;
    this.#begins = new ReadTogether(context, (customer) => this.#begun(customer));
    this.#rows = tables.rows;
    this.#changes = tables.changes;
    this.#known = tables.known;
    this.#rejections = tables.rejections;
  }

  load(customer: RecordKey): LoadedCustomer {
    return this.#context.readTogether(() => this.#load(customer));
  }

  /** What an attempt at a customer begins with, of one moment. Those who ask in one turn are answered together. */
  begin(customer: RecordKey): Promise<Begun> {
    return this.#begins.ask(customer);
  }

  #begun(customer: RecordKey): Begun {
    const found = this.#known.held(customer);
    const begun = { waits: found.waits === 1, held: found.held === 1 };
    return found.open === 1 ? { ...begun, open: true } : { ...begun, open: false, loaded: this.#load(customer, found) };
  }

  #load(customer: RecordKey, held = this.#known.held(customer)): LoadedCustomer {
    const rejections = held.rejected === 1 ? this.#rejections.of(customer) : [];
    return { ...this.#known.load(customer, held), rejections };
  }

  /** Asks rows of resources. */
  async read<Found>(ask: (rows: OpenRows) => Found): Promise<Found> {
    return this.#context.read(() => ask(this.#rows.resources));
  }

  /** Several questions of one moment. */
  async readTogether<Found>(ask: (rows: OpenRows) => Found): Promise<Found> {
    return this.#context.readTogether(() => ask(this.#rows.resources));
  }

  /** Writes rows of resources in one transaction, without an entry in the audit log. `at`: the instant that they bear. */
  write<Written>(work: (rows: OpenRows, at: string) => Written): Promise<Written> {
    return this.#context.write(() => work(this.#rows.resources, this.#context.now));
  }

  /** What is known of an enterprise, whoever is linked with it. */
  factsOf(enterpriseGlobalId: string): EnterpriseFacts {
    return this.#context.readTogether(() => this.#rows.resources.enterprise.facts(enterpriseGlobalId));
  }

  async known(customer: RecordKey): Promise<Known> {
    return this.#context.readTogether(() => this.#known.known(customer));
  }

  /**
   * Keeps what was shown of several customers together, without an entry in the audit chain. Nothing is kept of one
   * that is linked otherwise than when it was read: these are returned, as they are linked now.
   */
  async keepShown(shown: readonly ShownOfCustomer[]): Promise<Pick<ShownOfCustomer, "customer" | "link">[]> {
    if (shown.length === 0) return [];
    return await this.#context.write(() => {
      const at = this.#context.now;
      const otherwise: Pick<ShownOfCustomer, "customer" | "link">[] = [];
      for (const { customer, link, changes } of shown) {
        const now = this.#rows.resources.enterprise.links.known(customer).link;
        if (now?.enterpriseGlobalId === link?.enterpriseGlobalId && now?.since === link?.since)
          this.#apply(changes, at);
        else otherwise.push({ customer, link: now });
      }
      return otherwise;
    });
  }

  /** Every form that is kept of a customer's own record, newest first. */
  async customerForms(customer: RecordKey): Promise<DesiredCustomer[]> {
    return this.#context.read(() => this.#rows.desired.forms<DesiredCustomer>("customers", customer));
  }

  /** The same of a person's. */
  async staffForms(staff: RecordKey): Promise<DesiredStaff[]> {
    return this.#context.read(() => this.#rows.desired.forms<DesiredStaff>("staff", staff));
  }

  /** What an adopted enterprise showed under a channel order number when it was examined. */
  async shownOrder(customer: RecordKey, channelOrderId: string): Promise<ShownOrder | undefined> {
    return this.#context.read(() => this.#rows.observations.shownOrder(customer, channelOrderId));
  }

  /** What readings left out so far of an order that wants it gone. */
  async absences(customer: RecordKey, order: string): Promise<Absences | undefined> {
    return this.#context.read(() => this.#rows.observations.absences(customer, order));
  }

  /** The channel order numbers under which it showed anything then. */
  async shownNumbers(customer: RecordKey): Promise<string[]> {
    return this.#context.read(() => this.#rows.observations.shownNumbers(customer));
  }

  /** Under which of these channel order numbers enterprises of other customers showed anything then. */
  async shownElsewhere(
    customer: RecordKey,
    numbers: { number: string; beginning: string },
  ): Promise<{ customer: RecordKey; number: string }[]> {
    return this.#context.read(() => this.#rows.observations.shownElsewhere(customer, numbers));
  }

  /** Whether any order may stand in another enterprise than its customer's: most ledgers never looked at any. */
  mayStandElsewhere(): boolean {
    return this.#context.read(() => this.#rows.observations.hasOrders() || this.#rows.unread.isAnew());
  }

  /** Whether the platform had more than this ledger made, as where it was built anew. */
  async isAnew(): Promise<boolean> {
    return this.#context.read(() => this.#rows.unread.isAnew());
  }

  /** What a rebuild could not look at, and nobody could since, in key order. */
  async unread(): Promise<RecordKey[]> {
    return this.#context.read(() => this.#rows.unread.all());
  }

  /** Whether an order was known when the ledger was built anew, so that an earlier one may have placed it. */
  async knewBeforeRebuild(order: RecordKey): Promise<boolean> {
    return this.#context.read(() => this.#rows.unread.knewBefore(order));
  }

  /** Customers whose records are in quarantine, in key order. */
  async customersInQuarantine(): Promise<RecordKey[]> {
    return this.#context.read(() => this.#rows.unread.inQuarantine());
  }

  /** Streams with rows in quarantine that do not say whose they are. */
  async unnamedInQuarantine(): Promise<string[]> {
    return this.#context.read(() => this.#rows.unread.unnamed());
  }

  /** The same as far as an order of this customer may stand there. */
  async unreadBefore(order: RecordKey, customer: RecordKey): Promise<Unread | undefined> {
    return this.#context.read(() => this.#rows.unread.before(order, customer));
  }

  /**
   * Ledger changes that come from reading, not from an operation; with an audit entry where something is adopted. Gives
   * the instant that they bear.
   */
  async record(
    customer: RecordKey,
    changes: readonly StateChange[],
    audit?: { kind: string; subject: string; body: JsonObject },
  ): Promise<string> {
    if (changes.length === 0 && audit === undefined) return this.#context.now;
    return await this.#context.write(() => {
      const at = this.#context.now;
      this.#apply(changes, at);
      if (audit !== undefined) {
        this.#context.audit.append({
          at,
          kind: audit.kind,
          subject: audit.subject,
          body: { customer: formatKey(customer), ...audit.body, ...saidLinks(changes) },
        });
      }
      return at;
    });
  }

  /** The same of what nothing else can contradict, without waiting for the commit. */
  recordAhead(changes: readonly StateChange[], sequence: Sequence): { at: string; committed: Promise<void> } {
    const at = this.#context.now;
    return { at, committed: this.#context.ride(sequence.leads(() => this.#apply(changes, at))) };
  }

  #apply(changes: readonly StateChange[], at: string): void {
    for (const change of changes) this.#changes.apply(change, at);
  }

  /** What readings back showed otherwise than it was left. */
  async keepDifferences(
    found: readonly { customer: RecordKey; seenAt: string; differences: readonly Difference[] }[],
  ): Promise<void> {
    if (found.length === 0) return;
    await this.#context.write(() => {
      for (const { customer, seenAt, differences } of found) this.#rows.differences.keep(customer, differences, seenAt);
    });
  }

  /** What stands otherwise than it was left of a customer, and when whole readings showed it. */
  async seenDifferences(customer: RecordKey): Promise<SeenDifference[]> {
    return this.#context.read(() => this.#rows.differences.of(customer));
  }

  /** What stands otherwise than it was left, counted, and the first of it. */
  async differences(first: number): Promise<{ counts: DifferenceCount[]; first: StandingDifference[] }> {
    return this.#context.readTogether(() => ({
      counts: this.#rows.differences.counts(),
      first: this.#rows.differences.first(first),
    }));
  }

  /** Whether this process has confirmed it. */
  isConfirmed(correlation: string): boolean {
    return this.#confirmed.has(correlation);
  }

  /** Not where what it counts on came to nothing: an E2 whose outcome the ledger cannot hold was not accepted by it. */
  async confirmCorrelation(correlation: string, after?: Sequence): Promise<void> {
    const work = (): void => this.#rows.resources.enterprise.readings.confirm(correlation, this.#context.now);
    if (!(await this.correlationConfirmed(correlation))) await this.#context.write(after?.follows(work) ?? work);
    this.#confirmed.add(correlation);
  }

  /** Whether E3 has shown an enterprise that an accepted E2 of this ledger made, under the same templates (A8). */
  async correlationConfirmed(correlation: string): Promise<boolean> {
    return this.#context.read(() => this.#rows.resources.enterprise.readings.isConfirmed(correlation));
  }

  /** Whether the platform has ever shown an asset of a licence type to this ledger (A43). */
  async licenceTypeShown(type: string): Promise<boolean> {
    return this.#context.read(() => this.#rows.licenceTypes.isShown(type));
  }

  /**
   * How many of these things stand that could be taken away, of a customer or of all: what a share of a limit is of.
   * Those in somebody's hand are counted order by order where it is of all; everything else is known.
   */
  async live(customer?: RecordKey, things: readonly TakenThing[] = takenThings): Promise<Record<TakenThing, number>> {
    const live = noThings();
    this.#context.readTogether(() => {
      for (const thing of things) live[thing] = countOf(this.#rows, thing, customer);
    });
    return live;
  }
}
