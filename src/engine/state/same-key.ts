import type { RecordKey } from "../../crm/model.ts";

/** Whether two keys name the same record. */
export function isSameKey(one: RecordKey, other: RecordKey): boolean {
  return one.namespace === other.namespace && one.id === other.id;
}
