import { finished } from "node:stream/promises";
import { parse } from "csv-parse";
import type { Writable } from "node:stream";
import type { CsvError, Info } from "csv-parse";
import type { JsonObject } from "../../base/canonical-json.ts";
import type { Problem } from "../../base/errors.ts";
import { keptTextOf } from "../limits.ts";
import type { RecordLimits } from "../limits.ts";
import { sourceProblem } from "../problems.ts";
import type { FileItem, FormatReader, NamedBytes } from "./row.ts";
import type { CsvSettings } from "./file-source-settings.ts";
import { Utf8Watch } from "./utf8.ts";

/** Most columns that are named to a person who looks for one. */
const mostNamed = 20;

/** Longer than any first line that names a delimiter. Bytes. */
const longestNaming = 64;

/** A first line such as `sep=;`, as spreadsheets write and read it: the delimiter that it names, and its length in bytes. */
export function namedDelimiter(beginning: string): { delimiter: string; bytes: number } | undefined {
  const [line, delimiter] = /^"?sep=([^\r\n"]{1,8})"?(?:\r\n|\n|\r)/iu.exec(beginning) ?? [];
  return line === undefined || delimiter === undefined ? undefined : { delimiter, bytes: Buffer.byteLength(line) };
}

/** After so many broken quotes the file is not what it is declared to be. */
const mostBrokenQuotes = 1_000;

/**
 * The rows of a CSV file as objects of texts, named by the header. Rows with another number of fields, with bytes that
 * are no UTF-8 or with a quote in the wrong place are bad records; where a broken quote may have swallowed rows, the
 * file also counts as not read whole. So it does when its last line does not end: half a field looks like a whole one,
 * so that row is kept back. Without one of `columns`, which somebody reads, no row is yielded: a field that is gone
 * would look empty.
 */
export async function* readCsv(
  file: NamedBytes,
  csv: CsvSettings,
  columns: readonly string[],
  limits: RecordLimits,
  batchSize: number,
): FormatReader {
  const watch = new Utf8Watch();
  const reading = new CsvReading(file.name, csv, columns, watch);
  const end = new LastByte();
  const parser = parse({
    delimiter: csv.delimiter,
    quote: csv.quote,
    ...(csv.escape === undefined ? {} : { escape: csv.escape }),
    relax_quotes: csv.relaxQuotes,
    relax_column_count: true,
    skip_empty_lines: true,
    skip_records_with_error: true,
    max_record_size: limits.maxBytes,
    // Rows are taken as they are parsed: handing each through a stream costs as much as parsing it.
    on_record: (record: string[], info: Info) => reading.row(record, info),
    on_skip: (error) => reading.skipped(error),
  });
  // Whoever hands it a chunk, or waits for its end, is told.
  parser.on("error", () => {});
  try {
    for await (const chunk of end.watch(watch.watch(reading.withoutNaming(file.bytes)))) {
      await passOn(parser, chunk);
      while (reading.items.length > batchSize) yield reading.take(batchSize);
    }
    parser.resume().end();
    await finished(parser);
    while (reading.items.length > batchSize) yield reading.take(batchSize);
  } finally {
    parser.destroy();
  }
  if (csv.lastLineEnd === "required" && !end.endsLine) reading.dropLast();
  if (watch.count > 0) {
    reading.problem ??= sourceProblem(
      "source.wrong-encoding",
      file.name,
      `The file ${file.name} has bytes that are no UTF-8, in ` +
        `${watch.count} places; the rows around them are quarantined.`,
      "Set `encoding` to the encoding of the file, or export it again.",
    );
  }
  if (reading.items.length > 0) yield reading.take();
  return { problem: reading.problem };
}

/** Resolves once the chunk is parsed. */
async function passOn(parser: Writable, chunk: Buffer): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    parser.write(chunk, (error) => (error === null || error === undefined ? resolve() : reject(error)));
  });
}

/** Passes bytes on and knows whether the last of them ends a line, as the lines of the file end. */
class LastByte {
  #last = 0;
  #hasNewline = false;

  async *watch(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, void> {
    for await (const chunk of chunks) {
      this.#last = chunk.at(-1) ?? this.#last;
      this.#hasNewline ||= chunk.includes(10);
      yield chunk;
    }
  }

  get endsLine(): boolean {
    return this.#last === 10 || (this.#last === 13 && !this.#hasNewline);
  }
}

/** Turns parsed rows into items; knows lines, header and what went wrong. */
class CsvReading {
  readonly #name: string;
  readonly #csv: CsvSettings;
  readonly #columns: readonly string[];
  readonly #watch: Utf8Watch;
  #header: readonly string[] | undefined;
  #surplusAt = -1;
  /** No row was seen yet of a file whose columns are declared. */
  #isFirst = false;
  /** Last line of the last row, as the parser counts it, which takes a CRLF inside quotes for two lines. */
  #parserLine = 0;
  #doubleCounted = 0;
  #brokenQuotes = 0;
  items: FileItem[] = [];
  problem: Problem | undefined;

