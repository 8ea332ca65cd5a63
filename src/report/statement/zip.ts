import { constants, crc32, deflateRawSync } from "node:zlib";
import { Problem } from "../../base/errors.ts";

/** 1 January 1980, the first day of a zip's calendar: the same content has the same bytes whenever it is written. */
const firstDay = 0x21;
const most = 0xffff_ffff;
const charactersInBlock = 512 * 1024;

interface Entry {
  name: Buffer;
  begin: number;
  crc: number;
  compressed: number;
  size: number;
}

/**
 * A zip archive as it grows, with what is in it in the order in which it comes. Text is compressed in blocks, each by
 * itself; no more than a block is held. Sizes stand behind each file, as a zip has it whose files are not known before.
 */
export class Zip {
  #offset = 0;
  #entries: Entry[] = [];
  #open: Entry | undefined;
  #pending: string[] = [];
  #pendingLength = 0;

  /** Begins a file. */
  *begin(path: string): Iterable<Uint8Array> {
    const name = Buffer.from(path);
    this.#open = { name, begin: this.#offset, crc: 0, compressed: 0, size: 0 };
    const header = Buffer.alloc(30);
    header.writeUInt32LE(0x0403_4b50, 0);
    writeMethod(header, 4);
    header.writeUInt16LE(name.length, 26);
    yield this.#passed(Buffer.concat([header, name]));
  }

  /** Adds text to the file. */
  *write(text: string): Iterable<Uint8Array> {
    this.#pending.push(text);
    this.#pendingLength += text.length;
    if (this.#pendingLength >= charactersInBlock) yield* this.#block(constants.Z_SYNC_FLUSH);
  }

  /** Bytes of text that the open file has so far, but for what is not compressed yet. */
  get size(): number {
    return this.#open?.size ?? 0;
  }

  /** Ends the file. */
  *end(): Iterable<Uint8Array> {
    yield* this.#block(constants.Z_FINISH);
    const entry = this.#open;
    if (entry === undefined) return;
    requireRoom(Math.max(entry.size, entry.compressed));
    const sizes = Buffer.alloc(16);
    sizes.writeUInt32LE(0x0807_4b50, 0);
    writeSizes(sizes, 4, entry);
    yield this.#passed(sizes);
    this.#entries.push(entry);
    this.#open = undefined;
  }

  /** A whole file. */
  *file(path: string, text: string): Iterable<Uint8Array> {
    yield* this.begin(path);
    yield* this.write(text);
    yield* this.end();
  }

  /** Ends the archive with the list of its files. */
  *finish(): Iterable<Uint8Array> {
    const begin = this.#offset;
    const list = Buffer.concat(this.#entries.map(listed));
    requireRoom(begin + list.length);
    const end = Buffer.alloc(22);
    end.writeUInt32LE(0x0605_4b50, 0);
    end.writeUInt16LE(this.#entries.length, 8);
    end.writeUInt16LE(this.#entries.length, 10);
    end.writeUInt32LE(list.length, 12);
    end.writeUInt32LE(begin, 16);
    yield this.#passed(list);
    yield this.#passed(end);
  }

  *#block(finishFlush: number): Iterable<Uint8Array> {
    const entry = this.#open;
    if (entry === undefined) return;
    const text = Buffer.from(this.#pending.join(""));
    this.#pending = [];
    this.#pendingLength = 0;
    const bytes = deflateRawSync(text, { level: 6, finishFlush });
    entry.crc = crc32(text, entry.crc);
    entry.size += text.length;
    entry.compressed += bytes.length;
    yield this.#passed(bytes);
  }

  #passed(bytes: Uint8Array): Uint8Array {
    this.#offset += bytes.length;
    return bytes;
  }
}

/** Version, flags (sizes stand behind the file), deflate, time and day. */
function writeMethod(header: Buffer, at: number): void {
  header.writeUInt16LE(20, at);
  header.writeUInt16LE(0x0008, at + 2);
  header.writeUInt16LE(8, at + 4);
  header.writeUInt16LE(0, at + 6);
  header.writeUInt16LE(firstDay, at + 8);
}

function writeSizes(header: Buffer, at: number, { crc, compressed, size }: Entry): void {
  header.writeUInt32LE(crc, at);
  header.writeUInt32LE(compressed, at + 4);
  header.writeUInt32LE(size, at + 8);
}

function listed(entry: Entry): Buffer {
  const header = Buffer.alloc(46);
  header.writeUInt32LE(0x0201_4b50, 0);
  header.writeUInt16LE(20, 4);
  writeMethod(header, 6);
  writeSizes(header, 16, entry);
  header.writeUInt16LE(entry.name.length, 28);
  header.writeUInt32LE(entry.begin, 42);
  return Buffer.concat([header, entry.name]);
}

function requireRoom(bytes: number): void {
  if (bytes < most) return;
  throw new Problem({
    code: "statement.too-large",
    message: "the workbook would be larger than the 4 GiB that a spreadsheet program can open",
    cure: "make the statement of a shorter period, or as CSV",
  });
}
