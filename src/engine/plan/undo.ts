import { typeOf, freedBy, handedIn } from "../model/registry.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { DraftOperation, Operation } from "../model/operation.ts";
import type { PrivateMarker } from "../model/references.ts";
import type { OperationName } from "../model/resource.ts";
import type { Need, RecordReference, Stage } from "../model/shape.ts";
import type { Stored } from "../model/stored-operation.ts";
import type { Block } from "./block.ts";
import type { PlanOptions, Prepared, CustomerInput } from "./input.ts";
import { hashOf } from "../../base/canonical-json.ts";
import { formatKey } from "../../crm/keys.ts";
import type { Undone } from "../model/operation-type.ts";
import { compareOperations } from "../model/operation.ts";
import { factsOf } from "./facts.ts";
import type { CustomerPlan } from "./plan.ts";
import { prepare } from "./input.ts";
import { StandingRejections } from "./rejections.ts";

/** An operation that a run carried out. `updatedAt`: when that was known. */
export type DoneOperation<K extends OperationName = OperationName> = Stored<K> & { id: string; updatedAt: string };

/** How an asset was given last: by which operation, and by which it was taken since; null: by none of ours. */
export interface LastGiven {
  givenBy: string | null;
  takenBy: string | null;
  /** It was not taken since. */
  isHeld: boolean;
}

/** What the ledger knows beside what every plan is made from. A resource adds its own by `declare module`. */
export interface UndoFacts {
  /** The operation that was carried out last on each subject. */
  newestOn: ReadonlyMap<string, string>;
  /** Whether the value behind a marker is there still. */
  isKept(marker: PrivateMarker): boolean;
}

/** The records of a stream that operations are about, by key. */
export function recordsIn(rows: readonly DoneOperation[], stream: RecordReference["stream"]): Map<string, RecordKey> {
  const own = rows.flatMap(({ operation }) => operation.records.filter((record) => record.stream === stream));
  return new Map(own.map(({ namespace, id }) => [formatKey({ namespace, id }), { namespace, id }]));
}

/** What taking an operation back comes to now. `lacks`: what it does not bring back. */
export type Undoes =
  | { is: "meant"; meant: DraftOperation[]; lacks?: string | undefined }
  /** The same operations take it back that take back this one. */
  | { is: "with"; of: string }
  | { is: "nothing-left" }
  | { is: "waits"; block: Block }
  | { is: "impossible"; why: string };

/** What the rules look at. */
export interface Undoing {
  run: string;
  given: Prepared;
  /** All that the run carried out for the customer, newest first. */
  rows: readonly DoneOperation[];
  facts: UndoFacts;
  options: PlanOptions;
  /** Asset numbers that the same plan takes from people. */
  freed: ReadonlySet<string>;
  /** The first of the operations that are taken back together under a name. */
  firstOf(name: string, id: string): string;
  /** What is taken from a person by the same plan. */
  revokesOf(staff: RecordReference): Need[];
}

/** Why what a later operation did again is not taken back with an earlier one that did the same. */
export const newerSince: Extract<Undoes, { is: "impossible" }> = {
  is: "impossible",
  why: "something newer was sent since; take that back first",
};

/** Whether another operation was carried out on the same subject since. */
export function isNewest({ id, operation }: DoneOperation, { facts }: Pick<Undoing, "facts">): boolean {
  return (facts.newestOn.get(operation.subject) ?? id) === id;
}

export type UndoRule<K extends OperationName> = (row: DoneOperation<K>, of: Undoing) => Undoes;

/** What no operation takes back. */
export function impossible(kind: OperationName): Extract<Undoes, { is: "impossible" }> {
  const { reversal } = typeOf({ kind });
  return { is: "impossible", why: reversal.how === "impossible" ? reversal.why : "no call takes it back" };
}

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
