import { isUtf8 } from "node:buffer";

/** Passes bytes on and notes where they are no UTF-8, so that the record around such a place can be named. */
export class Utf8Watch {
  #offset = 0;
  #rest: Buffer = Buffer.alloc(0);
  /** Offsets of invalid bytes, ascending; those before `#claimed` belong to records that were yielded. */
  readonly #invalid: number[] = [];
  #claimed = 0;
  /** Invalid places found so far. */
  count = 0;

  async *watch(chunks: AsyncIterable<Buffer> | Iterable<Buffer>): AsyncGenerator<Buffer, void, void> {
    for await (const chunk of chunks) {
      this.#check(chunk, false);
      yield chunk;
    }
    this.#check(Buffer.alloc(0), true);
  }

  #check(chunk: Buffer, last: boolean): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const end = last ? bytes.length : bytes.length - incompleteTail(bytes);
    const whole = bytes.subarray(0, end);
    if (!isUtf8(whole)) this.#locate(whole, this.#offset);
    this.#offset += end;
    this.#rest = Buffer.from(bytes.subarray(end));
  }

  /**
   * Halves the piece until little is left, then goes through it character by character. A piece is cut only where a
   * character begins.
   */
  #locate(bytes: Buffer, offset: number): void {
    if (bytes.length <= 64) {
      for (let position = 0; position < bytes.length;) {
        const length = characterLength(bytes[position] ?? 0);
        if (isUtf8(bytes.subarray(position, position + length))) position += length;
        else {
          this.#invalid.push(offset + position);
          this.count += 1;
          position += 1;
        }
      }
      return;
    }
    let middle = bytes.length >> 1;
    for (let back = 0; back < 3 && isContinuation(bytes[middle] ?? 0); back += 1) middle -= 1;
    const left = bytes.subarray(0, middle);
    const right = bytes.subarray(middle);
    if (!isUtf8(left)) this.#locate(left, offset);
    if (!isUtf8(right)) this.#locate(right, offset + middle);
  }

  /** Whether there is an invalid place before `offset` that no earlier call has claimed. */
  claimBefore(offset: number): boolean {
    const first = this.#claimed;
    while ((this.#invalid[this.#claimed] ?? Number.POSITIVE_INFINITY) < offset) this.#claimed += 1;
    const claimed = this.#claimed > first;
    if (this.#claimed === this.#invalid.length && claimed) {
      this.#invalid.length = 0;
      this.#claimed = 0;
    }
    return claimed;
  }
}

const isContinuation = (byte: number): boolean => (byte & 0xc0) === 0x80;

/** Bytes of the character that begins with this byte. */
function characterLength(byte: number): number {
  return byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
}

/** Bytes at the end that may be the beginning of a character. */
function incompleteTail(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (!isContinuation(byte)) return characterLength(byte) > back ? back : 0;
  }
  return 0;
}
