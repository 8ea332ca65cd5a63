import type { Json } from "../../base/canonical-json.ts";
import { parsePath, valueAt } from "../mapping/path.ts";
import type { Path } from "../mapping/path.ts";

/** The path of a setting, which was checked when the configuration was read. */
export function pathOf(text: string): Path {
  const parsed = parsePath(text);
  return parsed.ok ? parsed.value : { up: 0, steps: [] };
}

/** What an answer holds at a path. */
export function valueIn(document: Json, path: string): Json | undefined {
  return valueAt({ item: document, parent: undefined }, pathOf(path));
}
