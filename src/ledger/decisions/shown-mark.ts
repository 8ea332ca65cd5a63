import { hashOf } from "../../base/canonical-json.ts";

/**
 * Identifies this set of operations in any order. A decision carries it from the page, so that it approves nothing
 * else.
 */
export function shownMark(operations: readonly { kind: string; hash: string }[]): string {
  return hashOf([...new Set(operations.map(({ kind, hash }) => `${kind} ${hash}`))].sort());
}
