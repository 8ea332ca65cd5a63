import { isJsonObject } from "../../base/canonical-json.ts";
import type { JsonObject } from "../../base/canonical-json.ts";
import type { BadRecord, SourceItem } from "../reader.ts";
import type { FileRow } from "./row.ts";

/** Longest text that is kept of what is no record. */
const mostCharacters = 65_536;

/** A row as a raw record; a bad one where it is no object, or has no key though the stream names one. */
export function toItem(
  { place, value }: FileRow,
  keyOf: ((value: JsonObject) => string | undefined) | undefined,
): SourceItem {
  if (!isJsonObject(value)) {
    return { bad: { ...notAnObject(place), text: JSON.stringify(value).slice(0, mostCharacters) } };
  }
  const key = keyOf?.(value);
  return { raw: key === undefined ? { place, value } : { place, key, value } };
}

export function notAnObject(place: string): BadRecord {
  return { place, code: "not-an-object", message: "the record is not an object" };
}
