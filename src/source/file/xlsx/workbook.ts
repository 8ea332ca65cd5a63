import { basename, dirname, posix } from "node:path";
import { crc32 } from "node:zlib";
import { SaxesParser } from "saxes";
import { fromFdPromise, type Entry, type ZipFile } from "yauzl";
import { messageOf, Problem } from "../../../base/errors.ts";
import { openRegular } from "../../../base/regular-file.ts";
import { sourceProblem } from "../../problems.ts";
import { stateOf, type OpenedFile } from "../bytes.ts";

const mostParts = 10_000;

/** Uncompressed; far more than a sheet with a million rows. */
const mostBytes = 4_000_000_000;

/** Highest compression ratio of a large part. Small parts may exceed it. */
const mostInflated = 1_000;
const smallPart = 10_000_000;

interface Archive {
  has(part: string): boolean;
  /** Uncompressed chunks. Throws a Problem if the checksum differs. */
  bytes(part: string): AsyncGenerator<Buffer, void, void>;
  close(): void;
}

/** Opens a workbook. Throws a Problem if it is not a ZIP archive, or would fill the machine. */
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
    throw thrown instanceof Problem ? thrown : damaged(file, thrown);
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
    throw thrown instanceof Problem ? thrown : damaged(file, thrown);
  }
  if (sum !== entry.crc32) throw damaged(file, new Error(`the checksum of ${part} differs`));
}

export function damaged({ name }: { name: string }, cause: unknown): Problem {
  return sourceProblem(
    "source.wrong-shape",
    name,
    `The file ${name} is no readable XLSX workbook: ${messageOf(cause)}.`,
    "Export it again, without a password; save an older form (.xls) as .xlsx.",
    cause,
  );
}

interface XmlEvents {
  open?: (name: string, attributes: Readonly<Record<string, string>>) => void;
  text?: (text: string) => void;
  close?: (name: string) => void;
}

/** Longest text or tag. The parser keeps each in memory. */
const longestPiece = 16_777_216;

/** Yields after each chunk. Throws a Problem for broken or truncated XML, a document type, or a too long piece. */
export async function* readXml(
  chunks: AsyncIterable<Buffer>,
  events: XmlEvents,
  file: OpenedFile,
): AsyncGenerator<void, void, void> {
  const parser = new SaxesParser();
  const decoder = new TextDecoder("utf-8", { fatal: true });
  parser.on("error", (error) => {
    throw damaged(file, error);
  });
  parser.on("doctype", () => {
    throw damaged(file, new Error("its XML declares a document type"));
  });
  let unfinished = 0;
  const ended = (): void => {
    unfinished = 0;
  };
  parser.on("opentag", ({ name, attributes }) => {
    ended();
    events.open?.(localName(name), attributes);
  });
  for (const kind of ["text", "cdata"] as const)
    parser.on(kind, (text) => {
      ended();
      events.text?.(text);
    });
  parser.on("closetag", ({ name }) => {
    ended();
    events.close?.(localName(name));
  });
  const decode = (chunk?: Buffer): string => {
    try {
      return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
    } catch (thrown) {
      throw damaged(file, thrown);
    }
  };
  for await (const chunk of chunks) {
    unfinished += chunk.length;
    parser.write(decode(chunk));
    if (unfinished > longestPiece) throw damaged(file, new Error("its XML has a text or a tag without end"));
    yield;
  }
  parser.write(decode()).close();
}

async function readWholeXml(chunks: AsyncIterable<Buffer>, events: XmlEvents, file: OpenedFile): Promise<void> {
  for await (const _ of readXml(chunks, events, file));
}

function localName(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}

function attributeOf(attributes: Readonly<Record<string, string>>, name: string): string | undefined {
  const found = Object.entries(attributes).find(([key]) => localName(key) === name);
  return found?.[1];
}

export interface Workbook {
  sheet: { name: string; part: string };
  texts: readonly string[];
  /** Number formats, by style index of a cell. */
  formats: readonly NumberFormat[];
  is1904: boolean;
}

export interface NumberFormat {
  id: number;
  code: string | undefined;
}

interface Sheet {
  name: string;
  id: string;
  isHidden: boolean;
}

interface Relation {
  type: string;
  target: string;
}

const mostCharacters = 200_000_000;

/** Opens the named sheet, or the only one. Throws a Problem that lists the sheets if the choice is unclear. */
export async function readWorkbook(archive: Archive, wanted: string | undefined, file: OpenedFile): Promise<Workbook> {
  const { sheets, relations, is1904 } = await contentsOf(archive, file);
  const { name, id } = chosenSheet(sheets, wanted, file);
  const of = (type: string): string | undefined =>
    [...relations.values()].find((relation) => relation.type.endsWith(`/${type}`))?.target;
  return {
    sheet: { name, part: relations.get(id)?.target ?? "" },
    texts: await textsOf(archive, of("sharedStrings"), file),
    formats: await formatsOf(archive, of("styles"), file),
    is1904,
  };
}

interface Contents {
  sheets: Sheet[];
  relations: ReadonlyMap<string, Relation>;
  is1904: boolean;
}

