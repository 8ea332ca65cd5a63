import { isJsonObject } from "../../base/canonical-json.ts";
import type { Json } from "../../base/canonical-json.ts";
import { isPrivateMarker } from "../../engine/model/references.ts";
import type { Html } from "../page.ts";
import { shownLines } from "../shown.ts";

/** JSON for people to read, a private value by the name of its field and of its record alone. */
export function markedJson(value: Json): Html {
  return shownLines(JSON.stringify(withNames(value), undefined, 2));
}

function withNames(value: Json): Json {
  if (isPrivateMarker(value)) return `(private: ${value.field} of ${value.$private}, version ${value.version})`;
  if (Array.isArray(value)) return value.map(withNames);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withNames(one ?? null)]));
}
