import { hashOf } from "../../base/canonical-json.ts";
import { formatKey } from "../../crm/keys.ts";
import type { Undone } from "../operation-type.ts";
import { compareOperations } from "../operation.ts";
import type { Operation } from "../operation.ts";
import { freedBy, handedIn, typeOf } from "../registry.ts";
import type { OperationName } from "../resource.ts";
import type { RecordReference, Stage } from "../shape.ts";
import type { Block } from "./block.ts";
import { factsOf } from "./facts.ts";
import type { CustomerInput } from "./input.ts";
import type { PlanOptions } from "./options.ts";
import type { CustomerPlan } from "./plan.ts";
import { prepare } from "./prepared.ts";
import { StandingRejections } from "./rejections.ts";
import { impossible } from "./undoing.ts";
import type { DoneOperation, UndoFacts, Undoes, Undoing } from "./undoing.ts";

/** One step of taking a run back, as people see it. */
export interface UndoStep {
  operation: string;
  endpoint: string;
  subject: string;
  how: Undone["how"];
  /** What it does not bring back, or why nothing does. */
  difference: string | undefined;
  /** What is sent for it now; none where `waits` or `note` says why. */
  operations: readonly Operation[];
  /** The step whose operations take this one back too, or that nothing is left of it. */
  note: string | undefined;
  /** Why it is not taken back now although it could be. */
  waits: string | undefined;
}

/** What is taken first decides what is free: what was given, then what was bought or deleted, then everything else. */
const passes: Partial<Record<Stage, number>> = { grants: 0, orders: 1, removals: 1 };

function passOf({ operation }: DoneOperation): number {
  return passes[typeOf(operation).stages[0]] ?? 2;
}

/**
 * Plans what takes back what a run did for one customer, from how it stands now: each operation by a call that sets it
 * back, or marked as impossible. What stands as before needs nothing, so a plan that was applied in part is made anew
 * for the rest. Limits, policies and rejections rule as for every other plan.
 */
export function planUndo(
  input: CustomerInput,
  { run, rows, facts }: Pick<Undoing, "run" | "rows" | "facts">,
  options: PlanOptions,
): { plan: CustomerPlan; steps: UndoStep[] } {
  const given = prepare(input, options.settings);
  const rejections = new StandingRejections(input.rejections, options);
  const firsts = new Map<string, string>();
  const taken: Operation[] = [];
  const freed = new Set<string>();
  const of: Undoing = {
    run,
    given,
    rows,
    facts,
    options,
    freed,
    firstOf: (name, id) => firsts.get(name) ?? (firsts.set(name, id), id),
    revokesOf: (staff) =>
      taken
        .filter((operation) => operation.stage === "revokes" && operation.records.some((one) => isSame(one, staff)))
        .map(({ stage, subject }) => ({ stage, subject })),
  };
  const steps = new Map<string, UndoStep>();
  for (const row of rows.toSorted((one, other) => passOf(one) - passOf(other))) {
    const undoes = given.known.link === undefined ? unlinked : undoneBy(row.operation.kind, row, of);
    const made = undoes.is === "meant" ? rejections.operations(undoes.meant) : undefined;
    const operations = made?.operations ?? [];
    taken.push(...operations);
    for (const number of operations.flatMap(freedBy)) freed.add(number);
    const refused = made?.refused[0]?.[1];
    steps.set(row.id, stepOf(row, undoes, { operations, refused }));
  }
  const operations = taken.toSorted(compareOperations);
  const plan: CustomerPlan = {
    customer: input.customer,
    operations,
    records: [],
    changes: [],
    waits: true,
    get facts() {
      return undoneFacts(input, facts);
    },
  };
  return { plan, steps: rows.flatMap(({ id }) => steps.get(id) ?? []) };
}

const unlinked: Undoes = { is: "impossible", why: "the customer is linked with no enterprise any more" };

function undoneBy<K extends OperationName>(kind: K, row: DoneOperation<K>, of: Undoing): Undoes {
  return handedIn().undo[kind]?.(row, of) ?? impossible(kind);
}

function isSame(one: RecordReference, other: RecordReference): boolean {
  return one.stream === other.stream && formatKey(one) === formatKey(other);
}

function stepOf(
  { id, operation }: DoneOperation,
  undoes: Undoes,
  { operations, refused }: { operations: readonly Operation[]; refused: Block | undefined },
): UndoStep {
  const { endpoint, subject } = operation;
  const step = { operation: id, endpoint, subject, operations, note: undefined, waits: undefined };
  if (undoes.is === "impossible") return { ...step, how: "impossible", difference: undoes.why };
  const { reversal } = typeOf(operation);
  const usual = reversal.how === "approximate" ? reversal.difference : undefined;
  const lacks = undoes.is === "meant" ? undoes.lacks : undefined;
  const difference = [usual, lacks].filter((text) => text !== undefined).join("; ");
  const how = difference === "" ? ("exact" as const) : ("approximate" as const);
  return {
    ...step,
    how,
    difference: difference === "" ? undefined : difference,
    note:
      undoes.is === "with"
        ? `together with ${undoes.of}`
        : undoes.is === "nothing-left"
          ? "it has no change left to undo"
          : undefined,
    waits: undoes.is === "waits" ? undoes.block.reason : refused?.reason,
  };
}

/**
 * What the plan was made from: as of every plan, but of orders those that the run did something of, and all of those,
 * whether they wait to be planned or not.
 */
function undoneFacts(input: CustomerInput, { orders }: UndoFacts): CustomerPlan["facts"] {
  const others = Object.entries(factsOf(input)).filter(([name]) => !name.startsWith("order "));
  const own = [...orders].flatMap(([key, { now }]): [string, string][] =>
    now === undefined ? [] : [[`order ${key}`, hashOf([now.bodyHash, now.state])]],
  );
  return Object.fromEntries([...others, ...own]);
}
