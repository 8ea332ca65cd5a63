import { inflateRawSync } from "node:zlib";

/** The files of a zip whose sizes its list at the end says. */
export function unzipped(zip: Buffer): Map<string, string> {
  const end = zip.length - 22;
  const files = new Map<string, string>();
  let at = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left -= 1) {
    const nameLength = zip.readUInt16LE(at + 28);
    const name = zip.toString("utf8", at + 46, at + 46 + nameLength);
    const begin = zip.readUInt32LE(at + 42);
    const data = begin + 30 + zip.readUInt16LE(begin + 26);
    files.set(name, inflateRawSync(zip.subarray(data, data + zip.readUInt32LE(at + 20))).toString());
    at += 46 + nameLength;
  }
  return files;
}
