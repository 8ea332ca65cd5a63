import type { RecordLimits } from "../../json.ts";
import { sourceProblem } from "../../problems.ts";
import type { FormatReader } from "../../reader.ts";
import { requireExpected, requireUnchanged, type OpenedFile } from "../bytes.ts";
import type { XlsxSettings } from "../file-source-settings.ts";
import { HeadedRows } from "../headed-rows.ts";
import {
  damaged,
  openArchive,
  readWorkbook,
  readXml,
  TextReading,
  unescaped,
  type NumberFormat,
  type Workbook,
} from "./workbook.ts";

interface SheetOptions {
  columns: readonly string[];
  limits: RecordLimits;
  batchSize: number;
  signal: AbortSignal | undefined;
}

const mostColumns = 16_384;

/** Bad: a row with a cell error, no formula result, or a value beyond the header. Without all `columns`: no rows. */
export async function* readXlsx(file: OpenedFile, settings: XlsxSettings, options: SheetOptions): FormatReader {
  const { signal, batchSize } = options;
  await requireExpected(file, signal);
  const archive = await openArchive(file);
  try {
    const book = await readWorkbook(archive, settings.sheet, file);
    const sheet = new SheetReading(file, book, settings, options);
    for await (const _ of readXml(archive.bytes(book.sheet.part), sheet, file)) {
      signal?.throwIfAborted();
      while (sheet.rows.items.length > batchSize) yield sheet.rows.take(batchSize);
    }
    sheet.end();
    if (sheet.rows.items.length > 0) yield sheet.rows.take();
  } finally {
    archive.close();
  }
  await requireUnchanged(file);
  return undefined;
}

class SheetReading {
  readonly #file: OpenedFile;
  readonly #book: Workbook;
  readonly #forms: readonly NumberForm[];
  readonly #skipRows: number;
  readonly #maxCharacters: number;
  readonly rows: HeadedRows;
  #isInData = false;
  #row = 0;
  #fields: string[] = [];
  #characters = 0;
  #fault: string | undefined;
  #cell: Cell | undefined;
  #column = 0;
  #isInValue = false;
  readonly #inline = new TextReading();

  constructor(file: OpenedFile, book: Workbook, settings: XlsxSettings, { columns, limits }: SheetOptions) {
    this.#file = file;
    this.#book = book;
    this.#forms = book.formats.map(formOf);
    this.#skipRows = settings.skipRows;
    this.#maxCharacters = limits.maxBytes;
    this.rows = new HeadedRows(file.name, { format: "xlsx", settings, columns });
  }