  constructor(name: string, csv: CsvSettings, columns: readonly string[], watch: Utf8Watch) {
    this.#name = name;
    this.#csv = csv;
    this.#columns = columns;
    this.#watch = watch;
    if (csv.header === undefined) return;
    this.#takeHeader(csv.header, 0);
    this.#isFirst = true;
  }

  /** The bytes of the file behind a first line that names the delimiter. Throws where the settings have another one. */
  async *withoutNaming(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, void> {
    let start: Buffer | undefined = Buffer.alloc(0);
    for await (const chunk of chunks) {
      if (start !== undefined) start = Buffer.concat([start, chunk]);
      if (start !== undefined && start.length < longestNaming) continue;
      yield start === undefined ? chunk : this.#behindNaming(start);
      start = undefined;
    }
    if (start !== undefined && start.length > 0) yield this.#behindNaming(start);
  }

  #behindNaming(start: Buffer): Buffer {
    const named = namedDelimiter(start.toString("utf8", 0, longestNaming));
    if (named === undefined) return start;
    const { delimiter } = this.#csv;
    if (named.delimiter.replaceAll(delimiter, "") !== "")
      throw sourceProblem(
        "source.wrong-shape",
        `${this.#name}:1`,
        `The first line of ${this.#name} says that ${JSON.stringify(named.delimiter)} stands between fields, ` +
          `and the configuration that ${JSON.stringify(delimiter)} does.`,
        `Set \`csv.delimiter: ${JSON.stringify(named.delimiter)}\`.`,
      );
    // The parser counts one line too few.
    this.#doubleCounted = -1;
    return start.subarray(named.bytes);
  }

  /** Hands the first `most` items out. */
  take(most = this.items.length): FileItem[] {
    return this.items.splice(0, most);
  }

  /** The last row may be half a row. */
  dropLast(): void {
    const last = this.items.pop();
    if (last === undefined) return;
    const place = "bad" in last ? last.bad.place : last.row.place;
    this.problem ??= sourceProblem(
      "source.half-read",
      place,
      `The file ${this.#name} ends in the middle of a line: the row at ${place} has no line end.`,
      "Export it again; where its writer never ends the last line, set `csv.lastLineEnd: optional`.",
    );
  }

  /** Called by the parser for each row; null: it has nothing more to do with it. Throwing ends the file. */
  row(record: string[], info: Info): null {
    const { first, last } = this.#linesOf(record, info.lines);
    const badBytes = this.#watch.claimBefore(info.bytes);
    if (this.#header === undefined) {
      this.#takeHeader(record, first);
      return null;
    }
    if (this.#isFirst) {
      this.#isFirst = false;
      if (this.#isHeader(record, this.#header, first)) return null;
    }
    const place = `${this.#name}:${first}`;
    const fields = this.#withoutSurplus(record, this.#header.length);
    if (badBytes) {
      this.#bad(place, "wrong-encoding", "the row has bytes that are not UTF-8", record);
    } else if (fields.length !== this.#header.length) {
      this.#bad(
        place,
        "column-count",
        `the row has ${record.length} fields, but the header has ${this.#header.length}`,
        record,
      );
      if (last > first) this.problem ??= this.#swallowed(first, last);
    } else {
      const value: JsonObject = {};
      for (let index = 0; index < fields.length; index += 1) value[this.#header[index] ?? ""] = fields[index];
      this.items.push({ row: { place, value } });
    }
    return null;
  }

  /** Called by the parser for a quote in the wrong place, perhaps several times for one row. Throwing ends the file. */
  skipped(error: CsvError | undefined): undefined {
    const line = Number(error?.["lines"] ?? 0) - this.#doubleCounted;
    const code = error?.code ?? "";
    const place = `${this.#name}:${line}`;
    if (code === "CSV_MAX_RECORD_SIZE") {
      throw sourceProblem(
        "source.too-large",
        place,
        `A row of ${this.#name} is larger than the limit, perhaps because ` +
          `a quote near line ${this.#parserLine + 1} is never closed.`,
        "Correct the row, or raise `limits.maxBytes`.",
      );
    }
    this.#brokenQuotes += 1;
    if (code === "CSV_QUOTE_NOT_CLOSED") {
      this.problem ??= sourceProblem(
        "source.half-read",
        place,
        `The file ${this.#name} ends inside a quoted field; rows may be missing.`,
        "Export the file again, or correct the quote.",
      );
    } else if (code === "CSV_INVALID_CLOSING_QUOTE")
      this.problem ??= this.#swallowed(this.#parserLine - this.#doubleCounted + 1, line);
    if (this.#brokenQuotes > mostBrokenQuotes) {
      throw sourceProblem(
        "source.wrong-shape",
        place,
        `The file ${this.#name} has more than ${mostBrokenQuotes} quotes in the wrong place.`,
        "Correct `csv.quote` and `csv.delimiter`, or set `csv.relaxQuotes`.",
      );
    }
    const previous = this.items.at(-1);
    if (previous !== undefined && "bad" in previous && previous.bad.place === place) return undefined;
    this.items.push({
      bad: { place, code: "broken-quote", message: "a quote is in the wrong place, or is never closed" },
    });
    return undefined;
  }

  /** Whether the first row of a file whose columns are declared is a header. Throws where it looks so, and nobody says. */
  #isHeader(record: readonly string[], declared: readonly string[], line: number): boolean {
    const { firstRow } = this.#csv;
    if (firstRow !== undefined || !record.some((field, index) => field === declared[index]))
      return firstRow === "header";
    throw sourceProblem(
      "source.wrong-shape",
      `${this.#name}:${line}`,
      `The first row of ${this.#name} has names of \`csv.header\` in it, as a header has.`,
      "Set `csv.firstRow: header`, or `csv.firstRow: record` where it is a record.",
    );
  }