async function contentsOf(archive: Archive, file: OpenedFile): Promise<Contents> {
  const ofPackage = await relationsOf(archive, "", file);
  const book = [...ofPackage.values()].find(({ type }) => type.endsWith("/officeDocument"))?.target;
  if (book === undefined) throw damaged(file, new Error("it names no workbook"));
  const sheets: Sheet[] = [];
  let is1904 = false;
  const open = (name: string, attributes: Readonly<Record<string, string>>): void => {
    if (name === "workbookPr") is1904 = /^(?:1|true)$/u.test(attributes["date1904"] ?? "");
    if (name !== "sheet") return;
    const isHidden = (attributes["state"] ?? "visible") !== "visible";
    sheets.push({ name: attributes["name"] ?? "", id: attributeOf(attributes, "id") ?? "", isHidden });
  };
  await readWholeXml(archive.bytes(book), { open }, file);
  const relations = await relationsOf(archive, book, file);
  const isRead = ({ id }: Sheet): boolean => relations.get(id)?.type.endsWith("/worksheet") === true;
  return { sheets: sheets.filter(isRead), relations, is1904 };
}

function chosenSheet(sheets: readonly Sheet[], wanted: string | undefined, file: OpenedFile): Sheet {
  const visible = sheets.filter(({ isHidden }) => !isHidden);
  const found = wanted === undefined ? visible : sheets.filter(({ name }) => name === wanted);
  const [only, another] = found;
  if (only !== undefined && another === undefined) return only;
  const names = visible.map(({ name }) => JSON.stringify(name)).join(", ");
  const message =
    wanted === undefined
      ? `The workbook ${file.name} has ${found.length} sheets: ${names}.`
      : `The workbook ${file.name} has no sheet ${JSON.stringify(wanted)}; it has ${names}.`;
  throw sourceProblem("source.wrong-shape", file.name, message, "Name the sheet to read: `xlsx: { sheet: NAME }`.");
}

async function relationsOf(archive: Archive, of: string, file: OpenedFile): Promise<Map<string, Relation>> {
  const folder = posix.dirname(of);
  const part = posix.join(folder, "_rels", `${posix.basename(of)}.rels`);
  const found = new Map<string, Relation>();
  if (!archive.has(part)) return found;
  const open = (name: string, { Id = "", Type = "", Target = "" }: Readonly<Record<string, string>>): void => {
    if (name !== "Relationship") return;
    found.set(Id, { type: Type, target: Target.startsWith("/") ? Target.slice(1) : posix.join(folder, Target) });
  };
  await readWholeXml(archive.bytes(part), { open }, file);
  return found;
}

async function textsOf(archive: Archive, part: string | undefined, file: OpenedFile): Promise<string[]> {
  const texts: string[] = [];
  if (part === undefined) return texts;
  const reading = new TextReading();
  let characters = 0;
  const close = (name: string): void => {
    if (name !== "si") {
      reading.close(name);
      return;
    }
    const text = reading.take();
    characters += text.length;
    if (characters > mostCharacters)
      throw sourceProblem(
        "source.too-large",
        file.name,
        `The workbook ${file.name} has more than ${mostCharacters} characters of text.`,
        "Export it as CSV.",
      );
    texts.push(text);
  };
  await readWholeXml(
    archive.bytes(part),
    { open: (name) => reading.open(name), text: (text) => reading.text(text), close },
    file,
  );
  return texts;
}

/** The text of a cell, joined from its parts, without phonetic hints. */
export class TextReading {
  #parts: string[] = [];
  #isInText = false;
  #isPhonetic = false;

  open(name: string): void {
    if (name === "rPh") this.#isPhonetic = true;
    if (name === "t") this.#isInText = !this.#isPhonetic;
  }

  text(text: string): void {
    if (this.#isInText) this.#parts.push(text);
  }

  close(name: string): void {
    if (name === "rPh") this.#isPhonetic = false;
    if (name === "t") this.#isInText = false;
  }

  take(): string {
    const text = this.#parts.join("");
    this.#parts = [];
    return unescaped(text);
  }
}

/** Decodes escapes of characters that XML cannot hold, such as `_x000D_`. */
export function unescaped(text: string): string {
  if (!text.includes("_x")) return text;
  return text.replaceAll(/_x([0-9A-Fa-f]{4})_/gu, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

async function formatsOf(archive: Archive, part: string | undefined, file: OpenedFile): Promise<NumberFormat[]> {
  const formats: NumberFormat[] = [];
  if (part === undefined) return formats;
  const codes = new Map<number, string>();
  let isOfCells = false;
  const open = (name: string, attributes: Readonly<Record<string, string>>): void => {
    if (name === "numFmt") codes.set(Number(attributes["numFmtId"]), attributes["formatCode"] ?? "");
    if (name === "cellXfs") isOfCells = true;
    if (name !== "xf" || !isOfCells) return;
    const id = Number(attributes["numFmtId"] ?? 0);
    formats.push({ id, code: codes.get(id) });
  };
  const close = (name: string): void => {
    if (name === "cellXfs") isOfCells = false;
  };
  await readWholeXml(archive.bytes(part), { open, close }, file);
  return formats;
}

/** Names of the visible sheets. Throws a Problem if the file is not a workbook. */
export async function sheetsOf(path: string): Promise<string[]> {
  const name = basename(path);
  const state = await stateOf(path);
  const file = { path, folder: dirname(path), name, gzip: false, encoding: "utf-8", state, expected: {} };
  const archive = await openArchive(file);
  try {
    const { sheets } = await contentsOf(archive, file);
    return sheets.filter(({ isHidden }) => !isHidden).map(({ name: sheet }) => sheet);
  } finally {
    archive.close();
  }
}
