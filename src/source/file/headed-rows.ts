import type { JsonObject } from "../../base/canonical-json.ts";
import type { Problem } from "../../base/errors.ts";
import { keptTextOf } from "../json.ts";
import { sourceProblem } from "../problems.ts";
import type { FileItem } from "../reader.ts";
import type { CsvSettings } from "./file-source-settings.ts";

const mostNamed = 20;

type HeaderSettings = Pick<CsvSettings, "header" | "firstRow" | "optionalColumns"> &
  Partial<Pick<CsvSettings, "surplusInto" | "delimiter">>;

interface Headed {
  format: "csv" | "xlsx";
  settings: HeaderSettings;
  /** Columns that the mapping reads. Without them the file is not read. */
  columns: readonly string[];
}

export class HeadedRows {
  readonly #name: string;
  readonly #format: Headed["format"];
  readonly #settings: HeaderSettings;
  readonly #columns: readonly string[];
  #header: readonly string[] | undefined;
  #surplusAt = -1;
  /** The columns are declared in the settings, and no row was seen yet. */
  #isFirst = false;
  items: FileItem[] = [];

  constructor(name: string, { format, settings, columns }: Headed) {
    this.#name = name;
    this.#format = format;
    this.#settings = settings;
    this.#columns = columns;
    if (settings.header === undefined) return;
    this.#takeHeader(settings.header, `${name}:0`);
    this.#isFirst = true;
  }

  get header(): readonly string[] | undefined {
    return this.#header;
  }

  take(most = this.items.length): FileItem[] {
    return this.items.splice(0, most);
  }

  /** Whether a row is the header. Throws if the header is unusable. */
  takesAsHeader(record: readonly string[], place: string): boolean {
    if (this.#header === undefined) {
      this.#takeHeader(record, place);
      return true;
    }
    if (!this.#isFirst) return false;
    this.#isFirst = false;
    return this.#isHeader(record, this.#header, place);
  }

  /** Returns false and adds a bad row if the number of fields differs from the header. */
  add(record: string[], place: string): boolean {
    const header = this.#header ?? [];
    const fields = this.#withoutSurplus(record, header.length);
    if (fields.length !== header.length) {
      const message = `the row has ${record.length} fields, but the header has ${header.length}`;
      this.addBad(place, "column-count", message, record);
      return false;
    }
    const value: JsonObject = {};
    for (let index = 0; index < fields.length; index += 1) value[header[index] ?? ""] = fields[index];
    this.items.push({ row: { place, value } });
    return true;
  }

  addBad(place: string, code: string, message: string, record: readonly string[]): void {
    this.items.push({ bad: { place, code, message, text: keptTextOf(record.join(this.#settings.delimiter ?? ",")) } });
  }

  /** Throws if the first row looks like a header and `firstRow` is not set. */
  #isHeader(record: readonly string[], declared: readonly string[], place: string): boolean {
    const { firstRow } = this.#settings;
    if (firstRow !== undefined || !record.some((field, index) => field === declared[index]))
      return firstRow === "header";
    throw sourceProblem(
      "source.wrong-shape",
      place,
      `The first row of ${this.#name} looks like a header: it contains names of \`${this.#format}.header\`.`,
      `Set \`${this.#format}.firstRow: header\`, or \`${this.#format}.firstRow: record\` if the row is a record.`,
    );
  }

  #takeHeader(header: readonly string[], place: string): void {
    const at = header.findIndex((name, index) => header.indexOf(name) !== index);
    const repeated = header[at];
    const { surplusInto } = this.#settings;
    const shown = this.#isTold(header) ? header : undefined;
    const wrong =
      repeated !== undefined
        ? shown === undefined
          ? `has one name for the columns ${header.indexOf(repeated) + 1} and ${at + 1}`
          : `has the column ${JSON.stringify(repeated)} twice`
        : header.includes("__proto__")
          ? "has a column __proto__, which no record can have"
          : surplusInto !== undefined && !header.includes(surplusInto)
            ? `has no column ${JSON.stringify(surplusInto)}, which \`surplusInto\` names`
            : undefined;
    if (wrong !== undefined) {
      const named = JSON.stringify({ header: shown === undefined ? ["…"] : ownNames(shown), firstRow: "header" });
      throw sourceProblem(
        "source.wrong-shape",
        place,
        `The header of ${this.#name} ${wrong}.`,
        `Correct the file, or name all of its columns: \`${this.#format}: ${named}\`.`,
      );
    }
    const missing = this.#columns.filter(
      (name) => !header.includes(name) && !this.#settings.optionalColumns.includes(name),
    );
    if (missing.length > 0) throw this.#lacking(missing, header, place);
    this.#header = header;
    this.#surplusAt = surplusInto === undefined ? -1 : header.indexOf(surplusInto);
  }

  /** Messages may not show a header that may be a record: without a known name, or with a line end. */
  #isTold(header: readonly string[]): boolean {
    return header.some((name) => this.#columns.includes(name)) && !header.some((name) => /[\r\n]/u.test(name));
  }

  #lacking(missing: readonly string[], header: readonly string[], place: string): Problem {
    const names = missing.map((name) => JSON.stringify(name)).join(", ");
    const delimiter = [";", "\t", "|", ","].find(
      (mark) => mark !== this.#settings.delimiter && header[0]?.includes(mark),
    );
    const unread = this.#isTold(header)
      ? header.filter((name) => !this.#columns.includes(name)).slice(0, mostNamed)
      : [];
    const perhaps =
      this.#format === "csv" && header.length === 1 && delimiter !== undefined
        ? `; it has one column with ${JSON.stringify(delimiter)} in it, perhaps the delimiter`
        : header.some((name) => name.includes("\uFFFD"))
          ? "; its names have another encoding than `encoding` says"
          : unread.length > 0
            ? `; it has ${unread.map((name) => JSON.stringify(name)).join(", ")}, which nothing reads`
            : "";
    return sourceProblem(
      "source.wrong-shape",
      place,
      `The file ${this.#name} has no column ${names}, which the configuration reads${perhaps}.`,
      `Export the file with this column, or correct the mapping and \`${this.#format}\`. ` +
        `If the column may be missing, list it in \`${this.#format}.optionalColumns\`.`,
    );
  }

  #withoutSurplus(record: string[], columns: number): string[] {
    const surplus = record.length - columns;
    if (this.#surplusAt === -1 || surplus <= 0) return record;
    const joined = record.slice(this.#surplusAt, this.#surplusAt + surplus + 1).join(this.#settings.delimiter);
    return record.toSpliced(this.#surplusAt, surplus + 1, joined);
  }
}

/** Makes names unique: the second `email` becomes `email_2`. */
function ownNames(header: readonly string[]): string[] {
  const taken = new Set([...header, "__proto__"]);
  return header.map((name, index) => {
    if (name !== "__proto__" && header.indexOf(name) === index) return name;
    let n = 2;
    while (taken.has(`${name}_${n}`)) n += 1;
    taken.add(`${name}_${n}`);
    return `${name}_${n}`;
  });
}