  #takeHeader(header: readonly string[], line: number): void {
    const at = header.findIndex((name, index) => header.indexOf(name) !== index);
    const repeated = header[at];
    const { surplusInto } = this.#csv;
    const shown = this.#isTold(header) ? header : undefined;
    const wrong =
      repeated !== undefined
        ? shown === undefined
          ? `has one name for the columns ${header.indexOf(repeated) + 1} and ${at + 1}`
          : `has the column ${JSON.stringify(repeated)} twice`
        : header.includes("__proto__")
          ? "has a column __proto__, which no record can have"
          : surplusInto !== undefined && !header.includes(surplusInto)
            ? `has no column ${JSON.stringify(surplusInto)} to take the surplus`
            : undefined;
    if (wrong !== undefined) {
      const named = JSON.stringify({ header: shown === undefined ? ["…"] : ownNames(shown), firstRow: "header" });
      throw sourceProblem(
        "source.wrong-shape",
        `${this.#name}:${line}`,
        `The header of ${this.#name} ${wrong}.`,
        `Correct the file, or name all of its columns: \`csv: ${named}\`.`,
      );
    }
    const missing = this.#columns.filter((name) => !header.includes(name) && !this.#csv.optionalColumns.includes(name));
    if (missing.length > 0) throw this.#lacking(missing, header, line);
    this.#header = header;
    this.#surplusAt = surplusInto === undefined ? -1 : header.indexOf(surplusInto);
  }

  /** Whether a header may be told: where no name is known, it may be a record, and one with a line end may be many. */
  #isTold(header: readonly string[]): boolean {
    return header.some((name) => this.#columns.includes(name)) && !header.some((name) => /[\r\n]/u.test(name));
  }

  #lacking(missing: readonly string[], header: readonly string[], line: number): Problem {
    const names = missing.map((name) => JSON.stringify(name)).join(", ");
    const delimiter = [";", "\t", "|", ","].find((mark) => mark !== this.#csv.delimiter && header[0]?.includes(mark));
    const unread = this.#isTold(header)
      ? header.filter((name) => !this.#columns.includes(name)).slice(0, mostNamed)
      : [];
    const perhaps =
      header.length === 1 && delimiter !== undefined
        ? `; it has one column with ${JSON.stringify(delimiter)} in it, perhaps the delimiter`
        : header.some((name) => name.includes("\uFFFD"))
          ? "; it has names in another encoding than `encoding` says"
          : unread.length > 0
            ? `; it has ${unread.map((name) => JSON.stringify(name)).join(", ")}, which nothing reads`
            : "";
    return sourceProblem(
      "source.wrong-shape",
      `${this.#name}:${line}`,
      `The file ${this.#name} has no column ${names}, which the configuration reads${perhaps}.`,
      "Export it in its earlier form, or correct the mapping and `csv`; " +
        "list a column that may be missing in `csv.optionalColumns`.",
    );
  }

  #withoutSurplus(record: string[], columns: number): string[] {
    const surplus = record.length - columns;
    if (this.#surplusAt === -1 || surplus <= 0) return record;
    const joined = record.slice(this.#surplusAt, this.#surplusAt + surplus + 1).join(this.#csv.delimiter);
    return record.toSpliced(this.#surplusAt, surplus + 1, joined);
  }

  #linesOf(record: readonly string[], parserLine: number): { first: number; last: number } {
    let inside = 0;
    if (parserLine > this.#parserLine + 1) {
      for (const field of record) {
        const crlf = field.split("\r\n").length - 1;
        this.#doubleCounted += crlf;
        inside += field.split(/\r\n|\r|\n/).length - 1;
      }
    }
    this.#parserLine = parserLine;
    const last = parserLine - this.#doubleCounted;
    return { first: last - inside, last };
  }

  #bad(place: string, code: string, message: string, record: readonly string[]): void {
    this.items.push({ bad: { place, code, message, text: keptTextOf(record.join(this.#csv.delimiter)) } });
  }

  #swallowed(first: number, last: number): Problem {
    return sourceProblem(
      "source.half-read",
      `${this.#name}:${first}`,
      `A broken quote between the lines ${first} and ${last} of ${this.#name} may have swallowed rows.`,
      "Correct the quotes in these lines.",
    );
  }
}

/** The names of columns, each of its own: the second `email` is `email_2`. */
function ownNames(header: readonly string[]): string[] {
  return header.map((name, index) => {
    const before = header.slice(0, index).filter((other) => other === name).length;
    return before === 0 && name !== "__proto__" ? name : `${name}_${before + 1}`;
  });
}
