import { isUtf8 } from "node:buffer";
import { Tokenizer, TokenType } from "@streamparser/json";
import type { Json } from "../../base/canonical-json.ts";
import type { Problem } from "../../base/errors.ts";
import { keptTextOf, parseJson, type RecordLimits } from "../json.ts";
import { pathOf, valueAt } from "../mapping/path.ts";
import { notAsMarked, sourceProblem } from "../problems.ts";
import type { BadRecord, FileItem, FormatReader, NamedBytes } from "../reader.ts";
import { readUtf8, type OpenedFile } from "./bytes.ts";

/** Yields elements one at a time: the file may be larger than memory. */
export async function* readJsonList(
  file: OpenedFile,
  steps: readonly (string | number)[],
  limits: RecordLimits,
  batchSize: number,
  signal: AbortSignal | undefined,
): FormatReader {
  const scanner = new JsonListScanner(file.name, `${file.name}#`, steps, limits);
  for await (const chunk of readUtf8(file, signal)) {
    const problem = scanner.write(chunk);
    if (scanner.items.length >= batchSize || (problem !== undefined && scanner.items.length > 0)) yield scanner.take();
    if (problem !== undefined) return problem;
  }
  if (scanner.items.length > 0) yield scanner.take();
  return scanner.end();
}

interface Frame {
  isArray: boolean;
  at: string | number;
}

/** Parses each element alone, so that a bad element does not spoil others. */
export class JsonListScanner {
  readonly #name: string;
  readonly #place: string;
  readonly #steps: readonly (string | number)[];
  readonly #limits: RecordLimits;
  readonly #tokenizer = new Tokenizer();
  readonly #stack: Frame[] = [];
  #lastText = "";
  /** Stack depth inside the list. 0 outside it. */
  #listDepth = 0;
  #found = false;
  #ended = false;
  #index = 0;
  /** Offset of the current element, or -1. */
  #start = -1;
  #chunk: Buffer = Buffer.alloc(0);
  #chunkStart = 0;
  #carried: Buffer[] = [];
  #carriedLength = 0;
  items: FileItem[] = [];

  /** `name` is for messages; `place` is the prefix of element places. */
  constructor(name: string, place: string, steps: readonly (string | number)[], limits: RecordLimits) {
    this.#name = name;
    this.#place = place;
    this.#steps = steps;
    this.#limits = limits;
    this.#tokenizer.onToken = ({ token, value, offset }) => this.#token(token, value, offset);
  }

  take(): FileItem[] {
    const { items } = this;
    this.items = [];
    return items;
  }

