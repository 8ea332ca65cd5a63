import type { Json } from "../../base/canonical-json.ts";
import type { Problem } from "../../base/errors.ts";
import type { BadRecord } from "../reader.ts";

/** A record of a file before its key is known. */
export interface FileRow {
  place: string;
  value: Json;
}

/** What the reader of one format yields, in the order of the file. */
export type FileItem = { row: FileRow } | { bad: BadRecord };

/** How one file ended. A problem that is thrown means the same and ends the file where it is. */
export interface FileEnd {
  problem: Problem | undefined;
}

export type FormatReader = AsyncGenerator<FileItem[], FileEnd, void>;

/** Text in UTF-8, and what people call where it stands. */
export interface NamedBytes {
  name: string;
  bytes: AsyncIterable<Buffer>;
}
