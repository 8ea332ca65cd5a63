import type { Change, Draft } from "./shape.ts";
import { stages } from "./shape.ts";
import type { OperationName, OperationShapes } from "./resource.ts";

/** One change we mean to make, of any kind or of these. */
export type Operation<K extends OperationName = OperationName> = { [P in K]: Change<P, OperationShapes[P]> }[K];

/** What a planning rule means, of any kind or of these: an operation but for what its kind says by itself. */
export type DraftOperation<K extends OperationName = OperationName> = {
  [P in K]: { kind: P } & Draft<OperationShapes[P]>;
}[K];

/** The operations of the first stage that has some. */
export function firstStage(operations: readonly Operation[]): Operation[] {
  const first = stages.find((stage) => operations.some((operation) => operation.stage === stage));
  return operations.filter((operation) => operation.stage === first);
}

/** The order of a plan: by stage, then subject. */
export function compareOperations(left: Operation, right: Operation): number {
  const byStage = stages.indexOf(left.stage) - stages.indexOf(right.stage);
  if (byStage !== 0) return byStage;
  return left.subject < right.subject ? -1 : left.subject > right.subject ? 1 : 0;
}
