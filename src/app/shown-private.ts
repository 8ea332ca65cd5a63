import { isJsonObject } from "../base/canonical-json.ts";
import type { Json } from "../base/canonical-json.ts";
import { privateFields, streams } from "../crm/model.ts";
import { isPrivateMarker, markerKey } from "../engine/model/references.ts";
import type { PrivateMarker } from "../engine/model/references.ts";
import type { CustomerPlan } from "../engine/plan/plan.ts";

/**
 * The personal data behind the markers of a plan, by marker (`staff/crm/S1@2#name`), for whoever may see it. Passwords
 * are no personal data: they are never shown. What was erased is said to be.
 */
export function privateIn(
  { operations }: Pick<CustomerPlan, "operations">,
  valueOf: (marker: PrivateMarker) => Json | undefined,
): Record<string, string> {
  const found = new Map<string, string>();
  for (const { target, payload, before, after } of operations) {
    for (const marker of markersIn([target, payload, before, after])) {
      const key = markerKey(marker);
      if (found.has(key) || !isPersonal(marker)) continue;
      const value = valueOf(marker) ?? erasedValue;
      if (typeof value === "string") found.set(key, value);
    }
  }
  return Object.fromEntries([...found].sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** What stands for a value that the ledger holds no more. */
const erasedValue = "(erased)";

function isPersonal({ $private: ref, field }: PrivateMarker): boolean {
  const stream = streams.find((name) => ref.startsWith(`${name}/`));
  return stream !== undefined && privateFields[stream].includes(field);
}

function markersIn(value: Json): PrivateMarker[] {
  if (isPrivateMarker(value)) return [value];
  if (Array.isArray(value)) return value.flatMap(markersIn);
  return isJsonObject(value) ? Object.values(value).flatMap((item) => markersIn(item ?? null)) : [];
}
