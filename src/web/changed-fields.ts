import { canonicalJson, isJsonObject } from "../base/canonical-json.ts";
import type { Json } from "../base/canonical-json.ts";
import { isPrivateMarker } from "../engine/model/references.ts";

/** A field of a record that is otherwise; `undefined` where there is none. Private values are never named. */
export interface ChangedField {
  field: string;
  from: string | undefined;
  to: string | undefined;
}

/** The fields in which two forms of a record differ, by their path: `instances[2].nodes`. */
export function changedFields(before: Json | undefined, after: Json | undefined, path = ""): ChangedField[] {
  if (isPrivateMarker(before) || isPrivateMarker(after)) {
    const isSame = isPrivateMarker(before) && isPrivateMarker(after) && before.commitment === after.commitment;
    return isSame ? [] : [{ field: path, from: textOf(before), to: textOf(after) }];
  }
  if (isJsonObject(before) && isJsonObject(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
    return names.flatMap((name) => changedFields(before[name], after[name], path === "" ? name : `${path}.${name}`));
  }
  if (Array.isArray(before) && Array.isArray(after)) {
    const length = Math.max(before.length, after.length);
    return Array.from({ length }, (_, index) => changedFields(before[index], after[index], `${path}[${index}]`)).flat();
  }
  const [from, to] = [textOf(before), textOf(after)];
  return from === to ? [] : [{ field: path, from, to }];
}

function textOf(value: Json | undefined): string | undefined {
  if (value === undefined) return undefined;
  return isPrivateMarker(value) ? "(private)" : canonicalJson(hidden(value));
}

/** A value with everything private in it named as such. */
function hidden(value: Json): Json {
  if (isPrivateMarker(value)) return "(private)";
  if (Array.isArray(value)) return value.map(hidden);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, hidden(item ?? null)]));
}
