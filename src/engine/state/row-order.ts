import type { RecordKey } from "../../crm/model.ts";

/** In the order in which the ledger gives its rows, which a fingerprint depends on. */
export function compareBytes(one: string, other: string): number {
  const shared = Math.min(one.length, other.length);
  for (let at = 0; at < shared; at += 1) {
    const difference = utf8Rank(one.charCodeAt(at)) - utf8Rank(other.charCodeAt(at));
    if (difference !== 0) return difference;
  }
  return one.length - other.length;
}

/** What UTF-16 writes with a surrogate stands behind everything else in UTF-8. */
function utf8Rank(unit: number): number {
  return unit >= 0xd8_00 && unit <= 0xdf_ff ? unit + 0x1_00_00 : unit;
}

/** The same items, in the order of their keys. */
export function inKeyOrder<Item extends { key: RecordKey }>(all: ReadonlyMap<string, Item>): Map<string, Item> {
  return new Map([...all].toSorted(([, one], [, other]) => byKey(one.key, other.key)));
}

function byKey(one: RecordKey, other: RecordKey): number {
  return compareBytes(one.namespace, other.namespace) || compareBytes(one.id, other.id);
}
