import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import { sourceProblem } from "../problems.ts";

/** A file that is there, as it was when the reading began. */
export interface OpenedFile {
  /** Absolute path. */
  path: string;
  /** The name people know it by: as configured, relative to the source's directory. */
  name: string;
  gzip: boolean;
  encoding: string;
}

const chunkBytes = 262_144;

/** What tells one state of a file from another. */
interface FileState {
  size: number;
  modified: number;
  inode: number;
}

async function stateOf(path: string): Promise<FileState> {
  const { size, mtimeMs, ino } = await stat(path);
  return { size, modified: mtimeMs, inode: ino };
}

/**
 * The bytes of a file as UTF-8 without a byte order mark. Throws a Problem at the end when the file was changed
 * meanwhile, and in the middle for a byte that the declared encoding does not have; bytes of a UTF-8 file are passed on
 * unchecked.
 */
export async function* readUtf8(file: OpenedFile, signal: AbortSignal | undefined): AsyncGenerator<Buffer, void, void> {
  const before = await stateOf(file.path);
  const isUtf8 = new TextDecoder(file.encoding).encoding === "utf-8";
  yield* isUtf8 ? withoutMark(chunksOf(file, signal), file.name) : decoded(chunksOf(file, signal), file);
  const after = await stateOf(file.path);
  if (before.size !== after.size || before.modified !== after.modified || before.inode !== after.inode) {
    throw sourceProblem(
      "source.changed-while-read",
      file.name,
      `The file ${file.name} was changed while it was read.`,
      "Write to another name and rename the file when it is finished, or set `completeWhen`.",
    );
  }
}

async function* chunksOf(file: OpenedFile, signal: AbortSignal | undefined): AsyncGenerator<Buffer, void, void> {
  const bytes = createReadStream(file.path, { highWaterMark: chunkBytes, ...(signal === undefined ? {} : { signal }) });
  // The iteration below throws the error of either stream; pipeline closes both.
  const stream = file.gzip ? pipeline(bytes, createGunzip({ chunkSize: chunkBytes }), () => undefined) : bytes;
  for await (const chunk of stream) if (Buffer.isBuffer(chunk)) yield chunk;
}

async function* withoutMark(chunks: AsyncIterable<Buffer>, name: string): AsyncGenerator<Buffer, void, void> {
  let start = Buffer.alloc(0);
  let started = false;
  for await (const chunk of chunks) {
    if (started) {
      yield chunk;
      continue;
    }
    start = Buffer.concat([start, chunk]);
    if (start.length < 3) continue;
    started = true;
    yield unmarked(start, name);
  }
  if (!started && start.length > 0) yield unmarked(start, name);
}

function unmarked(start: Buffer, name: string): Buffer {
  if (start[0] === 0xef && start[1] === 0xbb && start[2] === 0xbf) return start.subarray(3);
  const mark =
    start[0] === 0xff && start[1] === 0xfe
      ? "utf-16le"
      : start[0] === 0xfe && start[1] === 0xff
        ? "utf-16be"
        : undefined;
  if (mark === undefined) return start;
  throw sourceProblem(
    "source.wrong-encoding",
    `${name}:1`,
    `The file ${name} begins with the mark of ${mark} and is declared as utf-8.`,
    `Set \`encoding: ${mark}\`.`,
  );
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
        `The file ${file.name} has bytes that ${file.encoding} does not have, after line ${line} (byte ${offset}).`,
        "Set `encoding` to what the file is written in, or export it again.",
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

function newlinesIn(bytes: Buffer): number {
  let count = 0;
  for (let position = bytes.indexOf(10); position !== -1; position = bytes.indexOf(10, position + 1)) count += 1;
  return count;
}
