import type { PrivateMarker } from "./model/references.ts";
import { handedIn } from "./model/registry.ts";
import type { Seeking } from "./model/resource.ts";
import type { AssumptionId } from "../contract/assumptions.ts";
import { type AssumptionMet, metByBlocks, metByReading } from "./model/assumptions-met.ts";
import { toJson } from "../base/canonical-json.ts";
import type { StandingHold } from "../ledger/decisions/hold-rows.ts";
import { Problem } from "../base/errors.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import type { StateChange } from "./model/state.ts";
import type { Block } from "./plan/blocks.ts";
import { type PlanOptions, type LoadedCustomer, planInputOf } from "./plan/input.ts";
import { decidedOn, holdablesOf, type Decided } from "./plan/gated.ts";
import type { Holdable } from "./plan/limits.ts";
import { planCustomer, type CustomerPlan } from "./plan/plan.ts";
import type { Snapshot, Snapshots } from "../platform/snapshot.ts";
import { CustomerSnapshot, type CustomersAwaited } from "./observe.ts";
import type { CustomerState, EngineDependencies } from "./customer.ts";
import { planUndo, type UndoStep, type DoneOperation, type UndoFacts } from "./plan/undo.ts";

export type PlanningDependencies = Pick<EngineDependencies, "ledger" | "settings" | "policies" | "clock" | "settle"> &
  Partial<Pick<EngineDependencies, "ordersUnseen">> & { reader: Snapshots };

export type Planning =
  | { kind: "planned"; plan: CustomerPlan; steps?: readonly UndoStep[] }
  | { kind: "recorded"; changes: readonly StateChange[] }
  | ({ kind: "awaits" } & CustomersAwaited);

export interface Planner {
  readonly snapshot: CustomerSnapshot;
  plan(tried?: ReadonlySet<string>): Promise<Planning>;
}

/** The form of state changes in an audit entry. Entries without it call a staff profile `particulars`. */
const changesForm = 2;

export function learned(customer: RecordKey, changes: readonly StateChange[]): LearnedAudit {
  return {
    kind: "learned",
    subject: `customer:${formatKey(customer)}`,
    body: { form: changesForm, changes: changes.map(toJson) },
  };
}

type LearnedAudit = NonNullable<Parameters<CustomerState["record"]>[1]>;

/** Plans one customer as often as asked: reads missing data, adopts existing orders, plans. */
export class CustomerPlanning implements Planner {
  readonly #deps: PlanningDependencies;
  readonly #knows: CustomerState;
  readonly snapshot: CustomerSnapshot;
  readonly #seeking: readonly Seeking[];
  readonly #options: Pick<PlanOptions, "removalsBlocked"> & { signal: AbortSignal | undefined };

  #noted: readonly unknown[] = [];
  #begun: PlanOptions["begun"];
  readonly #contradicted = new Set<AssumptionId>();

  constructor(
    deps: PlanningDependencies,
    knows: CustomerState,
    options: {
      thorough: boolean;
      whole?: boolean;
      signal: AbortSignal | undefined;
      removalsBlocked: Block | undefined;
      seek?: (snapshot: Snapshot) => Seeking;
    },
  ) {
    this.#deps = deps;
    this.#knows = knows;
    this.#options = options;
    const snapshot = deps.reader.of(knows.customer, options.signal);
    const { thorough, whole = false } = options;
    this.snapshot = new CustomerSnapshot(deps, snapshot, { thorough, whole });
    this.#seeking =
      options.seek === undefined
        ? handedIn().resources.flatMap(({ seek }) => seek?.(deps, snapshot, { whole }) ?? [])
        : [options.seek(snapshot)];
  }

  plan(tried: ReadonlySet<string> = new Set()): Promise<Planning> {
    return this.#plan(tried, this.#seeking);
  }

