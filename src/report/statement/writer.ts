import type { PartTotals } from "./totals.ts";
import type { Part, Row, StatementHeader, StatementShape } from "./shape.ts";

/**
 * A piece of one of the files that a statement is written into. `file` is empty for the file that was asked for, the
 * name of a part, or what is put behind the file's name, which begins with a hyphen; `fileNameOf` makes a path of it.
 * Files come one after the other: the first chunk of a file begins it, and a chunk of another file ends it.
 */
export interface FileChunk {
  file: string;
  chunk: string | Uint8Array;
}

/** What is written: a statement, what it was made from, and the name of its file without a folder. */
export interface OpenStatement {
  shape: StatementShape;
  header: StatementHeader;
  name: string;
}

/** The totals of each part, by its name. */
export type StatementTotals = ReadonlyMap<string, PartTotals>;

/**
 * How a format writes a statement. Its methods are called in this order: `begin`; for each part, in the order of the
 * shape, `beginPart`, `rows` in batches as they come, `endPart`; `end`. Rows are checked before they are handed over.
 */
export interface StatementWriter {
  begin(): Iterable<FileChunk>;
  beginPart(part: Part): Iterable<FileChunk>;
  rows(part: Part, rows: readonly Row[]): Iterable<FileChunk>;
  endPart(part: Part, totals: PartTotals): Iterable<FileChunk>;
  end(totals: StatementTotals): Iterable<FileChunk>;
}

/** Makes the writer of one format. */
export type MakeWriter = (statement: OpenStatement) => StatementWriter;

/** The path of one of the files: `orders.csv` and `lines` give `orders.lines.csv`. */
export function fileNameOf(path: string, file: string): string {
  if (file === "") return path;
  if (file.startsWith("-")) return path + file;
  const [, before = path, ending = ""] = /^(.*[^/\\])(\.[^./\\]+)$/su.exec(path) ?? [];
  return `${before}.${file}${ending}`;
}

/** The file in which a part stands, where each has one of its own: the first is the file that was asked for. */
export function fileOfPart(shape: StatementShape, part: Part): string {
  return part.name === shape.parts[0].name ? "" : part.name;
}
