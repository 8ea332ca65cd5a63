import { isUtf8 } from "node:buffer";
import { isJsonObject, type Json, type JsonObject } from "../../base/canonical-json.ts";
import { utf16Of } from "../file/bytes.ts";
import { namedDelimiter } from "../file/csv.ts";
import { formatRawPath } from "../mapping/path.ts";

/** The encoding of a text by its beginning. That of western Europe is a guess. */
export function encodingOf(beginning: Buffer): string {
  // A character may be cut at the end of what was read.
  const isText = [0, 1, 2, 3].some((cut) => isUtf8(beginning.subarray(0, beginning.length - cut)));
  return utf16Of(beginning) ?? (isText ? "utf-8" : "windows-1252");
}

/** What stands between the fields of a CSV file, by its beginning: as its first line names it, or else as its header has it. */
export function delimiterOf(beginning: Buffer): string {
  const text = new TextDecoder(encodingOf(beginning)).decode(beginning);
  const [header = ""] = text.split(/\r?\n/u);
  const counts = [",", ";", "\t", "|"].map((delimiter) => ({ delimiter, count: header.split(delimiter).length }));
  const [best] = counts.sort((one, other) => other.count - one.count);
  return namedDelimiter(text)?.delimiter[0] ?? best?.delimiter ?? ",";
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
