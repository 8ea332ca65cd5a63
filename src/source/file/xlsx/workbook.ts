import { posix } from "node:path";
import { sourceProblem } from "../../problems.ts";
import type { OpenedFile } from "../bytes.ts";
import { damaged } from "./archive.ts";
import type { Archive } from "./archive.ts";
import { formOf } from "./number-format.ts";
import type { NumberForm } from "./number-format.ts";
import { attributeOf, readWholeXml } from "./xml.ts";

/** A sheet, and what its cells refer to. */
export interface Workbook {
  sheet: { name: string; part: string };
  /** Texts that cells name by their number. */
  texts: readonly string[];
  /** By the number of the style of a cell, how its number is shown. */
  forms: readonly NumberForm[];
  /** Days are counted from 1904 on. */
  is1904: boolean;
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

/** Most characters of all texts of a workbook, which are held in memory. */
const mostCharacters = 200_000_000;

/** Opens the sheet that is named, or the only one. Throws a Problem that lists the sheets where nobody can choose. */
export async function readWorkbook(archive: Archive, wanted: string | undefined, file: OpenedFile): Promise<Workbook> {
  const { sheets, relations, is1904 } = await contentsOf(archive, file);
  const { name, id } = chosenSheet(sheets, wanted, file);
  const of = (type: string): string | undefined =>
    [...relations.values()].find((relation) => relation.type.endsWith(`/${type}`))?.target;
  return {
    sheet: { name, part: relations.get(id)?.target ?? "" },
    texts: await textsOf(archive, of("sharedStrings"), file),
    forms: await formsOf(archive, of("styles"), file),
    is1904,
  };
}

/** The names of the sheets that are not hidden. */
export async function visibleSheets(archive: Archive, file: OpenedFile): Promise<string[]> {
  const { sheets } = await contentsOf(archive, file);
  return sheets.filter(({ isHidden }) => !isHidden).map(({ name }) => name);
}

interface Contents {
  sheets: Sheet[];
  /** What the workbook refers to, by id. */
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

/** What a file of a workbook refers to, by id; targets are names in the archive. */
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

/** The text of a cell in its parts; how they are pronounced is no part of it. */
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

/** A text without the escapes of characters that XML cannot hold: `_x000D_`. */
export function unescaped(text: string): string {
  if (!text.includes("_x")) return text;
  return text.replaceAll(/_x([0-9A-Fa-f]{4})_/gu, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

/** How numbers are shown, by the number of a style. */
async function formsOf(archive: Archive, part: string | undefined, file: OpenedFile): Promise<NumberForm[]> {
  const forms: NumberForm[] = [];
  if (part === undefined) return forms;
  const codes = new Map<number, string>();
  let isOfCells = false;
  const open = (name: string, attributes: Readonly<Record<string, string>>): void => {
    if (name === "numFmt") codes.set(Number(attributes["numFmtId"]), attributes["formatCode"] ?? "");
    if (name === "cellXfs") isOfCells = true;
    if (name !== "xf" || !isOfCells) return;
    const id = Number(attributes["numFmtId"] ?? 0);
    forms.push(formOf(id, codes.get(id)));
  };
  const close = (name: string): void => {
    if (name === "cellXfs") isOfCells = false;
  };
  await readWholeXml(archive.bytes(part), { open, close }, file);
  return forms;
}
