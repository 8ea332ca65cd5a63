import type { JsonObject } from "../../base/canonical-json.ts";
import { formatKey } from "../../crm/keys.ts";
import type { LicenseType, RecordKey } from "../../crm/model.ts";
import type { EnterpriseFacts } from "../../operation/state/part.ts";
import type { Known, StateChange } from "../../operation/state.ts";
import { standing, subjectOf } from "../../operation/requests.ts";
import type { ManualRequest, NewRequest, RequestName } from "../../operation/requests.ts";
import type { ShownOrder } from "../../plan/adoption.ts";
import type { LoadedCustomer } from "../../plan/input.ts";
import type { ChangeTables } from "./changes.ts";
import type { LedgerContext } from "../context.ts";
import type { Sequence } from "../database/sequence.ts";
import type { KnownTables } from "./known.ts";
import type { FixedNumbers, WantedNumbers } from "./asset-numbers.ts";
import { JournalTables } from "../journal/journal-tables.ts";
import { requestCodes } from "../records/work.ts";
import type { WorkTables } from "../records/work.ts";
import { requireFree, withdrawals } from "./withdrawal.ts";
import type { RejectionTables } from "../journal/rejections.ts";
import type { LinkedCustomer } from "./links.ts";
import type { StateRows } from "./registry.ts";

/** What the platform showed of a customer with this link. */
export interface ShownOfCustomer extends LinkedCustomer {
  changes: readonly StateChange[];
}

/** Who asks for something by hand, and why. */
interface Whose {
  by: string;
  reason: string;
}

/** Whether anything is open of a customer, or waits to be begun, and where nothing is open what is known of it. */
export interface Begun {
  open: boolean;
  waits: boolean;
  loaded?: LoadedCustomer;
}

/** What is known of each enterprise: links, placed orders, asset numbers, assignments, and what the platform showed. */
export class EnterpriseState {
  readonly #context: LedgerContext;
  readonly #rows: StateRows;
  readonly #changes: ChangeTables;
  readonly #known: KnownTables;
  readonly #rejections: RejectionTables;
  readonly #journal: JournalTables;
  readonly #work: WorkTables;
  /** Correlations that this process has seen confirmed. */
  readonly #confirmed = new Set<string>();

  constructor(
    context: LedgerContext,
    tables: {
      rows: StateRows;
      changes: ChangeTables;
      known: KnownTables;
      rejections: RejectionTables;
      work: WorkTables;
    },
  ) {
    this.#context = context;
    this.#rows = tables.rows;
    this.#changes = tables.changes;
    this.#known = tables.known;
    this.#rejections = tables.rejections;
    this.#journal = new JournalTables(context.database);
    this.#work = tables.work;
  }

  async load(customer: RecordKey): Promise<LoadedCustomer> {
    return this.#context.readTogether(() => this.#load(customer));
  }

