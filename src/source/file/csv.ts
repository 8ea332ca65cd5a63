import type { Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { parse, type CsvError, type Info } from "csv-parse";
import type { Problem } from "../../base/errors.ts";
import type { RecordLimits } from "../json.ts";
import { sourceProblem } from "../problems.ts";
import type { FormatReader, NamedBytes } from "../reader.ts";
import { Utf8Watch, withStart } from "./bytes.ts";
import type { CsvSettings } from "./file-source-settings.ts";
import { HeadedRows } from "./headed-rows.ts";

/** Bytes. No first line that names a delimiter is longer. */
const longestNaming = 64;

/** A first line such as `sep=;`, as spreadsheets write it: its delimiter, and its length in bytes. */
export function namedDelimiter(beginning: string): { delimiter: string; bytes: number } | undefined {
  const [line, delimiter] = /^"?sep=([^\r\n"]{1,8})"?(?:\r\n|\n|\r)/iu.exec(beginning) ?? [];
  return line === undefined || delimiter === undefined ? undefined : { delimiter, bytes: Buffer.byteLength(line) };
}

const mostBrokenQuotes = 1_000;

/**
 * The file is incomplete if a broken quote may hide rows, or if the last line has no end: that row is dropped, as half
 * a field looks like a whole one. Without one of `columns`, no row is yielded: the field would look empty.
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
  const parser = parse({
    delimiter: csv.delimiter,
    quote: csv.quote,
    ...(csv.escape === undefined ? {} : { escape: csv.escape }),
    relax_quotes: csv.relaxQuotes,
    relax_column_count: true,
    skip_empty_lines: true,
    skip_records_with_error: true,
    max_record_size: limits.maxBytes,
    // Takes rows as they are parsed: passing each through a stream costs as much as parsing it.
    on_record: (record: string[], info: Info) => reading.row(record, info),
    on_skip: (error) => reading.skipped(error),
  });
  // `passOn` and `finished` report errors.
  parser.on("error", () => {});
  try {
    for await (const chunk of watch.watch(reading.withoutNaming(file.bytes))) {
      await passOn(parser, chunk);
      while (reading.rows.items.length > batchSize) yield reading.rows.take(batchSize);
    }
    parser.resume().end();
    await finished(parser);
    while (reading.rows.items.length > batchSize) yield reading.rows.take(batchSize);
  } finally {
    parser.destroy();
  }
  if (csv.lastLineEnd === "required" && !watch.endsLine) reading.dropLast();
  if (!watch.isUtf8) {
    reading.problem ??= sourceProblem(
      "source.wrong-encoding",
      file.name,
      `The file ${file.name} is not UTF-8 everywhere; the rows where it is not are in quarantine.`,
      "Set `encoding` to the encoding of the file, or export the file again.",
    );
  }
  if (reading.rows.items.length > 0) yield reading.rows.take();
  return reading.problem;
}

async function passOn(parser: Writable, chunk: Buffer): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    parser.write(chunk, (error) => (error === null || error === undefined ? resolve() : reject(error)));
  });
}

class CsvReading {
  readonly #name: string;
  readonly #csv: CsvSettings;
  readonly #watch: Utf8Watch;
  readonly rows: HeadedRows;
  /** Last line of the last row in the parser's count, which counts a CRLF inside quotes twice. */
  #parserLine = 0;
  #doubleCounted = 0;
  #brokenQuotes = 0;
  problem: Problem | undefined;

  constructor(name: string, csv: CsvSettings, columns: readonly string[], watch: Utf8Watch) {
    this.#name = name;
    this.#csv = csv;
    this.#watch = watch;
    this.rows = new HeadedRows(name, { format: "csv", settings: csv, columns });
  }

  /** The bytes of the file behind a first line that names the delimiter. Throws where the settings have another one. */
  withoutNaming(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, void> {
    return withStart(chunks, longestNaming, (start) => this.#behindNaming(start));
  }

  #behindNaming(start: Buffer): Buffer {
    const named = namedDelimiter(start.toString("utf8", 0, longestNaming));
    if (named === undefined) return start;
    const { delimiter } = this.#csv;
    if (named.delimiter.replaceAll(delimiter, "") !== "")
      throw sourceProblem(
        "source.wrong-shape",
        `${this.#name}:1`,
        `The first line of ${this.#name} names the delimiter ${JSON.stringify(named.delimiter)}, but the ` +
          `configuration names ${JSON.stringify(delimiter)}.`,
        `Set \`csv.delimiter: ${JSON.stringify(named.delimiter)}\`.`,
      );
    // The skipped line is missing from the parser's count.
    this.#doubleCounted = -1;
    return start.subarray(named.bytes);
  }

  dropLast(): void {
    const last = this.rows.items.pop();
    if (last === undefined) return;
    const place = "bad" in last ? last.bad.place : last.row.place;
    this.problem ??= sourceProblem(
      "source.half-read",
      place,
      `The file ${this.#name} ends in the middle of a line: the row at ${place} has no line end.`,
      "Export it again; if its writer never ends the last line, set `csv.lastLineEnd: optional`.",
    );
  }

  /** Called by the parser for each row. Null: the parser does not keep the row. Throwing ends the file. */
  row(record: string[], info: Info): null {
    const { first, last } = this.#linesOf(record, info.lines);
    // Bytes that are not UTF-8 become the replacement character.
    const badBytes = !this.#watch.isUtf8 && record.some((field) => field.includes("\u{FFFD}"));
    const place = `${this.#name}:${first}`;
    if (this.rows.takesAsHeader(record, place)) return null;
    if (badBytes) this.rows.addBad(place, "wrong-encoding", "the row has bytes that are not UTF-8", record);
    else if (!this.rows.add(record, place) && last > first) this.problem ??= this.#swallowed(first, last);
    return null;
  }

  /** Called by the parser for a misplaced quote, perhaps several times per row. Throwing ends the file. */
  skipped(error: CsvError | undefined): undefined {
    const line = Number(error?.["lines"] ?? 0) - this.#doubleCounted;
    const code = error?.code ?? "";
    const place = `${this.#name}:${line}`;
    if (code === "CSV_MAX_RECORD_SIZE") {
      throw sourceProblem(
        "source.too-large",
        place,
        `A row of ${this.#name} is larger than the limit. Perhaps a quote near line ${this.#parserLine + 1} is ` +
          "never closed.",
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
    const previous = this.rows.items.at(-1);
    if (previous !== undefined && "bad" in previous && previous.bad.place === place) return undefined;
    this.rows.items.push({
      bad: { place, code: "broken-quote", message: "a quote is in the wrong place, or is never closed" },
    });
    return undefined;
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

  #swallowed(first: number, last: number): Problem {
    return sourceProblem(
      "source.half-read",
      `${this.#name}:${first}`,
      `A broken quote between the lines ${first} and ${last} of ${this.#name} may hide rows.`,
      "Correct the quotes in these lines.",
    );
  }
}
