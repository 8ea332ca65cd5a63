import type { PlannedAsset } from "./references.ts";
import type { EngineDependencies } from "../customer.ts";
import type { AssetNumbers } from "../deliver.ts";
import type { OperationType } from "./operation-type.ts";
import type { Operation, RemovedThing } from "./operation.ts";
import type { RequestOf } from "./requests.ts";
import type { Known, StatePart } from "./state.ts";
import type { UndoFacts, UndoRule } from "../plan/undo.ts";
import type { Sqlite } from "../../ledger/database/database.ts";
import type { LedgerRows } from "../../ledger/state/registry.ts";
import type {
  ChangeShapes,
  OpenRows,
  OperationName,
  OperationShapes,
  RequestType,
  Resource,
  UndoReading,
} from "./resource.ts";

export interface HandedIn {
  readonly types: { readonly [K in OperationName]: OperationType<OperationShapes[K]> };
  readonly changes: { readonly [T in keyof ChangeShapes]: StatePart<Known, ChangeShapes[T]> };
  readonly undo: { readonly [K in OperationName]?: UndoRule<K> };
  readonly requests: { readonly [Of in RequestOf]: RequestType<Of> };
  readonly nothing: Known;
  readonly open: (database: Sqlite, ledger: LedgerRows) => OpenRows;
  readonly undoFacts: UndoReading<Exclude<keyof UndoFacts, "newestOn" | "isKept">>;
  readonly numbers: (deps: EngineDependencies) => AssetNumbers;
  readonly resources: readonly Resource[];
}

let all: HandedIn | undefined;

/** `app` calls this first, so the engine imports no resource. */
export function handIn(everything: HandedIn): void {
  all = everything;
}

export function handedIn(): HandedIn {
  if (all === undefined) throw new Error("the resources were not handed in");
  return all;
}

export function typeOf<K extends OperationName>({ kind }: { kind: K }): OperationType<OperationShapes[K]> {
  return handedIn().types[kind];
}

export function isOperationName(name: string): name is OperationName {
  return Object.hasOwn(handedIn().types, name);
}

export function operationNames(): OperationName[] {
  return Object.keys(handedIn().types).filter(isOperationName);
}

type AnyType = Pick<OperationType<OperationShapes[OperationName]>, "onUnknown" | "can">;

export function namesWhere(holds: (type: AnyType) => boolean): OperationName[] {
  return operationNames().filter((kind) => holds(typeOf({ kind })));
}

/** `namesWhere` as an SQL condition. A single type uses `=`: only that uses the index on the type. */
export function typeIn(column: string, holds: (type: AnyType) => boolean): string {
  const names = namesWhere(holds).map((name) => `'${name}'`);
  return names.length === 1 ? `${column} = ${names[0]}` : `${column} in (${names.join(", ")})`;
}

export function removedBy(of: { kind: OperationName }): RemovedThing | undefined {
  return typeOf(of).can.removes?.thing;
}

export function needsApproval(of: { kind: OperationName }): boolean {
  return typeOf(of).can.governed?.alone === true;
}

export function isNonRepeatable(of: { kind: OperationName }): boolean {
  const { onUnknown } = typeOf(of);
  return onUnknown.by === "ask" || (onUnknown.by === "observe" && onUnknown.nonRepeatable === true);
}

export function grantedBy(operation: Operation): string[] {
  return typeOf(operation).can.holders?.grants?.(operation) ?? [];
}

export function freedBy(operation: Operation): string[] {
  return typeOf(operation).can.holders?.frees?.(operation) ?? [];
}

export function numbersOf(operation: Operation): PlannedAsset[] {
  return typeOf(operation).can.numbers?.(operation) ?? [];
}
