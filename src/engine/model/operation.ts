import { hashOf, isJsonObject, type Json } from "../../base/canonical-json.ts";
import type { RecordKey } from "../../crm/model.ts";
import { typeOf } from "./registry.ts";
import {
  type OperationName,
  type OperationShapes,
  type Change,
  type Draft,
  type Stage,
  type RecordReference,
  type Shapes,
  stages,
  fits,
} from "./resource.ts";
import type { JournalEntry, LookFor } from "./operation-type.ts";

export type Operation<K extends OperationName = OperationName> = { [P in K]: Change<P, OperationShapes[P]> }[K];

/** The result of a planning rule. The operation's type supplies the other members. */
export type DraftOperation<K extends OperationName = OperationName> = {
  [P in K]: { kind: P } & Draft<OperationShapes[P]>;
}[K];

export function firstStage(operations: readonly Operation[]): Operation[] {
  const first = stages.find((stage) => operations.some((operation) => operation.stage === stage));
  return operations.filter((operation) => operation.stage === first);
}

export function compareOperations(left: Operation, right: Operation): number {
  const byStage = stages.indexOf(left.stage) - stages.indexOf(right.stage);
  if (byStage !== 0) return byStage;
  return left.subject < right.subject ? -1 : left.subject > right.subject ? 1 : 0;
}

export function operationHash({
  kind,
  customer: { namespace, id },
  subject,
  target,
  payload,
  before,
}: Record<"target" | "payload" | "before", Json> & { kind: string; subject: string; customer: RecordKey }): string {
  return hashOf({ kind, customer: [namespace, id], subject, target, payload, before });
}

/** Adds endpoint, stage and hash. The hash does not cover the words of the reason. */
export function operation<K extends OperationName>(kind: K, fields: Draft<OperationShapes[K]>): Operation<K> {
  const { endpoint, stages, can } = typeOf({ kind });
  const { customer, subject, target, payload, before } = fields;
  const hash = operationHash({ kind, customer, subject, target, payload, before });
  return {
    takesAway: can.removes?.count(fields) ?? 0,
    weight: noWeight,
    needs: [],
    ...fields,
    policy: fields.policy ?? can.governed?.policy,
    kind,
    endpoint,
    stage: stageOf(kind, stages, fields.stage),
    hash,
  };
}

function stageOf(
  kind: OperationName,
  [usual, ...others]: readonly [Stage, ...Stage[]],
  meant: Stage | undefined,
): Stage {
  if (meant === undefined || meant === usual) return usual;
  if (!others.includes(meant)) throw new Error(`${kind} is not in the stage ${meant}`);
  return meant;
}

export type Stored<K extends OperationName = OperationName> = {
  [P in K]: { operation: Operation<P>; context: OperationShapes[P]["context"] | undefined };
}[K];

export type Entry = JournalEntry<OperationShapes[OperationName]>;

type Columns = Readonly<Record<keyof Shapes, Json>>;

export function readOperation<K extends OperationName>(
  kind: K,
  common: Omit<Change<string, Shapes>, keyof Shapes | "kind">,
  columns: Columns,
): { stored: Stored<K> } | { misfit: keyof Shapes } {
  const { schemas } = typeOf({ kind });
  const { target, payload, before, after, context } = columns;
  if (!fits(schemas.target, target)) return { misfit: "target" };
  if (!fits(schemas.payload, payload)) return { misfit: "payload" };
  if (!fits(schemas.before, before)) return { misfit: "before" };
  if (!fits(schemas.after, after)) return { misfit: "after" };
  const operation = { ...common, kind, target, payload, before, after };
  if (isNone(context)) return { stored: { operation, context: undefined } };
  if (!fits(schemas.context, context)) return { misfit: "context" };
  return { stored: { operation, context } };
}

interface Kept {
  target: Json;
  payload: Json;
  context: Json;
  records: RecordReference[];
}

function isNone(context: Json): boolean {
  return isJsonObject(context) && Object.keys(context).length === 0;
}

/** Tells a person where to check whether it was carried out. Undefined if the stored operation is unreadable. */
export function lookForStored(kind: OperationName, { target, payload, context, records }: Kept): LookFor | undefined {
  const { schemas, whereToLook } = typeOf({ kind });
  if (!fits(schemas.target, target) || !fits(schemas.payload, payload)) return undefined;
  return whereToLook({ target, payload, records, context: fits(schemas.context, context) ? context : undefined });
}

