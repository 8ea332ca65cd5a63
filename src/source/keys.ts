import type { Json, JsonObject } from "../base/canonical-json.ts";
import { parsePath, valueAt } from "./mapping/path.ts";

/** Reads the key of a raw record as text: a text, or a number as it is written. Undefined where there is none. */
export function keyReader(path: string): (value: JsonObject) => string | undefined;
export function keyReader(path: string | undefined): ((value: JsonObject) => string | undefined) | undefined;
export function keyReader(path: string | undefined): ((value: JsonObject) => string | undefined) | undefined {
  if (path === undefined) return undefined;
  const parsed = parsePath(path);
  if (!parsed.ok) return () => undefined;
  return (value) => keyText(valueAt({ item: value, parent: undefined }, parsed.value));
}

function keyText(value: Json | undefined): string | undefined {
  if (typeof value === "number") return String(value);
  if (typeof value !== "string" || value === "" || value.length > 200) return undefined;
  return value.isWellFormed() && !value.includes("\0") ? value : undefined;
}
