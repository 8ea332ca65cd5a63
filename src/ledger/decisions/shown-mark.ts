import { hashOf } from "../../base/canonical-json.ts";

/**
 * Stands for exactly these operations, in whatever order: a decision bears it from the page that showed them, so that
 * nothing else is approved by it.
 */
export function shownMark(operations: readonly { kind: string; hash: string }[]): string {
  return hashOf([...new Set(operations.map(({ kind, hash }) => `${kind} ${hash}`))].sort());
}