export function countedStored(kind: OperationName, payload: Json): number | undefined {
  const { schemas, can } = typeOf({ kind });
  return fits(schemas.payload, payload) ? can.prints?.count?.(payload) : undefined;
}

export const removedThings = ["seats", "products", "accounts", "locks"] as const;
export type RemovedThing = (typeof removedThings)[number];

export function noThings(): Record<RemovedThing, number> {
  return { seats: 0, products: 0, accounts: 0, locks: 0 };
}

export type Weight = {
  readonly seats: number;
  readonly products: number;
  readonly accounts: number;
  readonly locks: number;
  readonly nodes: number;
  readonly lastAsset: number;
  /** People who lose something and were online at planning. */
  readonly online: number;
  readonly lent: number;
};

const weighed = [...removedThings, "nodes", "lastAsset", "online", "lent"] as const satisfies (keyof Weight)[];

export const noWeight: Weight = { ...noThings(), nodes: 0, lastAsset: 0, online: 0, lent: 0 };

export interface Removes {
  seats: readonly string[];
  products: number;
  accounts: number;
  locks: number;
  nodes: number;
}

interface Taker {
  hash: string;
  takesAway: number;
  weight: Weight;
}

export function removesOf(
  { hash, takesAway, weight }: Taker,
  takes: RemovedThing | undefined,
  numbers: readonly string[],
): Removes {
  const count = (thing: RemovedThing): number => (takes === thing ? takesAway : weight[thing]);
  const others = Array.from({ length: Math.max(0, count("seats") - numbers.length) }, (_, n) => `${hash} ${n}`);
  return {
    seats: [...numbers, ...others].slice(0, count("seats")).toSorted(),
    products: count("products"),
    accounts: count("accounts"),
    locks: count("locks"),
    nodes: weight.nodes,
  };
}

/** A seat that several operations remove counts once. */
export function countRemoved(all: readonly Removes[]): Record<RemovedThing, number> {
  const sum = (thing: Exclude<RemovedThing, "seats">): number => all.reduce((total, item) => total + item[thing], 0);
  return {
    seats: new Set(all.flatMap(({ seats }) => seats)).size,
    products: sum("products"),
    accounts: sum("accounts"),
    locks: sum("locks"),
  };
}

export function removesSomething(removes: Removes): boolean {
  const counts = countRemoved([removes]);
  return removedThings.some((thing) => counts[thing] > 0);
}

/** Whether it removes no more than a person was shown. It may remove less if a part is already done. */
export function removesNoMore(now: Removes, shown: Removes): boolean {
  const counts = ["products", "accounts", "locks", "nodes"] as const;
  return now.seats.every((seat) => shown.seats.includes(seat)) && counts.every((thing) => now[thing] <= shown[thing]);
}

export function isRemoval({ takesAway, weight }: { takesAway: number; weight: Weight }): boolean {
  return takesAway > 0 || removedThings.some((thing) => weight[thing] > 0);
}

export function sumOf(weights: Iterable<Weight>): Weight {
  const sum = { ...noWeight };
  for (const weight of weights) for (const thing of weighed) sum[thing] += weight[thing];
  return sum;
}

export function grouped(count: number): string {
  return count.toLocaleString("en");
}

function some(count: number, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : many}`;
}

export function weightText(weight: Weight): string {
  const { seats, products, accounts, locks, nodes, lastAsset, online, lent } = weight;
  const things = [
    ...(seats > 0 ? [some(seats, "seat")] : []),
    ...(products > 0 ? [`${some(products, "product")}${nodes > 0 ? ` with ${some(nodes, "node")}` : ""}`] : []),
    ...(accounts > 0 ? [some(accounts, "account")] : []),
    ...(locks > 0 ? [some(locks, "lock")] : []),
  ];
  const people = [
    ...(lastAsset > 0 ? [some(lastAsset, "person loses their last asset", "people lose their last asset")] : []),
    ...(online > 0 ? [some(online, "person was online", "people were online")] : []),
    ...(lent > 0 ? [some(lent, "lock is lent", "locks are lent")] : []),
  ];
  return [things.join(", "), people.join(", ")].filter((part) => part !== "").join("; ");
}

/** What holds an operation. `operation`: its type. `flips`: a flapping value. `rebuilt`: a rebuilt ledger. */
export type HoldScope = "enterprise" | "run" | "day" | "week" | "policy" | "operation" | "flips" | "rebuilt";

export function isLimit(scope: HoldScope): boolean {
  return scope === "enterprise" || scope === "run" || scope === "day" || scope === "week";
}