  write(chunk: Buffer): Problem | undefined {
    this.#chunk = chunk;
    try {
      this.#tokenizer.write(chunk);
    } catch {
      return sourceProblem(
        "source.wrong-shape",
        this.#found ? this.#placeOf() : this.#name,
        `${this.#name} is not valid JSON at or after ${this.#found ? this.#placeOf() : "its beginning"}.`,
        "Export the file again.",
      );
    }
    if (this.#start !== -1) this.#carry(chunk.subarray(Math.max(0, this.#start - this.#chunkStart)));
    this.#chunkStart += chunk.length;
    return undefined;
  }

  end(): Problem | undefined {
    if (!this.#ended) {
      return sourceProblem(
        "source.half-read",
        this.#name,
        `The file ${this.#name} is cut off.`,
        "Export the file again.",
      );
    }
    if (this.#found) return undefined;
    return sourceProblem(
      "source.wrong-shape",
      this.#name,
      `${this.#name} has no list at ${this.#steps.length === 0 ? "its top" : this.#steps.join(".")}.`,
      "Correct `records` in the configuration.",
    );
  }

  #token(token: TokenType, value: unknown, offset: number): void {
    if (this.#ended) throw new SyntaxError("text after the end of the document");
    const frame = this.#stack.at(-1);
    switch (token) {
      case TokenType.COLON:
        if (frame !== undefined) frame.at = this.#lastText;
        return;
      case TokenType.COMMA:
        if (frame?.isArray === true && typeof frame.at === "number") frame.at += 1;
        return;
      case TokenType.LEFT_BRACE:
      case TokenType.LEFT_BRACKET:
        this.#open(token === TokenType.LEFT_BRACKET, offset);
        return;
      case TokenType.RIGHT_BRACE:
      case TokenType.RIGHT_BRACKET:
        this.#close(token === TokenType.RIGHT_BRACKET, offset);
        return;
      default:
        if (token === TokenType.STRING && typeof value === "string") this.#lastText = value;
        if (frame === undefined) this.#ended = true;
        else if (this.#inList()) this.#bad("not-an-object", "the element is not an object");
    }
  }

  #inList(): boolean {
    return this.#listDepth > 0 && this.#stack.length === this.#listDepth;
  }

  #open(isArray: boolean, offset: number): void {
    if (this.#inList()) this.#start = offset;
    const isTheList = isArray && !this.#found && this.#stack.length === this.#steps.length && this.#isHere();
    this.#stack.push({ isArray, at: isArray ? 0 : "" });
    if (!isTheList) return;
    this.#found = true;
    this.#listDepth = this.#stack.length;
  }

  #isHere(): boolean {
    return this.#steps.every((step, index) => this.#stack[index]?.at === step);
  }

  #close(isArray: boolean, offset: number): void {
    const closed = this.#stack.pop();
    if (closed?.isArray !== isArray) throw new SyntaxError("a bracket that was not opened");
    if (this.#listDepth > 0 && this.#stack.length < this.#listDepth) this.#listDepth = 0;
    if (this.#start !== -1 && this.#inList()) this.#element(offset + 1);
    if (this.#stack.length === 0) this.#ended = true;
  }

  #element(end: number): void {
    const from = Math.max(this.#start - this.#chunkStart, 0);
    this.#carry(this.#chunk.subarray(from, end - this.#chunkStart));
    const length = this.#carriedLength;
    const text = length > this.#limits.maxBytes ? undefined : Buffer.concat(this.#carried).toString("utf8");
    this.#start = -1;
    this.#carried = [];
    this.#carriedLength = 0;
    if (text === undefined) {
      this.#bad("too-large", `the element is larger than ${this.#limits.maxBytes} bytes`);
      return;
    }
    const parsed = parseJson(text, this.#limits);
    if (!parsed.ok) this.#bad(parsed.error.code, `the element is unusable: ${parsed.error.message}`, text);
    else {
      this.items.push({ row: { place: this.#placeOf(), value: parsed.value } });
      this.#index += 1;
    }
  }

  #carry(bytes: Buffer): void {
    this.#carriedLength += bytes.length;
    if (this.#carriedLength > this.#limits.maxBytes) this.#carried = [];
    else this.#carried.push(bytes);
  }

  #bad(code: string, message: string, text?: string): void {
    const place = this.#placeOf();
    this.items.push({ bad: { place, code, message, ...(text === undefined ? {} : { text: keptTextOf(text) }) } });
    this.#index += 1;
  }

  #placeOf(): string {
    return `${this.#place}/${[...this.#steps, this.#index].join("/")}`;
  }
}

interface Line {
  number: number;
  /** Undefined if the line exceeds the limit. */
  bytes: Buffer | undefined;
  ended: boolean;
}

/** With `count`, the last line is a trailer with the line count. The file is incomplete if that differs. */
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
    return problem;
  }
  const end = count === undefined ? undefined : trailerProblem(file.name, count, held?.value, records);
  // A trailer is not a record. A last line that is not a trailer is one.
  if (held !== undefined && (end === undefined || !end.isTrailer)) items.push(held.item);
  if (items.length > 0) yield items;
  return end?.problem;
}

function parseLine(line: Line, place: string, limits: RecordLimits): { item: FileItem; value: Json | undefined } {
  const bad = (code: string, message: string, text?: string): { item: FileItem; value: undefined } => {
    const record: BadRecord = { place, code, message, ...(text === undefined ? {} : { text: keptTextOf(text) }) };
    return { item: { bad: record }, value: undefined };
  };
  if (line.bytes === undefined) return bad("too-large", `the line is larger than ${limits.maxBytes} bytes`);
  const text = line.bytes.toString("utf8");
  // Bytes that are not UTF-8 become the replacement character, which the line may also really contain.
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
): { isTrailer: boolean; problem: Problem | undefined } {
  const found = valueAt({ item: last, parent: undefined }, pathOf(count));
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
