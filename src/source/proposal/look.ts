import { isUtf8 } from "node:buffer";
import { utf16Of } from "../file/bytes.ts";
import { namedDelimiter } from "../file/csv.ts";

/** Guesses the encoding from the beginning of a file. Windows-1252 is only a guess. */
export function encodingOf(beginning: Buffer): string {
  // The beginning may end inside a character.
  const isText = [0, 1, 2, 3].some((cut) => isUtf8(beginning.subarray(0, beginning.length - cut)));
  return utf16Of(beginning) ?? (isText ? "utf-8" : "windows-1252");
}

/** Guesses the delimiter of a CSV file: from a `sep=` line, or else from the header. */
export function delimiterOf(beginning: Buffer): string {
  const text = new TextDecoder(encodingOf(beginning)).decode(beginning);
  const [header = ""] = text.split(/\r?\n/u);
  const counts = [",", ";", "\t", "|"].map((delimiter) => ({ delimiter, count: header.split(delimiter).length }));
  const [best] = counts.sort((one, other) => other.count - one.count);
  return namedDelimiter(text)?.delimiter[0] ?? best?.delimiter ?? ",";
}