  /** What an attempt at a customer begins with, of one moment. */
  async begin(customer: RecordKey): Promise<Begun> {
    return this.#context.readTogether(() => {
      const held = this.#known.held(customer);
      const waits = held.waits === 1;
      return held.open === 1 ? { open: true, waits } : { open: false, waits, loaded: this.#load(customer, held) };
    });
  }

  #load(customer: RecordKey, held = this.#known.held(customer)): LoadedCustomer {
    const rejections = held.rejected === 1 ? this.#rejections.of(customer) : [];
    return { ...this.#known.load(customer, held), rejections };
  }

  async known(customer: RecordKey): Promise<Known> {
    return this.#context.readTogether(() => this.#known.known(customer));
  }

  /**
   * Keeps what was shown of several customers together, without an entry in the audit chain. Nothing is kept of one
   * that is linked otherwise than when it was read: these are returned, as they are linked now.
   */
  async keepShown(shown: readonly ShownOfCustomer[]): Promise<LinkedCustomer[]> {
    if (shown.length === 0) return [];
    return await this.#context.write(() => {
      const at = this.#context.now;
      const otherwise: LinkedCustomer[] = [];
      for (const { customer, link, changes } of shown) {
        const now = this.#rows.links.known(customer).link;
        if (now?.enterpriseGlobalId === link?.enterpriseGlobalId && now?.since === link?.since)
          this.#apply(changes, at);
        else otherwise.push({ customer, link: now });
      }
      return otherwise;
    });
  }

  /** What is known of an enterprise, whoever is linked with it. */
  async enterpriseFacts(enterpriseGlobalId: string): Promise<EnterpriseFacts> {
    return this.#context.readTogether(() => this.#known.enterpriseFacts(enterpriseGlobalId));
  }

  /** What an adopted enterprise showed under a channel order number when it was examined. */
  async shownOrder(customer: RecordKey, channelOrderId: string): Promise<ShownOrder | undefined> {
    return this.#context.read(() => this.#rows.observations.shownOrder(customer, channelOrderId));
  }

  async isPlaced(channelOrderId: string): Promise<boolean> {
    return this.#context.read(() => this.#rows.placedOrders.isPlaced(channelOrderId));
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
          body: { customer: formatKey(customer), ...audit.body },
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

  /**
   * Writes down what a person asks for of a customer, with an audit entry. Throws a Problem, in the transaction that
   * would write it, where another customer's request for the same is not done. What the customer waits for otherwise
   * may be what was asked for before: the next run says it anew.
   */
  async ask(customer: RecordKey, requests: readonly NewRequest[], whose: Whose): Promise<void> {
    await this.#context.write(() => {
      const at = this.#context.now;
      this.#requireFree(customer, requests);
      for (const request of requests) this.#changes.apply({ type: "request-made", customer, request }, at);
      this.#appendRequests("request-made", customer, requests, whose);
      if (this.#work.waitsOtherwise(customer, requestCodes)) this.#work.lookAgain(customer);
    });
  }

  /** What is asked for of a customer now: people ask and take back while a run is at work on it. */
  async requests(customer: RecordKey): Promise<ManualRequest[]> {
    return this.#context.read(() => this.#rows.requests.of(customer));
  }

  /** The subjects under which the same was ever asked for of other customers. */
  async subjectsElsewhere(
    customer: RecordKey,
    requests: readonly Pick<RequestName, "of" | "about">[],
  ): Promise<string[]> {
    return this.#context.read(() => {
      const subjects = requests.flatMap((request) =>
        this.#rows.requests.elsewhere(customer, request).map((other) => subjectOf(other, request)),
      );
      return [...new Set(subjects)];
    });
  }

  /** Throws a Problem where another customer's request for the same is not done. */
  async requireFree(customer: RecordKey, requests: readonly RequestName[]): Promise<void> {
    this.#context.readTogether(() => this.#requireFree(customer, requests));
  }

  #requireFree(customer: RecordKey, requests: readonly RequestName[]): void {
    for (const request of requests) requireFree(customer, request, this.#rows.requests.standing(request));
  }

  /**
   * Takes back what a person asked for, with an audit entry. Throws a Problem, in the transaction that would write it,
   * where a call of it may have left or it is done. What is still not as it was asked to be goes on being told of, and
   * so does what else the customer waits for: the next run says it anew.
   */
  async withdraw(customer: RecordKey, names: readonly RequestName[], whose: Whose): Promise<void> {
    await this.#context.write(() => {
      const at = this.#context.now;
      const open = this.#journal.openOf(customer);
      for (const change of withdrawals(customer, names, { asked: this.#rows.requests.of(customer), open }))
        this.#changes.apply(change, at);
      this.#appendRequests("request-withdrawn", customer, names, whose);
      const left = this.#rows.requests.of(customer);
      if (left.every((request) => request.answer === null || standing(request) === "done"))
        this.#work.endDeferral(customer, requestCodes);
      this.#work.lookAgain(customer);
    });
  }

  #appendRequests(
    kind: "request-made" | "request-withdrawn",
    customer: RecordKey,
    requests: readonly RequestName[],
    { by, reason }: Whose,
  ): void {
    for (const subject of new Set(requests.map((request) => subjectOf(customer, request)))) {
      const own = requests.filter((request) => subjectOf(customer, request) === subject);
      this.#context.audit.append({
        at: this.#context.now,
        kind,
        subject,
        body: {
          customer: formatKey(customer),
          requests: own.map(({ of, about, wanted }) => ({ of, about, wanted })),
          by,
          reason,
        },
      });
    }
  }

  /** The customer that an enterprise is linked to. */
  async customerOfEnterprise(enterpriseGlobalId: string): Promise<RecordKey | undefined> {
    return this.#context.read(() => this.#rows.links.customerOfEnterprise(enterpriseGlobalId));
  }

  /** Customers with a link, in key order: those that can be verified. */
  async linkedCustomers(after: RecordKey | undefined, limit: number): Promise<LinkedCustomer[]> {
    return this.#context.read(() => this.#rows.links.customers(after, limit));
  }

  async isStaffLinked(staff: RecordKey): Promise<boolean> {
    return this.#context.read(() => this.#rows.staffLinks.isStaffLinked(staff));
  }

  /** The licence type of each asset number of the orders that are placed for a customer. */
  async licenceTypes(customer: RecordKey): Promise<ReadonlyMap<string, LicenseType>> {
    return this.#context.readTogether(() => this.#known.licenceTypes(customer));
  }

  async fixNumbers(order: RecordKey, wanted: readonly WantedNumbers[]): Promise<FixedNumbers> {
    return await this.#context.write(() => this.#rows.assetNumbers.fixNumbers(order, wanted, this.#context.now));
  }

  async poolSize(): Promise<number> {
    return this.#context.read(() => this.#rows.assetNumbers.poolSize());
  }

  /** Not where what it counts on came to nothing: an E2 whose outcome the ledger cannot hold was not accepted by it. */
  async confirmCorrelation(correlation: string, after?: Sequence): Promise<void> {
    if (this.#confirmed.has(correlation)) return;
    const work = (): void => this.#rows.correlations.confirm(correlation, this.#context.now);
    if (!(await this.correlationConfirmed(correlation))) await this.#context.write(after?.follows(work) ?? work);
    this.#confirmed.add(correlation);
  }

  /** Whether E3 has shown an enterprise that an accepted E2 of this ledger made, under the same templates (A8). */
  async correlationConfirmed(correlation: string): Promise<boolean> {
    return this.#context.read(() => this.#rows.correlations.isConfirmed(correlation));
  }

  /** Whether the platform has ever shown an asset of a licence type to this ledger (A43). */
  async licenceTypeShown(type: string): Promise<boolean> {
    return this.#context.read(() => this.#rows.licenceTypes.isShown(type));
  }

  /** Live assignments of a customer, and of all customers: what a share of a deletion limit is of. */
  async liveAssignments(customer?: RecordKey): Promise<number> {
    return this.#context.read(() => this.#rows.assignments.live(customer));
  }
}