  readonly open = (name: string, attributes: Readonly<Record<string, string>>): void => {
    if (name === "sheetData") this.#isInData = true;
    if (!this.#isInData) return;
    if (name === "row") {
      const row = Number(attributes["r"] ?? this.#row + 1);
      if (!(row > this.#row)) throw damaged(this.#file, new Error(`its row ${this.#row} is followed by another order`));
      this.#row = row;
      this.#column = 0;
      this.#characters = 0;
    } else if (name === "c") {
      this.#column = columnOf(attributes["r"]) ?? this.#column + 1;
      if (this.#column > mostColumns) throw damaged(this.#file, new Error("it has a cell beyond the last column"));
      this.#cell = { type: attributes["t"] ?? "n", style: Number(attributes["s"] ?? 0), value: "", hasFormula: false };
    } else if (name === "v") this.#isInValue = true;
    else if (name === "f" && this.#cell !== undefined) this.#cell.hasFormula = true;
    else this.#inline.open(name);
  };

  readonly text = (text: string): void => {
    if (this.#cell === undefined) return;
    this.#characters += text.length;
    if (this.#characters > this.#maxCharacters)
      throw sourceProblem(
        "source.too-large",
        this.#place(),
        `A row of ${this.#file.name} is larger than the limit.`,
        "Correct the row, or raise `limits.maxBytes`.",
      );
    if (this.#isInValue) this.#cell.value += text;
    else this.#inline.text(text);
  };

  readonly close = (name: string): void => {
    if (name === "sheetData") this.#isInData = false;
    else if (name === "v") this.#isInValue = false;
    else if (name === "c") this.#endCell();
    else if (name === "row") this.#endRow();
    else this.#inline.close(name);
  };

  end(): void {
    if (this.rows.header !== undefined) return;
    throw sourceProblem(
      "source.wrong-shape",
      this.#file.name,
      `The sheet ${JSON.stringify(this.#book.sheet.name)} of ${this.#file.name} has no header row.`,
      "Export it again, or correct `xlsx.sheet` and `xlsx.skipRows`.",
    );
  }

  #endCell(): void {
    const cell = this.#cell;
    this.#cell = undefined;
    if (cell === undefined) return;
    const inline = this.#inline.take();
    const { text, fault } = this.#textOf(cell, inline);
    if (fault !== undefined) this.#fault ??= `${lettersOf(this.#column)}${this.#row} ${fault}`;
    while (this.#fields.length < this.#column) this.#fields.push("");
    this.#fields[this.#column - 1] = text;
  }

  #textOf({ type, style, value, hasFormula }: Cell, inline: string): { text: string; fault?: string } {
    if (type === "inlineStr") return { text: inline };
    if (type === "e") return { text: value, fault: "holds the error of a formula" };
    if (value === "" && hasFormula && type !== "str")
      return { text: "", fault: "holds a formula without its result: save the workbook in a spreadsheet program" };
    if (value === "") return { text: "" };
    if (type === "s") {
      const text = this.#book.texts[Number(value)];
      return text === undefined ? { text: "", fault: "names a text that the workbook does not have" } : { text };
    }
    if (type === "b") return { text: value === "1" || value === "true" ? "TRUE" : "FALSE" };
    if (type !== "n") return { text: unescaped(value) };
    const form = this.#forms[style] ?? { kind: "number" };
    const text = shownNumber(value, form, this.#book.is1904);
    return text === undefined ? { text: value, fault: "holds a number that is no date" } : { text };
  }

  #endRow(): void {
    const fields = this.#fields;
    const fault = this.#fault;
    this.#fields = [];
    this.#fault = undefined;
    if (this.#row <= this.#skipRows || (fault === undefined && fields.every((field) => field.trim() === ""))) return;
    while (fields.at(-1) === "") fields.pop();
    const { header } = this.rows;
    if (header === undefined && this.rows.takesAsHeader(fields.map(columnName), this.#place())) return;
    while (fields.length < (header?.length ?? 0)) fields.push("");
    if (this.rows.takesAsHeader(fields, this.#place())) return;
    if (fault !== undefined) this.rows.addBad(this.#place(), "bad-cell", `the cell ${fault}`, fields);
    else this.rows.add(fields, this.#place());
  }

  #place(): string {
    return `${this.#file.name}[${this.#book.sheet.name}]:${this.#row}`;
  }
}

interface Cell {
  type: string;
  style: number;
  value: string;
  hasFormula: boolean;
}

/** A column without a name is named by its letters, so that names differ. */
function columnName(name: string, index: number): string {
  return name.trim() === "" ? `(column ${lettersOf(index + 1)})` : name;
}

function columnOf(reference: string | undefined): number | undefined {
  const [letters] = /^[A-Z]{1,3}/u.exec(reference ?? "") ?? [];
  if (letters === undefined) return undefined;
  return Buffer.from(letters).reduce((sum, letter) => sum * 26 + letter - 64, 0);
}

function lettersOf(column: number): string {
  const rest = Math.floor((column - 1) / 26);
  return `${rest > 0 ? lettersOf(rest) : ""}${String.fromCodePoint(65 + ((column - 1) % 26))}`;
}

type NumberForm = { kind: "number" } | { kind: "padded"; digits: number } | { kind: "date" | "dateTime" | "time" };

/** Date formats that every workbook has (ECMA-376, 18.8.30). */
function builtIn(id: number): NumberForm | undefined {
  if ((id >= 14 && id <= 17) || (id >= 27 && id <= 31) || id === 36 || (id >= 50 && id <= 58)) return { kind: "date" };
  if (id === 22) return { kind: "dateTime" };
  return (id >= 18 && id <= 21) || (id >= 32 && id <= 35) || id === 45 || id === 47 ? { kind: "time" } : undefined;
}

function formOf({ id, code }: NumberFormat): NumberForm {
  if (code === undefined) return builtIn(id) ?? { kind: "number" };
  const shown =
    code
      .replaceAll(/"[^"]*"|\\.|[_*]./gsu, "")
      // Hours in brackets are a duration. Other brackets are a colour, a condition or a language.
      .replaceAll(/\[(?!(?:h+|m+|s+)\])[^\]]*\]/giu, "")
      .split(";", 1)[0]
      ?.replaceAll(/general|am\/pm|a\/p/giu, "") ?? "";
  if (/^0{2,}$/u.test(shown)) return { kind: "padded", digits: shown.length };
  if (/\[(?:h+|m+|s+)\]/iu.test(shown)) return { kind: "number" };
  const hasTime = /[hs]/iu.test(shown);
  const hasDate = /[ydge]/iu.test(shown.replaceAll(/e[+-]/giu, "")) || (/m/iu.test(shown) && !hasTime);
  if (hasDate) return { kind: hasTime ? "dateTime" : "date" };
  return { kind: hasTime ? "time" : "number" };
}

/** Days from 1900-01-00 or 1904-01-01 to 1970-01-01. */
const epoch = { 1900: 25_569, 1904: 24_107 };
/** 9999-12-31. */
const lastDay = { 1900: 2_958_465, 1904: 2_957_003 };
const secondsOfDay = 86_400;

/** The text of a number as shown; dates as ISO 8601. Undefined if it cannot be a date. */
function shownNumber(written: string, form: NumberForm, is1904: boolean): string | undefined {
  const number = Number(written);
  if (written.trim() === "" || !Number.isFinite(number)) return undefined;
  if (form.kind === "number") return plainNumber(written);
  if (form.kind === "padded") {
    const plain = plainNumber(written);
    return /^\d+$/u.test(plain) ? plain.padStart(form.digits, "0") : plain;
  }
  const seconds = Math.round(number * secondsOfDay);
  const day = form.kind === "date" ? Math.floor(number) : Math.floor(seconds / secondsOfDay);
  const time = new Date((seconds - day * secondsOfDay) * 1_000);
  const isTimeOnly = form.kind === "time" && day === 0;
  if (isTimeOnly) return time.toISOString().slice(11, 19);
  const system = is1904 ? 1904 : 1900;
  // The 1900 system has a day that never existed: 1900-02-29, day 60.
  if (day < (is1904 ? 0 : 1) || day > lastDay[system] || (!is1904 && day === 60)) return undefined;
  const days = day - epoch[system] + (!is1904 && day < 60 ? 1 : 0);
  const date = new Date(days * secondsOfDay * 1_000).toISOString().slice(0, 10);
  return form.kind === "date" ? date : `${date}T${time.toISOString().slice(11, 19)}`;
}

/** Digits that a spreadsheet keeps. More digits are binary noise. */
const keptDigits = 15;

/** Without exponent and binary noise: `1.5E+3` is `1500`, `0.30000000000000004` is `0.3`. */
function plainNumber(written: string): string {
  const [, sign = "", whole = "", part = "", power = "0"] =
    /^\s*([+-]?)(\d*)\.?(\d*)(?:e([+-]?\d+))?\s*$/iu.exec(written) ?? [];
  const digits = `${whole}${part}`.replace(/^0+/u, "");
  const isNoisy = part !== "" && digits.replace(/0+$/u, "").length > keptDigits && whole.length <= keptDigits;
  if (isNoisy) return plainNumber(String(Number(Number(written).toPrecision(keptDigits))));
  const point = whole.length + Number(power);
  const all = `${whole}${part}`;
  const before = (point <= 0 ? "" : all.slice(0, point).padEnd(point, "0")).replace(/^0+/u, "") || "0";
  const behind = (point < 0 ? "0".repeat(-point) + all : all.slice(point)).replace(/0+$/u, "");
  const plain = behind === "" ? before : `${before}.${behind}`;
  return sign === "-" && plain !== "0" ? `-${plain}` : plain;
}
