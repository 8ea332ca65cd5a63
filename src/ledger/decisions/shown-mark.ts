import { hashOf } from "../../base/canonical-json.ts";

/** Identifies this set of operations in any order. A decision with this mark approves nothing else. */
export function shownMark(operations: readonly { kind: string; hash: string }[]): string {
  return hashOf([...new Set(operations.map(({ kind, hash }) => `${kind} ${hash}`))].sort());
}
