import { isAscii, isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { createReadStream, type ReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import type { Problem } from "../../base/errors.ts";
import { openRegular } from "../../base/regular-file.ts";
import { notAsMarked, sourceProblem } from "../problems.ts";

export interface OpenedFile {
  path: string;
  /** The source's directory. No link may lead out of it. */
  folder: string;
  /** Name for people: as configured, relative to the source's directory. */
  name: string;
  gzip: boolean;
  encoding: string;
  state: FileState;
  expected: Expected;
}

export interface Expected {
  rows?: number;
  /** SHA-256 of the bytes on disk, in lower-case hexadecimal. */
  sha256?: string;
}

const chunkBytes = 262_144;

interface FileState {
  size: number;
  modified: number;
  inode: number;
}

export async function stateOf(path: string): Promise<FileState> {
  const { size, mtimeMs, ino } = await stat(path);
  return { size, modified: mtimeMs, inode: ino };
}

/** Throws a Problem if the file changed or does not fit its marker or encoding. Bytes of a UTF-8 file are unchecked. */
export async function* readUtf8(file: OpenedFile, signal: AbortSignal | undefined): AsyncGenerator<Buffer, void, void> {
  await requireExpected(file, signal);
  const undeclared = await undeclaredUtf8(chunksOf(file, signal), file.encoding);
  if (undeclared !== undefined) throw declaredWrong(file, undeclared);
  const isUtf8 = new TextDecoder(file.encoding).encoding === "utf-8";
  const bytes = withStart(chunksOf(file, signal), 4, (start) => unmarked(start, file));
  yield* isUtf8 ? bytes : decoded(bytes, file);
  await requireUnchanged(file);
}

function declaredWrong({ name, encoding }: OpenedFile, { line, byte }: FirstCharacter): Problem {
  return sourceProblem(
    "source.wrong-encoding",
    `${name}:${line}`,
    `The file ${name} is configured as ${encoding}, but it is UTF-8: line ${line} (byte ${byte}) shows this first.`,
    `Set \`encoding: utf-8\`, or export the file again in ${encoding}.`,
  );
}

export function notAsExpected(name: string, what: string): Problem {
  const cure = "Wait until the export has ended, or export the file and its marker again.";
  const message = `The file ${name} does not match its marker: ${what} than the marker says.`;
  return sourceProblem(notAsMarked, name, message, cure);
}

/** Throws a Problem if the file changed since it was found or does not match the SHA-256 of its marker. */
export async function requireExpected(file: OpenedFile, signal: AbortSignal | undefined): Promise<void> {
  await requireUnchanged(file);
  const { sha256 } = file.expected;
  if (sha256 !== undefined && sha256 !== (await hashOf(streamOf(file, signal))))
    throw notAsExpected(file.name, "it has another SHA-256");
}

export async function requireUnchanged({ path, name, state }: OpenedFile): Promise<void> {
  const now = await stateOf(path);
  if (now.size === state.size && now.modified === state.modified && now.inode === state.inode) return;
  throw sourceProblem(
    "source.changed-while-read",
    name,
    `The file ${name} changed while crm-sync read it.`,
    "Let the export write to another name and rename the file at the end, or set `completeWhen`.",
  );
}

async function hashOf(bytes: AsyncIterable<Buffer>): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of bytes) hash.update(chunk);
  return hash.digest("hex");
}

function streamOf({ path, folder }: OpenedFile, signal: AbortSignal | undefined): ReadStream {
  const fd = openRegular(path, folder);
  return createReadStream(path, { fd, highWaterMark: chunkBytes, ...(signal === undefined ? {} : { signal }) });
}

async function* chunksOf(file: OpenedFile, signal: AbortSignal | undefined): AsyncGenerator<Buffer, void, void> {
  const bytes = streamOf(file, signal);
  // The iteration below throws the error of either stream; pipeline closes both.
  const stream = file.gzip ? pipeline(bytes, createGunzip({ chunkSize: chunkBytes }), () => undefined) : bytes;
  for await (const chunk of stream) if (Buffer.isBuffer(chunk)) yield chunk;
}

/** Bytes whose beginning, of at least this length where they are so many, is changed. */
export async function* withStart(
  chunks: AsyncIterable<Buffer>,
  length: number,
  change: (start: Buffer) => Buffer,
): AsyncGenerator<Buffer, void, void> {
  let start: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of chunks) {
    if (start !== undefined) start = Buffer.concat([start, chunk]);
    if (start !== undefined && start.length < length) continue;
    yield start === undefined ? chunk : change(start);
    start = undefined;
  }
  if (start !== undefined && start.length > 0) yield change(start);
}

/** The bytes without the mark of UTF-8. Throws a Problem where they are in another encoding than the file is declared in. */
function unmarked(start: Buffer, { name, encoding }: OpenedFile): Buffer {
  const found = utf16Of(start);
  if (found !== undefined && found !== new TextDecoder(encoding).encoding)
    throw sourceProblem(
      "source.wrong-encoding",
      `${name}:1`,
      `The file ${name} is configured as ${encoding}, but its beginning shows that it is ${found}.`,
      `Set \`encoding: ${found}\`.`,
    );
  return start[0] === 0xef && start[1] === 0xbb && start[2] === 0xbf ? start.subarray(3) : start;
}