  /** Links the customer and reads all that its enterprise shows. Counts nothing as placed. */
  async look(): Promise<void> {
    if (this.#knows.held.known.link === undefined) await this.#plan(new Set(), []);
    for (const seeking of this.#seeking) await seeking.look(this.#knows);
  }

  async #plan(tried: ReadonlySet<string>, seekings: readonly Seeking[]): Promise<Planning> {
    const { ledger } = this.#deps;
    const knows = this.#knows;
    const awaited = await this.snapshot.read(knows);
    if (awaited !== undefined) return { kind: "awaits", ...awaited };
    for (const seeking of seekings) {
      if (!seeking.isNeeded(knows)) continue;
      const { adopted, unclear, unread } = await seeking.seek(knows);
      if (adopted.length > 0) return { kind: "recorded", changes: adopted };
      this.snapshot.unclear(unclear);
      if (unread !== undefined) this.snapshot.unread("examined", unread);
    }
    const shown = this.#shownAnew();
    if (shown.length > 0) await ledger.assumptions.met(shown);
    let plan = this.#planNow(tried);
    const told = this.#untold(plan);
    if (told.length > 0) await ledger.assumptions.stands(told);
    const { rejected } = knows.held.asked === true ? (await decidedIn(this.#deps, knows, plan, false)).decided : {};
    if (rejected !== undefined && rejected.size > 0) plan = this.#planNow(tried, new Set(rejected.keys()));
    if (plan.changes.length === 0) return { kind: "planned", plan };
    await this.#requireFreeEnterprise(plan);
    await knows.record(plan.changes, learned(plan.customer, plan.changes));
    return { kind: "recorded", changes: plan.changes };
  }

  #planNow(tried: ReadonlySet<string>, rejected?: ReadonlySet<string>): CustomerPlan {
    const { ledger, settings, policies } = this.#deps;
    return planCustomer(
      { ...this.#knows.held, observed: this.snapshot.observed },
      {
        settings,
        policies,
        canSeal: ledger.private.canSeal,
        removalsBlocked: this.#options.removalsBlocked,
        contradicted: ledger.assumptions.contradictions,
        tried,
        rejected,
        begun: (this.#begun ??= this.#knows.held.known),
      },
    );
  }

  /** Evidence about A1–A43 from the plan's blocks, each row once per pass. A dry plan keeps none. */
  #untold(plan: CustomerPlan): AssumptionMet[] {
    if (!this.#knows.keeps || plan.records.every(({ code }) => code === undefined)) return [];
    const untold = metByBlocks(plan).filter(({ row }) => !this.#contradicted.has(row));
    for (const { row } of untold) this.#contradicted.add(row);
    return untold;
  }

  #shownAnew(): AssumptionMet[] {
    const { enterprises, ambiguous, members, assets } = this.snapshot.observed;
    const reading = [enterprises ?? ambiguous, members, assets];
    if (!this.#knows.keeps || reading.every((list, index) => list === this.#noted[index])) return [];
    const together = members !== this.#noted[1] && assets !== this.#noted[2];
    this.#noted = reading;
    return metByReading(this.snapshot.observed, together);
  }

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

/** What may be held in this plan, and what people decided on it. */
export async function decidedIn(
  { ledger, policies }: Pick<EngineDependencies, "ledger" | "policies">,
  knows: CustomerState,
  { customer, operations }: Pick<CustomerPlan, "customer" | "operations">,
  ofUndo: boolean,
): Promise<{ holdables: Holdable[]; decided: Decided<StandingHold> }> {
  const { held } = knows;
  if (held.asked === true) await knows.settled();
  const holds = held.asked === true ? await ledger.decisions.standing({ customer, ofUndo }) : [];
  const holdables = holdablesOf(policies, held, operations, holds);
  return { holdables, decided: decidedOn(holds, holdables) };
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

/** Plans the undo of a run for one customer. It reads the platform and adopts nothing. */
export class UndoPlanning implements Planner {
  readonly #deps: PlanningDependencies;
  readonly #knows: CustomerState;
  readonly snapshot: CustomerSnapshot;
  readonly #options: { run: string; removalsBlocked: Block | undefined };
  #rows: readonly DoneOperation[] | undefined;
  #contents: ReadonlySet<string> | "all" | undefined;

  constructor(
    deps: PlanningDependencies,
    knows: CustomerState,
    options: { run: string; signal: AbortSignal | undefined; removalsBlocked: Block | undefined },
  ) {
    this.#deps = deps;
    this.#knows = knows;
    this.#options = options;
    const snapshot = deps.reader.of(knows.customer, options.signal);
    const contents = () => this.#contents;
    this.snapshot = new CustomerSnapshot(deps, snapshot, { thorough: true, whole: true, contents });
  }

  async plan(): Promise<Planning> {
    const { ledger, settings, policies } = this.#deps;
    const { run, removalsBlocked } = this.#options;
    const rows = await this.#done();
    const loaded = this.#knows.held;
    const facts = await this.#factsOf(loaded, rows);
    const unread = { enterprises: undefined, members: undefined, assets: undefined };
    const of = { given: planInputOf({ ...loaded, observed: unread }, settings), rows, facts, run };
    const { resources } = handedIn();
    this.#contents = resources.map(({ undoGiven }) => undoGiven?.contents?.(of)).find((one) => one !== undefined);
    const awaited = await this.snapshot.read(this.#knows);
    if (awaited !== undefined) return { kind: "awaits", ...awaited };
    let input = { ...loaded, observed: this.snapshot.observed };
    for (const { undoGiven } of resources) input = { ...input, ...undoGiven?.instead?.(loaded, facts) };
    const contradicted = ledger.assumptions.contradictions;
    const options = { settings, policies, canSeal: ledger.private.canSeal, removalsBlocked, contradicted };
    let made = planUndo(input, { run, rows, facts }, options);
    const { rejected } = (await decidedIn(this.#deps, this.#knows, made.plan, true)).decided;
    if (rejected.size > 0)
      made = planUndo(input, { run, rows, facts }, { ...options, rejected: new Set(rejected.keys()) });
    return { kind: "planned", ...made };
  }

  async #done(): Promise<readonly DoneOperation[]> {
    const own = formatKey(this.#knows.customer);
    this.#rows ??= (await this.#deps.ledger.journal.doneOf(this.#options.run)).filter(
      ({ operation }) => formatKey(operation.customer) === own,
    );
    return this.#rows;
  }

  async #factsOf({ customer }: LoadedCustomer, rows: readonly DoneOperation[]): Promise<UndoFacts> {
    const { ledger } = this.#deps;
    const newestOn = new Map<string, string>();
    for (const subject of new Set(rows.map(({ operation }) => operation.subject))) {
      const newest = await ledger.journal.newestOn(subject, ["done"]);
      if (newest !== undefined) newestOn.set(subject, newest.id);
    }
    const { valueOf } = ledger.private.reader();
    const isKept = (marker: PrivateMarker): boolean => valueOf(marker) !== undefined;
    return { ...(await handedIn().undoFacts(ledger, customer, rows)), newestOn, isKept };
  }
}
