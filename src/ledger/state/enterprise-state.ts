import type { JsonObject } from "../../base/canonical-json.ts";
import { formatKey } from "../../crm/keys.ts";
import type { LicenseType, RecordKey } from "../../crm/model.ts";
import type { EnterpriseFacts } from "../../operation/state/part.ts";
import type { Known, StateChange } from "../../operation/state.ts";
import type { ShownOrder } from "../../plan/adoption.ts";
import type { CustomerInput } from "../../plan/input.ts";
import type { ChangeTables } from "./changes.ts";
import type { LedgerContext } from "../context.ts";
import type { KnownTables } from "./known.ts";
import type { FixedNumbers, WantedNumbers } from "./asset-numbers.ts";
import type { RejectionTables } from "../journal/rejections.ts";
import type { StateRows } from "./registry.ts";

/** What is known of each enterprise: links, placed orders, asset numbers, assignments, and what the platform showed. */
export class EnterpriseState {
  readonly #context: LedgerContext;
  readonly #rows: StateRows;
  readonly #changes: ChangeTables;
  readonly #known: KnownTables;
  readonly #rejections: RejectionTables;
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
    this.#rows = tables.rows;
    this.#changes = tables.changes;
    this.#known = tables.known;
    this.#rejections = tables.rejections;
  }

  async load(customer: RecordKey): Promise<Omit<CustomerInput, "observed">> {
    return this.#context.readTogether(() => ({
      ...this.#known.load(customer),
      rejections: this.#rejections.of(customer),
    }));
  }

  async known(customer: RecordKey): Promise<Known> {
    return this.#context.readTogether(() => this.#known.known(customer));
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
      for (const change of changes) this.#changes.apply(change, at);
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

  /** The customer that an enterprise is linked to. */
  async customerOfEnterprise(enterpriseGlobalId: string): Promise<RecordKey | undefined> {
    return this.#context.read(() => this.#rows.links.customerOfEnterprise(enterpriseGlobalId));
  }

  /** Customers with a link, in key order: those that can be verified. */
  async linkedCustomers(after: RecordKey | undefined, limit: number): Promise<RecordKey[]> {
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

  async confirmCorrelation(correlation: string): Promise<void> {
    if (this.#confirmed.has(correlation)) return;
    if (!(await this.correlationConfirmed(correlation)))
      await this.#context.write(() => this.#rows.correlations.confirm(correlation, this.#context.now));
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
