import { createHash } from "node:crypto";
import { chmodSync, createReadStream, existsSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { exitCodes, Problem } from "../base/errors.ts";
import { makePrivateFolder } from "../base/private-files.ts";
import type { ReadingGroup } from "../base/private-files.ts";
import { writeWhole } from "./written-files.ts";
import type { Chunks } from "./written-files.ts";

const unnamedStart = "unnamed-";

/** Files that are never changed, in a folder of their own, each under the SHA-256 of its bytes. */
export class FrozenFiles {
  readonly #folder: string;
  readonly #group: ReadingGroup | undefined;

  constructor(folder: string, group: ReadingGroup | undefined) {
    this.#folder = folder;
    this.#group = group;
  }

  /** Takes away what a program left that ended while it wrote. Nobody else may be writing. */
  tidy(): void {
    if (!existsSync(this.#folder)) return;
    for (const name of readdirSync(this.#folder))
      if (name.startsWith(unnamedStart)) rmSync(join(this.#folder, name), { force: true });
  }

  /** Keeps what is rendered. The same bytes are kept once. */
  async keep(chunks: Chunks): Promise<{ sha256: string; bytes: number }> {
    makePrivateFolder(this.#folder, this.#group);
    const unnamed = join(this.#folder, `${unnamedStart}${process.pid}`);
    const digest = createHash("sha256");
    let bytes = 0;
    await writeWhole(
      unnamed,
      counted(chunks, (chunk) => ((bytes += chunk.length), digest.update(chunk))),
      {
        what: "books",
        group: this.#group,
      },
    );
    const sha256 = digest.digest("hex");
    const path = this.#pathOf(sha256);
    chmodSync(unnamed, statSync(unnamed).mode & 0o440);
    // Also where it is there: what is there may not be what its name says.
    renameSync(unnamed, path);
    return { sha256, bytes };
  }

  /** The bytes of a file. Throws a Problem where it is gone, or is not what was kept. */
  async read({ name, sha256 }: { name: string; sha256: string }): Promise<AsyncIterable<Buffer>> {
    const path = this.#pathOf(sha256);
    if (!existsSync(path))
      throw new Problem({
        code: "books.file-gone",
        message: `${name} was frozen under ${sha256}, and there is no such file in ${this.#folder}`,
        cure: "put the folder of the books back from a backup; the audit record names every file of a closing",
        exitCode: exitCodes.ledgerRefused,
        place: path,
      });
    const digest = createHash("sha256");
    for await (const chunk of bytesOf(path)) digest.update(chunk);
    if (digest.digest("hex") !== sha256)
      throw new Problem({
        code: "books.file-changed",
        message: `${name} is not what was frozen: the bytes of its file have another SHA-256 than ${sha256}`,
        cure: "put the file back from a backup, and find out who changed it; the audit record names its SHA-256",
        exitCode: exitCodes.ledgerRefused,
        place: path,
      });
    return bytesOf(path);
  }

  #pathOf(sha256: string): string {
    return join(this.#folder, sha256);
  }
}

async function* bytesOf(path: string): AsyncGenerator<Buffer, void, void> {
  for await (const chunk of createReadStream(path)) if (Buffer.isBuffer(chunk)) yield chunk;
}

async function* counted(chunks: Chunks, see: (chunk: Buffer) => void): AsyncGenerator<Buffer, void, void> {
  for await (const chunk of chunks) {
    const bytes = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
    see(bytes);
    yield bytes;
  }
}
