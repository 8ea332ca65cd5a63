import type { ShownOrder, Absences } from "./observations.ts";
import type { JsonObject } from "../../base/canonical-json.ts";
import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { DesiredCustomer, DesiredStaff } from "../../engine/model/desired.ts";
import type { Known, StateChange, EnterpriseFacts } from "../../engine/model/state.ts";
import { noThings, removedThings, type RemovedThing } from "../../engine/model/operation.ts";
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

export interface ShownOfCustomer {
  customer: RecordKey;
  link: Known["link"];
  changes: readonly StateChange[];
}

/** `loaded` is missing if an operation is open. */
export interface Begun {
  open: boolean;
  waits: boolean;
  held: boolean;
  loaded?: LoadedCustomer;
}

export class EnterpriseState {
  readonly #context: LedgerContext;
  readonly #rows: StateRows;
  readonly #changes: ChangeTables;
  readonly #known: KnownTables;
  readonly #rejections: RejectionTables;
  readonly #begins: ReadTogether<RecordKey, Begun>;
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

  /** The start of an attempt, from one state. Questions of one turn of the event loop are answered together. */
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

  async read<Found>(ask: (rows: OpenRows) => Found): Promise<Found> {
    return this.#context.read(() => ask(this.#rows.resources));
  }

  async readTogether<Found>(ask: (rows: OpenRows) => Found): Promise<Found> {
    return this.#context.readTogether(() => ask(this.#rows.resources));
  }

  /** One transaction, no audit entry. `at` is its stamp. */
  write<Written>(work: (rows: OpenRows, at: string) => Written): Promise<Written> {
    return this.#context.write(() => work(this.#rows.resources, this.#context.now));
  }

  factsOf(enterpriseGlobalId: string): EnterpriseFacts {
    return this.#context.readTogether(() => this.#rows.resources.enterprise.facts(enterpriseGlobalId));
  }

  async known(customer: RecordKey): Promise<Known> {
    return this.#context.readTogether(() => this.#known.known(customer));
  }

  /** Writes no audit entry. Skips and returns customers whose link changed since the reading, with the new link. */
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

  async customerForms(customer: RecordKey): Promise<DesiredCustomer[]> {
    return this.#context.read(() => this.#rows.desired.forms<DesiredCustomer>("customers", customer));
  }

  async staffForms(staff: RecordKey): Promise<DesiredStaff[]> {
    return this.#context.read(() => this.#rows.desired.forms<DesiredStaff>("staff", staff));
  }

  async shownOrder(customer: RecordKey, channelOrderId: string): Promise<ShownOrder | undefined> {
    return this.#context.read(() => this.#rows.observations.shownOrder(customer, channelOrderId));
  }

  async absences(customer: RecordKey, order: string): Promise<Absences | undefined> {
    return this.#context.read(() => this.#rows.observations.absences(customer, order));
  }

  async shownNumbers(customer: RecordKey): Promise<string[]> {
    return this.#context.read(() => this.#rows.observations.shownNumbers(customer));
  }

  /** Other customers' enterprises that showed these channel order numbers when they were examined. */
  async shownElsewhere(
    customer: RecordKey,
    numbers: { number: string; beginning: string },
  ): Promise<{ customer: RecordKey; number: string }[]> {
    return this.#context.read(() => this.#rows.observations.shownElsewhere(customer, numbers));
  }

  /** Whether an order may be in another customer's enterprise. Most ledgers never saw that. */
  mayStandElsewhere(): boolean {
    return this.#context.read(() => this.#rows.observations.hasOrders() || this.#rows.unread.isAnew());
  }

  async isAnew(): Promise<boolean> {
    return this.#context.read(() => this.#rows.unread.isAnew());
  }

  /** Customers that a rebuild could not read, and nobody since, in key order. */
  async unread(): Promise<RecordKey[]> {
    return this.#context.read(() => this.#rows.unread.all());
  }

  async knewBeforeRebuild(order: RecordKey): Promise<boolean> {
    return this.#context.read(() => this.#rows.unread.knewBefore(order));
  }

  async customersInQuarantine(): Promise<RecordKey[]> {
    return this.#context.read(() => this.#rows.unread.inQuarantine());
  }

  async unnamedInQuarantine(): Promise<string[]> {
    return this.#context.read(() => this.#rows.unread.unnamed());
  }

  async unreadBefore(order: RecordKey, customer: RecordKey): Promise<Unread | undefined> {
    return this.#context.read(() => this.#rows.unread.before(order, customer));
  }

  /** Stores changes from readings; `audit` writes an entry, as for an adoption. Returns their stamp. */
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

  /** Like `record`, without waiting for the commit. Only for changes that nothing can contradict. */
  recordAhead(changes: readonly StateChange[], sequence: Sequence): { at: string; committed: Promise<void> } {
    const at = this.#context.now;
    return { at, committed: this.#context.ride(sequence.leads(() => this.#apply(changes, at))) };
  }

  #apply(changes: readonly StateChange[], at: string): void {
    for (const change of changes) this.#changes.apply(change, at);
  }

  async keepDifferences(
    found: readonly { customer: RecordKey; seenAt: string; differences: readonly Difference[] }[],
  ): Promise<void> {
    if (found.length === 0) return;
    await this.#context.write(() => {
      for (const { customer, seenAt, differences } of found) this.#rows.differences.keep(customer, differences, seenAt);
    });
  }

  async seenDifferences(customer: RecordKey): Promise<SeenDifference[]> {
    return this.#context.read(() => this.#rows.differences.of(customer));
  }

  async differences(first: number): Promise<{ counts: DifferenceCount[]; first: StandingDifference[] }> {
    return this.#context.readTogether(() => ({
      counts: this.#rows.differences.counts(),
      first: this.#rows.differences.first(first),
    }));
  }

  isConfirmed(correlation: string): boolean {
    return this.#confirmed.has(correlation);
  }

  /** Fails with `after`: an E2 whose outcome the ledger refused confirms nothing. */
  async confirmCorrelation(correlation: string, after?: Sequence): Promise<void> {
    const work = (): void => this.#rows.resources.enterprise.readings.confirm(correlation, this.#context.now);
    if (!(await this.correlationConfirmed(correlation))) await this.#context.write(after?.follows(work) ?? work);
    this.#confirmed.add(correlation);
  }

  /** Whether E3 has shown an enterprise that an E2 of this ledger made under the same templates (A8). */
  async correlationConfirmed(correlation: string): Promise<boolean> {
    return this.#context.read(() => this.#rows.resources.enterprise.readings.isConfirmed(correlation));
  }

  /** Whether the platform ever showed an asset of this licence type (A43). */
  async licenceTypeShown(type: string): Promise<boolean> {
    return this.#context.read(() => this.#rows.licenceTypes.isShown(type));
  }

  /** Of one customer or all. Shares of limits refer to these numbers. */
  async live(
    customer?: RecordKey,
    things: readonly RemovedThing[] = removedThings,
  ): Promise<Record<RemovedThing, number>> {
    const live = noThings();
    this.#context.readTogether(() => {
      for (const thing of things) live[thing] = countOf(this.#rows, thing, customer);
    });
    return live;
  }
}
