import type { AssumptionSettings } from "../contract/assumption-settings.ts";
import { validate } from "../engine/plan/bind.ts";
import type { SourceItem } from "../source/reader.ts";
import type { StreamMapping } from "../source/source.ts";

/** Why records of a sample cannot be used, said once for all that have the same fault. */
export interface SampleFault {
  field: string;
  code: string;
  message: string;
  expected: string;
  records: number;
  /** Where the first of them stands. */
  place: string;
}

/** Why a row would go into quarantine; undefined where it can be used; whether its stream leaves it out. */
export function faultOf(
  item: SourceItem,
  mapping: StreamMapping,
  settings: AssumptionSettings,
): SampleFault | "skipped" | undefined {
  if ("bad" in item) {
    const { place, code, message } = item.bad;
    return { field: "", code, message, expected: "a record that can be read", records: 1, place };
  }
  const { place, value } = item.raw;
  const left = mapping.skip?.(value);
  if (left?.ok === true && left.value !== undefined) return "skipped";
  const mapped = left?.ok === false ? left : mapping.map(value);
  if (!mapped.ok) {
    const { field, code, message, expected } = mapped.error;
    return { field, code, message, expected, records: 1, place };
  }
  const fault = validate(mapped.value, settings);
  return fault === undefined ? undefined : { ...fault, records: 1, place };
}
