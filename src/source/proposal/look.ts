import { isUtf8 } from "node:buffer";
import { isJsonObject } from "../../base/canonical-json.ts";
import type { Json, JsonObject } from "../../base/canonical-json.ts";
import { formatRawPath } from "../mapping/raw-path.ts";

/** How the beginning of a CSV file is written, as settings of a stream; what is usual is left out. */
export function csvSettings(beginning: Buffer): { encoding?: string; csv?: { delimiter: string } } {
  // A character may be cut at the end of what was read.
  const isText = [0, 1, 2, 3].some((cut) => isUtf8(beginning.subarray(0, beginning.length - cut)));
  const [header = ""] = beginning.toString(isText ? "utf8" : "latin1").split(/\r?\n/u);
  const delimiters = [",", ";", "\t", "|"];
  const counts = delimiters.map((delimiter) => ({ delimiter, count: header.split(delimiter).length }));
  const [best] = counts.sort((one, other) => other.count - one.count);
  return {
    ...(isText ? {} : { encoding: "windows-1252" }),
    ...(best === undefined || best.delimiter === "," ? {} : { csv: { delimiter: best.delimiter } }),
  };
}

const deepestList = 4;

/** The place of the longest list of objects in a document; undefined where there is none. */
export function listIn(document: Json): { path: string | undefined; rows: JsonObject[] } | undefined {
  let best: { path: string | undefined; rows: JsonObject[] } | undefined;
  const look = (value: Json, steps: readonly string[]): void => {
    if (Array.isArray(value)) {
      const rows = value.filter((item): item is JsonObject => isJsonObject(item));
      const path = steps.length === 0 ? undefined : formatRawPath(steps);
      if (rows.length > (best?.rows.length ?? 0)) best = { path, rows };
      return;
    }
    if (!isJsonObject(value) || steps.length >= deepestList) return;
    for (const [name, member] of Object.entries(value)) if (member !== undefined) look(member, [...steps, name]);
  };
  look(document, []);
  return best;
}
