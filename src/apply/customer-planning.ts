import type { AssumptionId } from "../contract/assumptions/row.ts";
import type { AssumptionMet } from "../engine/assumptions-met.ts";
import { toJson } from "../base/canonical-json.ts";
import { Problem } from "../base/errors.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import type { Operation } from "../engine/operation.ts";
import type { StateChange } from "../engine/state.ts";
import type { Block } from "../engine/plan/block.ts";
import type { Observed } from "../engine/plan/input.ts";
import type { PlanOptions } from "../engine/plan/options.ts";
import type { RepairSettings } from "../engine/plan/drift.ts";
import { decidedOn } from "../engine/plan/decided.ts";
import { Gated } from "../engine/plan/gated.ts";
import { metByBlocks, metByReading } from "../engine/plan/met-by-reading.ts";
import { planCustomer } from "../engine/plan/plan.ts";
import type { CustomerPlan } from "../engine/plan/plan.ts";
import type { Snapshots } from "../platform/snapshot.ts";
import { OrderAdoption } from "./adopt-orders.ts";
import type { RebuildOrders } from "./adopt-orders.ts";
import { CustomerSnapshot } from "./customer-snapshot.ts";
import type { CustomersAwaited } from "./customer-snapshot.ts";
import type { CustomerState } from "./customer-state.ts";
import type { ApplyDependencies } from "./dependencies.ts";

export type PlanningDependencies = Pick<ApplyDependencies, "ledger" | "settings" | "policies" | "clock" | "settle"> &
  // A ledger that is built anew was told of no difference, and repairs none.
  Partial<Pick<ApplyDependencies, "ordersUnseen">> & { reader: Snapshots };

/** What planning a customer came to. */
export type Planning =
  | { kind: "planned"; plan: CustomerPlan }
  /** Looking taught something that stands already: the customer is planned anew with it. */
  | { kind: "recorded"; changes: readonly StateChange[] }
  | ({ kind: "awaits" } & CustomersAwaited);

/** What an attempt at a customer is planned by, as often as it asks. */
export interface Planner {
  readonly observed: Observed;
  /** When M7 is to be read again, where it left out something that is to go and that does not count as gone yet. */
  readonly absenceAgain: string | undefined;
  /** Forgets what operations of which some did something have made old. */
  forget(operations: readonly Operation[]): void;
  /** The seats of the customer are read for the next plan. False if they were read already, or cannot be. */
  readsPeople(): boolean;
  /** `tried`: subjects of what was carried out since the attempt began. */
  plan(tried?: ReadonlySet<string>): Promise<Planning>;
}

/** The form of state changes in an audit entry. Entries without one call the profile of staff `particulars`. */
const changesForm = 2;

/** The audit entry of what a plan, or how it was judged, teaches of a customer. */
export function learned(customer: RecordKey, changes: readonly StateChange[]): LearnedAudit {
  return {
    kind: "learned",
    subject: `customer:${formatKey(customer)}`,
    body: { form: changesForm, changes: changes.map(toJson) },
  };
}

type LearnedAudit = NonNullable<Parameters<CustomerState["record"]>[1]>;

/**
 * Plans one customer as often as it is asked: reads what the plan depends on and was not read yet, adopts orders that
 * are there, and plans. A run and the plan command go this way alike.
 */
export class CustomerPlanning implements Planner {
  readonly #deps: PlanningDependencies;
  readonly #knows: CustomerState;
  readonly #snapshot: CustomerSnapshot;
  readonly #adoption: OrderAdoption;
  readonly #options: Pick<PlanOptions, "takingBlocked"> & { signal: AbortSignal | undefined };

  readonly #repairs: RepairSettings;
  #noted: readonly unknown[] = [];
  readonly #contradicted = new Set<AssumptionId>();

  constructor(
    deps: PlanningDependencies,
    knows: CustomerState,
    options: {
      thorough: boolean;
      /** Nothing is planned where a reading gave nothing: what that threw is thrown. */
      whole?: boolean;
      signal: AbortSignal | undefined;
      takingBlocked: Block | undefined;
      /** The ledger is built anew: orders are taken over with their numbers and amendments. */
      rebuild?: RebuildOrders;
    },
  ) {
    this.#deps = deps;
    this.#knows = knows;
    this.#options = options;
    const snapshot = deps.reader.of(knows.customer, options.signal);
    this.#repairs = { settleMs: deps.settle.timeMs };
    const { thorough, whole = false } = options;
    this.#snapshot = new CustomerSnapshot({ ...deps, repairs: this.#repairs }, snapshot, { thorough, whole });
    this.#adoption = new OrderAdoption(deps, snapshot, options);
  }

  get observed(): Observed {
    return this.#snapshot.observed;
  }

  get absenceAgain(): string | undefined {
    return this.#snapshot.absenceAgain;
  }

