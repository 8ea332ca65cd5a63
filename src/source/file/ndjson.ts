import { isUtf8 } from "node:buffer";
import type { Json } from "../../base/canonical-json.ts";
import { parseJson } from "../json.ts";
import { keptTextOf } from "../limits.ts";
import type { RecordLimits } from "../limits.ts";
import { parsePath, valueAt } from "../mapping/path.ts";
import { notAsMarked, sourceProblem } from "../problems.ts";
import type { BadRecord } from "../reader.ts";
import type { FileEnd, FileItem, FormatReader, NamedBytes } from "./row.ts";

interface Line {
  number: number;
  /** Undefined for a line that is larger than the limit. */
  bytes: Buffer | undefined;
  /** Whether a newline ended it. */
  ended: boolean;
}

/**
 * The lines of an NDJSON file. With `count`, the last line is a trailer whose member at that path says how many lines
 * come before it; without the trailer, or with another number, the file was not read whole. So it is when the last line
 * has no newline and is no JSON.
 */
export async function* readNdjson(
  file: NamedBytes,
  count: string | undefined,
  limits: RecordLimits,
  batchSize: number,
): FormatReader {
  let items: FileItem[] = [];
  let records = 0;
  let held: { item: FileItem; value: Json | undefined } | undefined;
  let cutOff = false;
  for await (const line of linesOf(file.bytes, limits.maxBytes)) {
    if (line.bytes?.length === 0) continue;
    if (held !== undefined) {
      items.push(held.item);
      records += 1;
    }
    held = parseLine(line, `${file.name}:${line.number}`, limits);
    cutOff = !line.ended && "bad" in held.item;
    if (items.length >= batchSize) {
      yield items;
      items = [];
    }
  }
  if (cutOff) {
    const problem = sourceProblem(
      "source.half-read",
      file.name,
      `The file ${file.name} ends in the middle of a line.`,
      "Export the file again.",
    );
    if (items.length > 0) yield items;
    return { problem };
  }
  const end = count === undefined ? undefined : trailerProblem(file.name, count, held?.value, records);
  // A trailer is no record; a last line that turns out to be none is one.
  if (held !== undefined && (end === undefined || !end.isTrailer)) items.push(held.item);
  if (items.length > 0) yield items;
  return { problem: end?.problem };
}

function parseLine(line: Line, place: string, limits: RecordLimits): { item: FileItem; value: Json | undefined } {
  const bad = (code: string, message: string, text?: string): { item: FileItem; value: undefined } => {
    const record: BadRecord = { place, code, message, ...(text === undefined ? {} : { text: keptTextOf(text) }) };
    return { item: { bad: record }, value: undefined };
  };
  if (line.bytes === undefined) return bad("too-large", `the line is larger than ${limits.maxBytes} bytes`);
  const text = line.bytes.toString("utf8");
  // Bytes that are no UTF-8 become the replacement character, which may also stand there by itself.
  if (text.includes("\u{FFFD}") && !isUtf8(line.bytes))
    return bad("wrong-encoding", "the line has bytes that are not UTF-8", text);
  const parsed = parseJson(text, limits);
  if (!parsed.ok) return bad(parsed.error.code, `the line is unusable: ${parsed.error.message}`, text);
  return { item: { row: { place, value: parsed.value } }, value: parsed.value };
}

function trailerProblem(
  name: string,
  count: string,
  last: Json | undefined,
  records: number,
): { isTrailer: boolean; problem: FileEnd["problem"] } {
  const path = parsePath(count);
  const found = path.ok ? valueAt({ item: last, parent: undefined }, path.value) : undefined;
  if (found === undefined) {
    const problem = sourceProblem(
      notAsMarked,
      name,
      `The file ${name} has no trailer: its last line has no ${count}.`,
      "Wait until the export has ended; the next run reads the file.",
    );
    return { isTrailer: false, problem };
  }
  if (Number(found) === records) return { isTrailer: true, problem: undefined };
  const problem = sourceProblem(
    notAsMarked,
    name,
    `The trailer of ${name} does not agree with the ${records} records before it.`,
    "Export the file again.",
  );
  return { isTrailer: true, problem };
}

/** Lines without their newline. A line over the limit is passed over without being kept. */
async function* linesOf(chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Line, void, void> {
  let number = 1;
  let pieces: Buffer[] = [];
  let length = 0;
  const finish = (ended: boolean): Line => {
    const whole =
      length > maxBytes ? undefined : pieces.length === 1 ? (pieces[0] ?? Buffer.alloc(0)) : Buffer.concat(pieces);
    const bytes = whole?.at(-1) === 13 ? whole.subarray(0, -1) : whole;
    pieces = [];
    length = 0;
    return { number, bytes, ended };
  };
  const add = (piece: Buffer): void => {
    length += piece.length;
    if (length > maxBytes) pieces = [];
    else pieces.push(piece);
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      add(chunk.subarray(start, end));
      yield finish(true);
      number += 1;
      start = end + 1;
    }
    if (start < chunk.length) add(chunk.subarray(start));
  }
  if (length > 0) yield finish(false);
}
