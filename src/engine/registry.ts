import type { Kind, KindFacts } from "./kind.ts";
import type { RequestOf } from "./requests.ts";
import type { Known } from "./state.ts";
import type { StatePart } from "./state/part.ts";
import type { UndoRule } from "./plan/undoing.ts";
import type { Sqlite } from "../ledger/database/database.ts";
import type { LedgerRows } from "../ledger/state/registry.ts";
import type { ChangeShapes, OpenRows, OperationName, OperationShapes, RequestType, Resource } from "./resource.ts";

/** Everything that the program can do. */
export interface HandedIn {
  readonly types: { readonly [K in OperationName]: Kind<OperationShapes[K]> };
  readonly changes: { readonly [T in keyof ChangeShapes]: StatePart<Known, ChangeShapes[T]> };
  /** How an operation is taken back, if its type has a way. */
  readonly undo: { readonly [K in OperationName]?: UndoRule<K> };
  readonly requests: { readonly [Of in RequestOf]: RequestType<Of> };
  /** What is recorded of a customer of whom nothing is recorded. */
  readonly nothing: () => Known;
  /** The rows of each resource in an open ledger. */
  readonly open: (database: Sqlite, ledger: LedgerRows) => OpenRows;
  /** In the order in which they plan. */
  readonly resources: readonly Resource[];
}

let all: HandedIn | undefined;

/** Called once by `app`, before anything else: so the engine names no resource. */
export function handIn(everything: HandedIn): void {
  all = everything;
}

export function handedIn(): HandedIn {
  if (all === undefined) throw new Error("the resources were not handed in");
  return all;
}

/** All about the type of an operation. */
export function kindOf<K extends OperationName>({ kind }: { kind: K }): Kind<OperationShapes[K]> {
  return handedIn().types[kind];
}

export function isKind(name: string): name is OperationName {
  return Object.hasOwn(handedIn().types, name);
}

export function allKinds(): OperationName[] {
  return Object.keys(handedIn().types).filter(isKind);
}

/** The names of the operation types of which something holds. */
export function kindsWhere(holds: (kind: KindFacts) => boolean): OperationName[] {
  return allKinds().filter((kind) => holds(kindOf({ kind })));
}

/** The same as a condition of SQL; of one type as `=`, since only that uses an index over this type. */
export function kindIn(column: string, holds: (kind: KindFacts) => boolean): string {
  const names = kindsWhere(holds).map((name) => `'${name}'`);
  return names.length === 1 ? `${column} = ${names[0]}` : `${column} in (${names.join(", ")})`;
}
