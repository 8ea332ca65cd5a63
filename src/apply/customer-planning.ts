import { hashOf, toJson } from "../base/canonical-json.ts";
import { Problem } from "../base/errors.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import type { Operation } from "../operation/operation.ts";
import type { StateChange } from "../operation/state.ts";
import type { Block } from "../plan/block.ts";
import type { Observed } from "../plan/input.ts";
import { planCustomer } from "../plan/plan.ts";
import type { CustomerPlan } from "../plan/plan.ts";
import type { SnapshotReader } from "../platform/snapshot.ts";
import { OrderAdoption } from "./adopt-orders.ts";
import { CustomerSnapshot } from "./customer-snapshot.ts";
import type { CustomersAwaited } from "./customer-snapshot.ts";
import type { CustomerState } from "./customer-state.ts";
import type { ApplyDependencies } from "./dependencies.ts";

type PlanningDependencies = Pick<ApplyDependencies, "ledger" | "settings" | "clock" | "settle"> & {
  reader: SnapshotReader;
};

/** What planning a customer came to. */
export type Planning =
  | { kind: "planned"; plan: CustomerPlan }
  /** Looking taught something that stands already: the customer is planned anew with it. */
  | { kind: "recorded"; changes: readonly StateChange[] }
  | ({ kind: "awaits" } & CustomersAwaited);

/** The form of state changes in an audit entry. Entries without one call the profile of staff `particulars`. */
const changesForm = 2;

/**
 * Plans one customer as often as it is asked: reads what the plan depends on and was not read yet, adopts orders that
 * are there, and plans. A run and the plan command go this way alike.
 */
export class CustomerPlanning {
  readonly #deps: PlanningDependencies;
  readonly #knows: CustomerState;
  readonly #snapshot: CustomerSnapshot;
  readonly #adoption: OrderAdoption;
  readonly #options: { signal: AbortSignal | undefined; revokesBlocked: Block | undefined };

  constructor(
    deps: PlanningDependencies,
    knows: CustomerState,
    options: { thorough: boolean; signal: AbortSignal | undefined; revokesBlocked: Block | undefined },
  ) {
    this.#deps = deps;
    this.#knows = knows;
    this.#options = options;
    const snapshot = deps.reader.of(knows.customer, options.signal);
    this.#snapshot = new CustomerSnapshot(deps, snapshot, options);
    this.#adoption = new OrderAdoption(deps, snapshot);
  }

  get observed(): Observed {
    return this.#snapshot.observed;
  }

  /** Forgets what operations of which some did something have made old. */
  forget(operations: readonly Operation[]): void {
    this.#snapshot.forget(operations);
  }

  /** `tried`: subjects of what was carried out since the attempt began. */
  async plan(tried: ReadonlySet<string> = new Set()): Promise<Planning> {
    const awaited = await this.#snapshot.read(this.#knows);
    if (awaited !== undefined) return { kind: "awaits", ...awaited };
    const sought = await this.#adoption.seek(this.#knows);
    if (sought.adopted.length > 0) return { kind: "recorded", changes: sought.adopted };
    this.#snapshot.unclear(sought.unclear);
    const plan = await this.#planNow(tried);
    if (plan.changes.length === 0) return { kind: "planned", plan };
    await this.#requireFreeEnterprise(plan);
    await this.#knows.record(plan.changes, {
      kind: "learned",
      subject: `customer:${formatKey(plan.customer)}`,
      body: { form: changesForm, changes: plan.changes.map(toJson) },
    });
    return { kind: "recorded", changes: plan.changes };
  }

  /** Nothing is taken away that a person rejected to take away, exactly as it stands. */
  async #planNow(tried: ReadonlySet<string>): Promise<CustomerPlan> {
    const { ledger, settings } = this.#deps;
    const { revokesBlocked } = this.#options;
    const input = { ...(this.#knows.held ?? (await this.#knows.loaded())), observed: this.observed };
    const { canSeal } = ledger.private;
    const plan = planCustomer(input, { settings, canSeal, revokesBlocked, tried });
    const { count, setHash } = destructionOf(plan.operations);
    if (!this.#knows.keeps || revokesBlocked !== undefined || count === 0) return plan;
    if (!(await ledger.approvals.isRejected(input.customer, setHash))) return plan;
    return planCustomer(input, { settings, canSeal, revokesBlocked: rejectedByPerson, tried });
  }

  /** Throws a Problem where the enterprise that a customer would be linked with is another customer's. */
  async #requireFreeEnterprise({ customer, changes }: CustomerPlan): Promise<void> {
    for (const change of changes) {
      if (change.type !== "linked") continue;
      const { enterpriseGlobalId } = change.link;
      const owner = await this.#deps.ledger.state.customerOfEnterprise(enterpriseGlobalId);
      if (owner !== undefined && formatKey(owner) !== formatKey(customer))
        throw taken(customer, enterpriseGlobalId, owner);
    }
  }
}

const rejectedByPerson: Block = {
  code: "revokes.rejected",
  reason: "a person rejected taking these assets away",
  again: false,
};

function taken(customer: RecordKey, enterpriseGlobalId: string, owner: RecordKey): Problem {
  return new Problem({
    code: "enterprise.taken",
    message:
      `the enterprise ${enterpriseGlobalId} that the platform shows for ${formatKey(customer)} ` +
      `is linked to ${formatKey(owner)}`,
    cure: "correct the channel customer number of one of the two customers",
  });
}

const nothingDestroyed = { count: 0, setHash: hashOf([]) };

/** The set of revokes of a plan, as one hash: what limits are judged on and what a person approves. */
export function destructionOf(operations: readonly Operation[]): { count: number; setHash: string } {
  const destructive = operations.filter((operation) => operation.takesAway > 0);
  if (destructive.length === 0) return nothingDestroyed;
  return {
    count: destructive.reduce((sum, operation) => sum + operation.takesAway, 0),
    setHash: hashOf(destructive.map((operation) => operation.hash).sort()),
  };
}
