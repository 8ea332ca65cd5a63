import { sourceProblem } from "../../problems.ts";
import type { RecordLimits } from "../../limits.ts";
import { requireExpected, requireUnchanged } from "../bytes.ts";
import type { OpenedFile } from "../bytes.ts";
import type { XlsxSettings } from "../file-source-settings.ts";
import { HeadedRows } from "../headed-rows.ts";
import type { FormatReader } from "../row.ts";
import { damaged, openArchive } from "./archive.ts";
import { shownNumber } from "./number-format.ts";
import { readWorkbook, TextReading, unescaped } from "./workbook.ts";
import type { Workbook } from "./workbook.ts";
import { readXml } from "./xml.ts";

interface SheetOptions {
  /** Columns without which the sheet is not read, since somebody reads them. */
  columns: readonly string[];
  limits: RecordLimits;
  batchSize: number;
  signal: AbortSignal | undefined;
}

/** Columns of the widest sheet. */
const mostColumns = 16_384;

/**
 * The rows of a sheet as objects of texts, named by its header: numbers with all digits, dates as ISO 8601, what a
 * formula came to. A row with an error in a cell, a formula without result or a value beyond the header is a bad one.
 * Without one of `columns` no row is yielded. Throws a Problem for what is no whole workbook.
 */
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
  return { problem: undefined };
}

/** Takes the elements of a sheet and makes rows of them. */
class SheetReading {
  readonly #file: OpenedFile;
  readonly #book: Workbook;
  readonly #skipRows: number;
  readonly #maxCharacters: number;
  readonly rows: HeadedRows;
  #isInData = false;
  #row = 0;
  #fields: string[] = [];
  #characters = 0;
  /** What is wrong with a cell of the row. */
  #fault: string | undefined;
  #cell: Cell | undefined;
  #column = 0;
  #isInValue = false;
  readonly #inline = new TextReading();

  constructor(file: OpenedFile, book: Workbook, settings: XlsxSettings, { columns, limits }: SheetOptions) {
    this.#file = file;
    this.#book = book;
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

  /** The sheet was read to its end. Throws a Problem where it has no header. */
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
    const form = this.#book.forms[style] ?? { kind: "number" };
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

/** A column without a name in the header is called by its letters, so that two of them differ. */
function columnName(name: string, index: number): string {
  return name.trim() === "" ? `(column ${lettersOf(index + 1)})` : name;
}

/** The number of the column of a reference such as `AB12`, from 1. */
function columnOf(reference: string | undefined): number | undefined {
  const [letters] = /^[A-Z]{1,3}/u.exec(reference ?? "") ?? [];
  if (letters === undefined) return undefined;
  return Buffer.from(letters).reduce((sum, letter) => sum * 26 + letter - 64, 0);
}

function lettersOf(column: number): string {
  const rest = Math.floor((column - 1) / 26);
  return `${rest > 0 ? lettersOf(rest) : ""}${String.fromCodePoint(65 + ((column - 1) % 26))}`;
}
