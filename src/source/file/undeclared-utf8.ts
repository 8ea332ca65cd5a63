import { isAscii } from "node:buffer";
import { Utf8Watch } from "./utf8.ts";

/** Where the first character beyond ASCII is; both count from 1. */
export interface FirstCharacter {
  line: number;
  byte: number;
}

/**
 * Bytes may look like UTF-8 by chance: pairs of a Chinese, Japanese or Korean encoding, or "É®" of one of single bytes,
 * which is a phonetic letter in UTF-8. So many never do.
 */
const fewest = 10;

/** A byte that begins an accented, Greek or Cyrillic letter, or what takes three bytes: one of these is no chance. */
function beginsUsual(byte: number): boolean {
  return (byte >= 0xc2 && byte <= 0xc5) || (byte >= 0xce && byte <= 0xd1) || byte >= 0xe0;
}

/**
 * Where UTF-8 begins in bytes that are declared in another encoding, if they are UTF-8: something is beyond ASCII, and
 * all of it is valid UTF-8. Text in an encoding of single bytes is hardly ever so, and the wrong encoding would make other
 * characters of it without any error. Reads no further than the first byte that shows the declaration to be right.
 */
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
    if (watch.count > 0) return undefined;
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
  return watch.count > 0 || (!isSure && characters < fewest) ? undefined : first;
}

export function newlinesIn(bytes: Buffer): number {
  let count = 0;
  for (let position = bytes.indexOf(10); position !== -1; position = bytes.indexOf(10, position + 1)) count += 1;
  return count;
}
