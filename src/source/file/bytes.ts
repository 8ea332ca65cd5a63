import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import type { ReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import type { Problem } from "../../base/errors.ts";
import { openRegular } from "../../base/regular-file.ts";
import { sourceProblem } from "../problems.ts";
import { notAsExpected } from "./marker.ts";
import type { Expected } from "./marker.ts";
import { newlinesIn, undeclaredUtf8 } from "./undeclared-utf8.ts";
import type { FirstCharacter } from "./undeclared-utf8.ts";
import { utf16Of } from "./utf-16.ts";

/** A file that is there, as it was when the reading began. */
export interface OpenedFile {
  /** Absolute path. */
  path: string;
  /** The source's directory, out of which no link leads. */
  folder: string;
  /** The name people know it by: as configured, relative to the source's directory. */
  name: string;
  gzip: boolean;
  encoding: string;
  state: FileState;
  expected: Expected;
}

const chunkBytes = 262_144;

/** What tells one state of a file from another. */
export interface FileState {
  size: number;
  modified: number;
  inode: number;
}

export async function stateOf(path: string): Promise<FileState> {
  const { size, mtimeMs, ino } = await stat(path);
  return { size, modified: mtimeMs, inode: ino };
}

/**
 * The bytes of a file as UTF-8 without a byte order mark. Throws a Problem before the first byte where they are not
 * those that the marker of the file expects or are UTF-8 under another name, at the end when the file was changed
 * meanwhile, and in the middle for a byte that the declared encoding does not have; bytes of a UTF-8 file are passed on
 * unchecked.
 */
export async function* readUtf8(file: OpenedFile, signal: AbortSignal | undefined): AsyncGenerator<Buffer, void, void> {
  await requireExpected(file, signal);
  const undeclared = await undeclaredUtf8(chunksOf(file, signal), file.encoding);
  if (undeclared !== undefined) throw declaredWrong(file, undeclared);
  const isUtf8 = new TextDecoder(file.encoding).encoding === "utf-8";
  const bytes = checkedStart(file, signal);
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

/** Throws a Problem if the file was changed since it was found, or its bytes are not those that its marker expects. */
export async function requireExpected(file: OpenedFile, signal: AbortSignal | undefined): Promise<void> {
  await requireUnchanged(file);
  const { sha256 } = file.expected;
  if (sha256 !== undefined && sha256 !== (await hashOf(streamOf(file, signal))))
    throw notAsExpected(file.name, "it has another SHA-256");
}

/** Throws a Problem if the file was changed since it was found. */
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

/** The bytes without the mark of UTF-8. Throws a Problem where they are in another encoding than the file is declared in. */
async function* checkedStart(file: OpenedFile, signal: AbortSignal | undefined): AsyncGenerator<Buffer, void, void> {
  let start = Buffer.alloc(0);
  let started = false;
  for await (const chunk of chunksOf(file, signal)) {
    if (started) {
      yield chunk;
      continue;
    }
    start = Buffer.concat([start, chunk]);
    if (start.length < 4) continue;
    started = true;
    yield unmarked(start, file);
  }
  if (!started && start.length > 0) yield unmarked(start, file);
}

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