async function* decoded(chunks: AsyncIterable<Buffer>, file: OpenedFile): AsyncGenerator<Buffer, void, void> {
  const decoder = new TextDecoder(file.encoding, { fatal: true });
  let line = 1;
  let offset = 0;
  const decode = (chunk: Buffer | undefined): Buffer => {
    try {
      const text = chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
      const bytes = Buffer.from(text, "utf8");
      line += newlinesIn(bytes);
      offset += chunk?.length ?? 0;
      return bytes;
    } catch (thrown) {
      throw sourceProblem(
        "source.wrong-encoding",
        `${file.name}:${line}`,
        `The file ${file.name} is not ${file.encoding}: it has other bytes after line ${line} (byte ${offset}).`,
        "Set `encoding` to the encoding of the file, or export the file again.",
        thrown,
      );
    }
  };
  for await (const chunk of chunks) {
    const bytes = decode(chunk);
    if (bytes.length > 0) yield bytes;
  }
  const rest = decode(undefined);
  if (rest.length > 0) yield rest;
}

/** The first character beyond ASCII. Both count from 1. */
interface FirstCharacter {
  line: number;
  byte: number;
}

/** Fewer characters may look like UTF-8 by chance, such as "É®" in a single-byte encoding. */
const fewest = 10;

/** First byte of an accented, Greek or Cyrillic letter, or of a character of three or more bytes: proof of UTF-8. */
function beginsUsual(byte: number): boolean {
  return (byte >= 0xc2 && byte <= 0xc5) || (byte >= 0xce && byte <= 0xd1) || byte >= 0xe0;
}

/** Finds UTF-8 declared as another encoding, which would change it silently: all beyond ASCII is valid UTF-8. */
export async function undeclaredUtf8(
  chunks: AsyncIterable<Buffer> | Iterable<Buffer>,
  encoding: string,
): Promise<FirstCharacter | undefined> {
  const { encoding: declared } = new TextDecoder(encoding);
  if (declared.startsWith("utf-")) return undefined;
  const watch = new Utf8Watch();
  const isSingleByte = /^(?:ibm866|iso-8859-|koi8-|macintosh|windows-|x-mac-)/u.test(declared);
  let first: FirstCharacter | undefined;
  let characters = 0;
  let isSure = false;
  let line = 1;
  let offset = 0;
  for await (const chunk of watch.watch(chunks)) {
    if (!watch.isUtf8) return undefined;
    if (!isAscii(chunk))
      for (const [at, value] of chunk.entries()) {
        if (value < 0xc0) continue;
        first ??= { line: line + newlinesIn(chunk.subarray(0, at)), byte: offset + at + 1 };
        characters += 1;
        isSure ||= isSingleByte && beginsUsual(value);
      }
    if (first === undefined) line += newlinesIn(chunk);
    offset += chunk.length;
  }
  return !watch.isUtf8 || (!isSure && characters < fewest) ? undefined : first;
}

function newlinesIn(bytes: Buffer): number {
  let count = 0;
  for (let position = bytes.indexOf(10); position !== -1; position = bytes.indexOf(10, position + 1)) count += 1;
  return count;
}

const encodings = ["utf-16le", "utf-16be"] as const;

/** One byte order must give this many times more ASCII characters than the other. */
const certain = 10;

/** By its mark, or by zero bytes, which no other text has. Undefined if unsure. */
export function utf16Of(beginning: Buffer): (typeof encodings)[number] | undefined {
  if (beginning.length < 2) return undefined;
  const mark = beginning.readUInt16BE();
  if (mark === 0xff_fe) return "utf-16le";
  if (mark === 0xfe_ff) return "utf-16be";
  if (!beginning.includes(0)) return undefined;
  const [little = 0, big = 0] = encodings.map((encoding) => {
    const text = new TextDecoder(encoding).decode(beginning.subarray(0, beginning.length - (beginning.length % 2)));
    return text.includes("\0") ? 0 : text.replaceAll(/[^\t\n\r -~]/gu, "").length;
  });
  if (little > certain * big) return "utf-16le";
  return big > certain * little ? "utf-16be" : undefined;
}

export class Utf8Watch {
  #rest: Buffer = Buffer.alloc(0);
  #last = 0;
  #hasNewline = false;
  isUtf8 = true;

  async *watch(chunks: AsyncIterable<Buffer> | Iterable<Buffer>): AsyncGenerator<Buffer, void, void> {
    for await (const chunk of chunks) {
      this.#check(chunk, false);
      this.#last = chunk.at(-1) ?? this.#last;
      this.#hasNewline ||= chunk.includes(10);
      yield chunk;
    }
    this.#check(Buffer.alloc(0), true);
  }

  get endsLine(): boolean {
    return this.#last === 10 || (this.#last === 13 && !this.#hasNewline);
  }

  #check(chunk: Buffer, last: boolean): void {
    if (!this.isUtf8) return;
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const end = last ? bytes.length : bytes.length - incompleteTail(bytes);
    this.isUtf8 = isUtf8(bytes.subarray(0, end));
    this.#rest = Buffer.from(bytes.subarray(end));
  }
}

const isContinuation = (byte: number): boolean => (byte & 0xc0) === 0x80;

function characterLength(byte: number): number {
  return byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
}

function incompleteTail(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (!isContinuation(byte)) return characterLength(byte) > back ? back : 0;
  }
  return 0;
}