  forget(operations: readonly Operation[]): void {
    this.#snapshot.forget(operations);
  }

  readsPeople(): boolean {
    return this.#snapshot.readsPeople();
  }

  async plan(tried: ReadonlySet<string> = new Set()): Promise<Planning> {
    const awaited = await this.#snapshot.read(this.#knows);
    if (awaited !== undefined) return { kind: "awaits", ...awaited };
    const sought = await this.#adoption.seek(this.#knows);
    if (sought.adopted.length > 0) return { kind: "recorded", changes: sought.adopted };
    this.#snapshot.unclear(sought.unclear);
    if (sought.unread !== undefined) this.#snapshot.unread("examined", sought.unread);
    const plan = await this.#planNow(tried);
    if (plan.changes.length === 0) return { kind: "planned", plan };
    await this.#learn(plan);
    return { kind: "recorded", changes: plan.changes };
  }

  /** Links the customer as its plan would, and reads all that its enterprise shows; nothing counts as placed then. */
  async look(): Promise<void> {
    const { link } = await this.#knows.known();
    if (link === undefined) {
      await this.#snapshot.read(this.#knows);
      await this.#learn(await this.#planNow(new Set()));
    }
    await this.#adoption.look(this.#knows);
  }

  async #learn(plan: CustomerPlan): Promise<void> {
    if (plan.changes.length === 0) return;
    await this.#requireFreeEnterprise(plan);
    await this.#knows.record(plan.changes, learned(plan.customer, plan.changes));
  }

  /** Nothing is done that a person rejected, exactly as it stands. */
  async #planNow(tried: ReadonlySet<string>): Promise<CustomerPlan> {
    const { ledger, settings, policies } = this.#deps;
    await this.#takeNote();
    const input = { ...(this.#knows.held ?? (await this.#knows.loaded())), observed: this.observed };
    const { canSeal } = ledger.private;
    const { takingBlocked } = this.#options;
    const contradicted = ledger.assumptions.contradictions;
    const repairs = this.#repairs;
    const options = { settings, policies, canSeal, takingBlocked, contradicted, repairs, tried };
    const plan = planCustomer(input, options);
    if (this.#knows.keeps) await this.#told(metByBlocks(plan));
    const rejected = await rejectedOf(ledger, new Gated(policies, input), plan, false);
    return rejected.size === 0 ? plan : planCustomer(input, { ...options, rejected });
  }

  /** What stops the plan's records shows of the rows of A1–A43, each once in an attempt. */
  async #told(met: readonly AssumptionMet[]): Promise<void> {
    const untold = met.filter(({ row }) => !this.#contradicted.has(row));
    for (const { row } of untold) this.#contradicted.add(row);
    await this.#deps.ledger.assumptions.stands(untold);
  }

  /** What each reading shows of the rows of A1–A43, once; a plan keeps nothing. */
  async #takeNote(): Promise<void> {
    const { enterprises, ambiguous, members, assets } = this.observed;
    const reading = [enterprises ?? ambiguous, members, assets];
    if (!this.#knows.keeps || reading.every((list, index) => list === this.#noted[index])) return;
    const together = members !== this.#noted[1] && assets !== this.#noted[2];
    this.#noted = reading;
    await this.#deps.ledger.assumptions.met(metByReading(this.observed, together));
  }

  /** Throws a Problem where the enterprise that a customer would be linked with is another customer's. */
  async #requireFreeEnterprise({ customer, changes }: CustomerPlan): Promise<void> {
    for (const change of changes) {
      if (change.type !== "linked") continue;
      const { enterpriseGlobalId } = change.link;
      const owner = await this.#deps.ledger.state.read((rows) =>
        rows.enterprise.links.customerOfEnterprise(enterpriseGlobalId),
      );
      if (owner !== undefined && formatKey(owner) !== formatKey(customer))
        throw taken(customer, enterpriseGlobalId, owner);
    }
  }
}

/** What a person rejected of a plan, by hash: exactly that, of runs or of what takes a run back. */
export async function rejectedOf(
  { decisions }: Pick<PlanningDependencies["ledger"], "decisions">,
  gated: Gated,
  { operations, customer }: CustomerPlan,
  ofUndo: boolean,
): Promise<ReadonlySet<string>> {
  const takings = gated.takings(operations);
  if (takings.length === 0) return new Set();
  return new Set(decidedOn(await decisions.standing({ customer, ofUndo }), takings).rejected.keys());
}

function taken(customer: RecordKey, enterpriseGlobalId: string, owner: RecordKey): Problem {
  return new Problem({
    code: "enterprise.taken",
    message:
      `the platform shows the enterprise ${enterpriseGlobalId} for ${formatKey(customer)}, but it is linked to ` +
      formatKey(owner),
    cure: "two customers have the same channel customer number: correct one of them in the CRM",
  });
}
