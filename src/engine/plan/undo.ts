import { isSameRecord } from "../model/state.ts";
import { typeOf, freedBy, handedIn } from "../model/registry.ts";
import type { RecordKey } from "../../crm/model.ts";
import { type DraftOperation, type Operation, type Stored, compareOperations } from "../model/operation.ts";
import type { PrivateMarker } from "../model/references.ts";
import type { OperationName, Need, RecordReference, Stage } from "../model/resource.ts";
import type { Block } from "./blocks.ts";
import { type PlanOptions, type PlanInput, type CustomerInput, planInputOf } from "./input.ts";
import { hashOf } from "../../base/canonical-json.ts";
import { formatKey } from "../../crm/keys.ts";
import type { Undone } from "../model/operation-type.ts";
import { factsOf } from "./facts.ts";
import type { CustomerPlan } from "./plan.ts";
import { StandingRejections } from "./rejections.ts";

export type DoneOperation<K extends OperationName = OperationName> = Stored<K> & { id: string; updatedAt: string };

/** The last assignment of an asset, and the operation that ended it. Null: not one of ours. */
export interface LastGiven {
  givenBy: string | null;
  takenBy: string | null;
  isHeld: boolean;
}

export interface UndoFacts {
  newestOn: ReadonlyMap<string, string>;
  isKept(marker: PrivateMarker): boolean;
}

export function recordsIn(rows: readonly DoneOperation[], stream: RecordReference["stream"]): Map<string, RecordKey> {
  const own = rows.flatMap(({ operation }) => operation.records.filter((record) => record.stream === stream));
  return new Map(own.map(({ namespace, id }) => [formatKey({ namespace, id }), { namespace, id }]));
}

/** `lacks`: the part that is not restored. */
export type Undoes =
  | { is: "meant"; meant: DraftOperation[]; lacks?: string | undefined }
  | { is: "with"; of: string }
  | { is: "nothing-left" }
  | { is: "waits"; block: Block }
  | { is: "impossible"; why: string };

export interface Undoing {
  run: string;
  given: PlanInput;
  rows: readonly DoneOperation[];
  facts: UndoFacts;
  options: PlanOptions;
  freed: ReadonlySet<string>;
  firstOf(name: string, id: string): string;
  revokesOf(staff: RecordReference): Need[];
}

/** An operation cannot be undone while a newer one about the same subject exists. */
export const newerSince: Extract<Undoes, { is: "impossible" }> = {
  is: "impossible",
  why: "something newer was sent since; take that back first",
};

export function isNewest({ id, operation }: DoneOperation, { facts }: Pick<Undoing, "facts">): boolean {
  return (facts.newestOn.get(operation.subject) ?? id) === id;
}

export type UndoRule<K extends OperationName> = (row: DoneOperation<K>, of: Undoing) => Undoes;

export function impossible(kind: OperationName): Extract<Undoes, { is: "impossible" }> {
  const { reversal } = typeOf({ kind });
  return { is: "impossible", why: reversal.how === "impossible" ? reversal.why : "no call takes it back" };
}

export interface UndoStep {
  operation: string;
  endpoint: string;
  subject: string;
  how: Undone["how"];
  difference: string | undefined;
  /** Empty if `waits` or `note` gives the reason. */
  operations: readonly Operation[];
  note: string | undefined;
  waits: string | undefined;
}

/** Grants first, then purchases and removals, then the rest. Earlier passes decide which assets are free. */
const passes: Partial<Record<Stage, number>> = { grants: 0, orders: 1, removals: 1 };

function passOf({ operation }: DoneOperation): number {
  return passes[typeOf(operation).stages[0]] ?? 2;
}

/** From current state: a change that no longer exists needs nothing, so an undo can be repeated for the rest. */
export function planUndo(
  input: CustomerInput,
  { run, rows, facts }: Pick<Undoing, "run" | "rows" | "facts">,
  options: PlanOptions,
): { plan: CustomerPlan; steps: UndoStep[] } {
  const given = planInputOf(input, options.settings);
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
        .filter(
          (operation) => operation.stage === "revokes" && operation.records.some((one) => isSameRecord(one, staff)),
        )
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
  const difference = [usual, lacks].filter((text) => text !== undefined).join("; ") || undefined;
  const left = undoes.is === "nothing-left" ? "it has no change left to undo" : undefined;
  return {
    ...step,
    how: difference === undefined ? "exact" : "approximate",
    difference,
    note: undoes.is === "with" ? `together with ${undoes.of}` : left,
    waits: undoes.is === "waits" ? undoes.block.reason : refused?.reason,
  };
}

/** Facts of all orders that the run changed, waiting or not, and of no other orders. */
function undoneFacts(input: CustomerInput, { orders }: UndoFacts): CustomerPlan["facts"] {
  const others = Object.entries(factsOf(input)).filter(([name]) => !name.startsWith("order "));
  const own = [...orders].flatMap(([key, { now }]): [string, string][] =>
    now === undefined ? [] : [[`order ${key}`, hashOf([now.bodyHash, now.state])]],
  );
  return Object.fromEntries([...others, ...own]);
}
