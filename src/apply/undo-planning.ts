import type { UndoneOrder } from "../resources/order/model.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import type { Operation } from "../engine/operation.ts";
import type { RecordReference } from "../engine/shape.ts";
import type { Block } from "../engine/plan/block.ts";
import { Gated } from "../engine/plan/gated.ts";
import type { LoadedCustomer, Observed } from "../engine/plan/input.ts";
import { planUndo } from "../engine/plan/undo.ts";
import type { UndoStep } from "../engine/plan/undo.ts";
import type { DoneOperation, LastGiven, UndoFacts } from "../engine/plan/undoing.ts";
import { boughtByRun, standingsOfUndone } from "../resources/order/undo.ts";
import { prepare } from "../engine/plan/prepared.ts";
import { rejectedOf } from "./customer-planning.ts";
import type { Planner, Planning, PlanningDependencies } from "./customer-planning.ts";
import { CustomerSnapshot } from "./customer-snapshot.ts";
import type { CustomerState } from "./customer-state.ts";

/**
 * Plans what takes a run back for one customer, in the place of what the CRM wants. It reads the platform as every plan
 * does and adopts nothing.
 */
export class UndoPlanning implements Planner {
  readonly #deps: PlanningDependencies;
  readonly #knows: CustomerState;
  readonly #snapshot: CustomerSnapshot;
  readonly #options: { run: string; takingBlocked: Block | undefined };
  #rows: readonly DoneOperation[] | undefined;
  #contents: ReadonlySet<string> | "all" | undefined;
  #steps: UndoStep[] = [];

  constructor(
    deps: PlanningDependencies,
    knows: CustomerState,
    options: { run: string; signal: AbortSignal | undefined; takingBlocked: Block | undefined },
  ) {
    this.#deps = deps;
    this.#knows = knows;
    this.#options = options;
    const snapshot = deps.reader.of(knows.customer, options.signal);
    const contents = () => this.#contents;
    this.#snapshot = new CustomerSnapshot(deps, snapshot, { thorough: true, whole: true, contents });
  }

  get observed(): Observed {
    return this.#snapshot.observed;
  }

  get absenceAgain(): string | undefined {
    return this.#snapshot.absenceAgain;
  }

  /** What became of each operation of the run in the last plan, newest first. */
  get steps(): readonly UndoStep[] {
    return this.#steps;
  }

  forget(operations: readonly Operation[]): void {
    this.#snapshot.forget(operations);
  }

  readsPeople(): boolean {
    return false;
  }

  async plan(): Promise<Planning> {
    const { ledger, settings, policies } = this.#deps;
    const { run, takingBlocked } = this.#options;
    const rows = await this.#done();
    const loaded = this.#knows.held ?? (await this.#knows.loaded());
    const facts = await this.#factsOf(loaded, rows);
    const unread = { enterprises: undefined, members: undefined, assets: undefined };
    this.#contents = contentsOf({ given: prepare({ ...loaded, observed: unread }, settings), rows, facts, run });
    const awaited = await this.#snapshot.read(this.#knows);
    if (awaited !== undefined) return { kind: "awaits", ...awaited };
    const standings = standingsOfUndone(loaded.standings, facts);
    const input = { ...loaded, standings, observed: this.observed };
    const contradicted = ledger.assumptions.contradictions;
    const options = { settings, policies, canSeal: ledger.private.canSeal, takingBlocked, contradicted };
    let made = planUndo(input, { run, rows, facts }, options);
    const rejected = await rejectedOf(ledger, new Gated(policies, input), made.plan, true);
    if (rejected.size > 0) made = planUndo(input, { run, rows, facts }, { ...options, rejected });
    this.#steps = made.steps;
    return { kind: "planned", plan: made.plan };
  }

  async #done(): Promise<readonly DoneOperation[]> {
    const own = formatKey(this.#knows.customer);
    this.#rows ??= (await this.#deps.ledger.journal.doneOf(this.#options.run)).filter(
      ({ operation }) => formatKey(operation.customer) === own,
    );
    return this.#rows;
  }

  async #factsOf({ customer }: LoadedCustomer, rows: readonly DoneOperation[]): Promise<UndoFacts> {
    const { state, records, journal, private: values } = this.#deps.ledger;
    const named = rows.flatMap(({ operation }) => operation.records);
    const orders = new Map<string, UndoneOrder>();
    for (const [key, order] of keysOf(named, "orders")) {
      const history = await state.readTogether((rows) => rows.order.history(customer, order));
      orders.set(key, { history, now: await records.orderNow(order) });
    }
    const staffForms = new Map<string, Awaited<ReturnType<typeof state.staffForms>>>();
    const linkedSince = new Map<string, string>();
    for (const [key, staff] of keysOf(named, "staff")) {
      staffForms.set(key, await state.staffForms(staff));
      const link = await state.read((rows) => rows.staff.accountOf(staff));
      if (link !== undefined) linkedSince.set(key, link.since);
    }
    const lastGiven = new Map<string, LastGiven>();
    for (const number of rows.flatMap(numbersIn)) {
      const last = await state.read((rows) => rows.assignment.lastChange(number));
      if (last !== undefined) lastGiven.set(number, last);
    }
    const newestOn = new Map<string, string>();
    for (const subject of new Set(rows.map(({ operation }) => operation.subject))) {
      const newest = await journal.newestOn(subject, ["done"]);
      if (newest !== undefined) newestOn.set(subject, newest.id);
    }
    const valueOf = values.reader();
    return {
      orders,
      customerForms: await state.customerForms(customer),
      staffForms,
      linkedSince,
      lastGiven,
      newestOn,
      isKept: (marker) => valueOf(marker) !== undefined,
    };
  }
}

function keysOf(
  records: readonly RecordReference[],
  stream: RecordReference["stream"],
): ReadonlyMap<string, RecordKey> {
  const own = records.filter((record) => record.stream === stream);
  return new Map(own.map(({ namespace, id }) => [formatKey({ namespace, id }), { namespace, id }]));
}

/** The asset numbers that an operation gave or took. */
function numbersIn({ context }: DoneOperation): readonly string[] {
  return context !== undefined && "addAssets" in context ? [...context.addAssets, ...context.deleteAssets] : [];
}

/** The asset numbers whose contents decide what is deleted of what the run bought. */
function contentsOf(of: Parameters<typeof boughtByRun>[0]): ReadonlySet<string> | "all" | undefined {
  const parts = boughtByRun(of).flatMap((ending) => ending.parts);
  if (parts.length === 0) return undefined;
  const numbers = new Set<string>();
  for (const { unit } of parts) {
    if (unit.number === undefined) return "all";
    numbers.add(unit.number);
  }
  return numbers;
}
