import type { RecordKey } from "../crm/model.ts";
import type { ApplyDependencies } from "../apply/dependencies.ts";
import type { Observer } from "../apply/observe.ts";
import { correlationFor } from "../apply/prepare.ts";
import type { CustomerInput, Observed } from "../plan/input.ts";
import { customerNumbers } from "../plan/order-records.ts";
import type { Stage } from "../plan/operation.ts";
import { needsOf } from "../plan/plan.ts";

/** What was read from the platform for one customer in this pass, and what has to be read again after a stage did something. */
export class CustomerLook {
  readonly #deps: ApplyDependencies & { observer: Observer };
  readonly #customer: RecordKey;
  readonly #thorough: boolean;
  readonly #signal: AbortSignal | undefined;
  #observed: Observed = { enterprises: undefined, members: undefined, assets: undefined };

  constructor(
    deps: ApplyDependencies & { observer: Observer },
    customer: RecordKey,
    options: { thorough: boolean; signal: AbortSignal | undefined },
  ) {
    this.#deps = deps;
    this.#customer = customer;
    this.#thorough = options.thorough;
    this.#signal = options.signal;
  }

  get observed(): Observed {
    return this.#observed;
  }

  /** Reads what the customer's plan depends on and was not read yet. What E3 shows of a linked enterprise becomes known by it. */
  async read(loaded: Omit<CustomerInput, "observed">): Promise<void> {
    const { observer, ledger, settings } = this.#deps;
    const needs = needsOf(loaded, this.#thorough);
    const { link } = loaded.known;
    if (needs.enterprises && settings.channelCode !== undefined) {
      const { channelCustomerId } = customerNumbers(
        this.#customer,
        loaded.desiredCustomer?.body.channelCustomerId,
        settings,
      );
      this.#observed.enterprises ??= await observer.enterprises(this.#customer, channelCustomerId, this.#signal);
    }
    if (link !== undefined && loaded.known.platformCustomers.length === 0) {
      await this.#lookUpCustomers(link.enterpriseGlobalId, link.channelCustomerId, link.origin);
      Object.assign(loaded.known, await ledger.known(this.#customer));
    }
    if (needs.staff && link !== undefined) {
      this.#observed.members ??= await observer.members(this.#customer, link.enterpriseGlobalId, this.#signal);
      this.#observed.assets ??= await observer.assets(this.#customer, link.enterpriseGlobalId, this.#signal);
    }
  }

  /** Forgets what a stage that did something has made old. */
  forget(stage: Stage): void {
    if (stage === "enterprise") this.#observed.enterprises = undefined;
    if (stage === "staff") this.#observed.members = undefined;
    if (stage === "orders" || stage === "revokes" || stage === "grants") this.#observed.assets = undefined;
  }

  /** E3 after E2: the customers of the enterprise. What it shows of an enterprise we made confirms the correlation (A8). */
  async #lookUpCustomers(enterpriseGlobalId: string, channelCustomerId: string, origin: string): Promise<void> {
    const { observer, ledger, settings } = this.#deps;
    const found = await observer.enterprises(this.#customer, channelCustomerId, this.#signal);
    const ours = found.find((item) => item.enterpriseGlobalId === enterpriseGlobalId);
    if (ours === undefined) return;
    await ledger.learn(this.#customer, [{ type: "platform-customers", enterpriseGlobalId, customers: ours.customers }]);
    if (origin !== "created") return;
    await ledger.confirmCorrelation(correlationFor(settings, this.#customer, channelCustomerId));
  }
}
