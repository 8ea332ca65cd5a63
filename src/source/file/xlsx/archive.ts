import { crc32 } from "node:zlib";
import { fromFdPromise } from "yauzl";
import type { Entry, ZipFile } from "yauzl";
import type { Problem } from "../../../base/errors.ts";
import { messageOf, Problem as ProblemClass } from "../../../base/errors.ts";
import { openRegular } from "../../../base/regular-file.ts";
import { sourceProblem } from "../../problems.ts";
import type { OpenedFile } from "../bytes.ts";

/** Most files in the archive of a workbook. */
const mostParts = 10_000;

/** Largest size of all files of an archive, uncompressed: far more than a sheet with a million rows has. */
const mostBytes = 4_000_000_000;

/** So many times its own size no file of a workbook has, uncompressed; small ones may. */
const mostInflated = 1_000;
const smallPart = 10_000_000;

/** The files inside a workbook, by their names. */
export interface Archive {
  has(part: string): boolean;
  /** Uncompressed, in pieces. Throws a Problem where they are not the bytes that were written. */
  bytes(part: string): AsyncGenerator<Buffer, void, void>;
  close(): void;
}

/** Opens a workbook. Throws a Problem for what is no ZIP archive, and for one that would fill the machine. */
export async function openArchive(file: OpenedFile): Promise<Archive> {
  const zip = await openZip(file);
  try {
    const parts = await partsOf(zip, file);
    return {
      has: (part) => parts.has(part),
      bytes: (part) => bytesOf(zip, parts.get(part), { part, file }),
      close: () => zip.close(),
    };
  } catch (thrown) {
    zip.close();
    throw thrown instanceof ProblemClass ? thrown : damaged(file, thrown);
  }
}

async function openZip(file: OpenedFile): Promise<ZipFile> {
  const descriptor = openRegular(file.path, file.folder);
  return await fromFdPromise(descriptor, { autoClose: false, lazyEntries: true, strictFileNames: true }).catch(
    (thrown: unknown) => {
      throw damaged(file, thrown);
    },
  );
}

async function partsOf(zip: ZipFile, file: OpenedFile): Promise<Map<string, Entry>> {
  const parts = new Map<string, Entry>();
  let total = 0;
  for await (const entry of zip.eachEntry()) {
    total += entry.uncompressedSize;
    const isInflated =
      entry.uncompressedSize > smallPart && entry.uncompressedSize > entry.compressedSize * mostInflated;
    if (parts.size >= mostParts || total > mostBytes || isInflated)
      throw sourceProblem(
        "source.too-large",
        file.name,
        `The workbook ${file.name} is far larger inside than any real one, and was not opened.`,
        "Export it again, or export it as CSV.",
      );
    parts.set(entry.fileName, entry);
  }
  return parts;
}

async function* bytesOf(
  zip: ZipFile,
  entry: Entry | undefined,
  { part, file }: { part: string; file: OpenedFile },
): AsyncGenerator<Buffer, void, void> {
  if (entry === undefined) throw damaged(file, new Error(`it has no ${part}`));
  let sum = 0;
  try {
    const stream = await zip.openReadStreamPromise(entry);
    for await (const chunk of stream) {
      if (!Buffer.isBuffer(chunk)) continue;
      sum = crc32(chunk, sum);
      yield chunk;
    }
  } catch (thrown) {
    throw thrown instanceof ProblemClass ? thrown : damaged(file, thrown);
  }
  if (sum !== entry.crc32) throw damaged(file, new Error(`the checksum of ${part} differs`));
}

/** The file is no workbook, or a broken one. */
export function damaged({ name }: { name: string }, cause: unknown): Problem {
  return sourceProblem(
    "source.wrong-shape",
    name,
    `The file ${name} is no readable XLSX workbook: ${messageOf(cause)}.`,
    "Export it again, without a password; save an older form (.xls) as .xlsx.",
    cause,
  );
}
