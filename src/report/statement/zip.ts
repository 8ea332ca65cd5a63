import { constants, crc32, deflateRawSync } from "node:zlib";
import { Problem } from "../../base/errors.ts";

const maxBytes = 0xffff_ffff;
const blockCharacters = 512 * 1024;

/**
 * What both headers of a file begin with: version 2.0, sizes after the content, deflate, and 1 January 1980, so that
 * the same content has the same bytes whenever it is written.
 */
const common = Buffer.from("14000800080000002100", "hex");

/** A zip archive as it grows. Text is compressed in blocks; no more than a block is in memory. */
export class Zip {
  #offset = 0;
  #text = "";
  #open = { name: Buffer.alloc(0), begin: 0, crc: 0, packed: 0, size: 0 };
  readonly #list: Buffer[] = [];

  /** Begins a file. */
  *begin(path: string): Iterable<Uint8Array> {
    const name = Buffer.from(path);
    this.#open = { name, begin: this.#offset, crc: 0, packed: 0, size: 0 };
    yield this.#counted(u32(0x0403_4b50), common, u32(0, 0, 0), u16(name.length, 0), name);
  }

  /** Adds text to the file. */
  *write(text: string): Iterable<Uint8Array> {
    this.#text += text;
    if (this.#text.length >= blockCharacters) yield this.#block(constants.Z_SYNC_FLUSH);
  }

  /** Ends the file. */
  *end(): Iterable<Uint8Array> {
    yield this.#block(constants.Z_FINISH);
    const { name, begin, crc, packed, size } = this.#open;
    yield this.#counted(u32(0x0807_4b50, crc, packed, size));
    const fields = [u32(crc, packed, size), u16(name.length, 0, 0, 0, 0), u32(0, begin)];
    this.#list.push(Buffer.concat([u32(0x0201_4b50), u16(20), common, ...fields, name]));
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
    const list = this.#counted(...this.#list);
    const count = this.#list.length;
    yield list;
    yield this.#counted(u32(0x0605_4b50), u16(0, 0, count, count), u32(list.length, begin), u16(0));
  }

  #block(finishFlush: number): Uint8Array {
    const text = Buffer.from(this.#text);
    this.#text = "";
    const bytes = deflateRawSync(text, { level: 6, finishFlush });
    this.#open.crc = crc32(text, this.#open.crc);
    this.#open.size += text.length;
    this.#open.packed += bytes.length;
    requireRoom(this.#open.size);
    return this.#counted(bytes);
  }

  #counted(...parts: readonly Uint8Array[]): Uint8Array {
    const bytes = Buffer.concat(parts);
    this.#offset += bytes.length;
    requireRoom(this.#offset);
    return bytes;
  }
}

function u16(...values: number[]): Uint8Array {
  return new Uint8Array(Uint16Array.from(values).buffer);
}

function u32(...values: number[]): Uint8Array {
  return new Uint8Array(Uint32Array.from(values).buffer);
}

function requireRoom(bytes: number): void {
  if (bytes < maxBytes) return;
  throw new Problem({
    code: "statement.too-large",
    message: "the workbook would be larger than 4 GiB, which no spreadsheet program can open",
    cure: "make the statement of a shorter period, or as CSV",
  });
}
