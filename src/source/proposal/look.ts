import { isUtf8 } from "node:buffer";
import { utf16Of } from "../file/bytes.ts";
import { namedDelimiter } from "../file/csv.ts";

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
