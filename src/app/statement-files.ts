import type { FileChunk } from "../report/statement/writer.ts";

/** One of the files that a statement is written into. Its chunks are taken before the next file is asked for. */
export interface StatementFile {
  file: string;
  chunks: AsyncIterable<string | Buffer>;
}

/** The files of a statement, one after the other, as their chunks come. */
export async function* filesOf(chunks: AsyncIterable<FileChunk>): AsyncGenerator<StatementFile, void, void> {
  const from = chunks[Symbol.asyncIterator]();
  try {
    let next = await from.next();
    while (next.done !== true) {
      const { file } = next.value;
      async function* ofFile(): AsyncGenerator<string | Buffer, void, void> {
        while (next.done !== true && next.value.file === file) {
          const { chunk } = next.value;
          yield typeof chunk === "string" ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
          next = await from.next();
        }
      }
      const own = ofFile();
      yield { file, chunks: own };
      // What was not taken of it is passed over.
      while ((await own.next()).done !== true);
    }
  } finally {
    await from.return?.();
  }
}
