import { isJsonObject } from "../base/canonical-json.ts";
import type { Json, JsonObject } from "../base/canonical-json.ts";

/** The way to a value: keys and list positions. */
export type Path = readonly (string | number)[];

/** Where a value was written, and as what text (before YAML made a number or a truth value of it). */
export interface Mark {
  /** `file:line:column`, or the name of an environment variable or option. */
  place: string;
  text?: string;
}

/** Settings from one place (a file, a profile, the environment), with the place of each value. */
export interface Layer {
  value: JsonObject;
  marks: ReadonlyMap<string, Mark>;
}

/** The key under which a path stands in `Layer.marks`. */
export function markKey(path: Path): string {
  return JSON.stringify(path);
}

/** The mark of a value, or of the nearest thing around it that was written down. */
export function nearestMark(layer: Layer, path: Path): Mark | undefined {
  for (let length = path.length; length >= 0; length -= 1) {
    const mark = layer.marks.get(markKey(path.slice(0, length)));
    if (mark !== undefined) return length === path.length ? mark : { place: mark.place };
  }
  return undefined;
}

export function isMap(value: unknown): value is JsonObject {
  return isJsonObject(value);
}

/** What stands at a path, or undefined. */
export function valueAt(value: Json | undefined, path: Path): Json | undefined {
  let current: Json | undefined = value;
  for (const step of path) {
    if (Array.isArray(current)) current = typeof step === "number" ? current[step] : undefined;
    else if (isMap(current)) current = Object.hasOwn(current, step) ? current[step] : undefined;
    else return undefined;
  }
  return current;
}

/**
 * `upper` over `lower`: maps are merged key by key, everything else is replaced whole. Two maps with a different `kind`
 * are different things and are not mixed; nor are two ways to get one token.
 */
export function mergeLayers(lower: Layer, upper: Layer): Layer {
  return {
    value: mergeMaps(lower.value, upper.value),
    marks: new Map([...lower.marks, ...upper.marks]),
  };
}

function mergeMaps(lower: JsonObject, upper: JsonObject): JsonObject {
  if (lower["kind"] !== undefined && upper["kind"] !== undefined && lower["kind"] !== upper["kind"]) return upper;
  const merged: JsonObject = { ...lower };
  for (const [key, above] of Object.entries(upper)) {
    const below = merged[key];
    if (!isMap(above) || !isMap(below)) merged[key] = above;
    else merged[key] = key === "tokens" ? { ...below, ...above } : mergeMaps(below, above);
  }
  return merged;
}
