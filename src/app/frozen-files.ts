import { createHash } from "node:crypto";
import { createReadStream, existsSync, readdirSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { exitCodes, messageOf, Problem } from "../base/errors.ts";
import { flushFile, isFolderOf, keepFolderPrivate, keepReadOnly, makePrivateFolder } from "../base/private-files.ts";
import type { ReadingGroup } from "../base/private-files.ts";
import { openRegular } from "../base/regular-file.ts";
import { booksFolder } from "./ledger-folder.ts";
import { writeWhole } from "./written-files.ts";
import type { Chunks } from "./written-files.ts";

const isDigest = /^[0-9a-f]{64}$/u;

/**
 * Files that are never changed, in a folder of their own beside the ledger, each under the SHA-256 of its bytes. What
 * is to be frozen waits in a folder of this ledger's until its closing is written down: a program that ends before
 * leaves no closing, and one that ends after leaves files that are read from there, and taken over by the next closing.
 */
export class FrozenFiles {
  readonly #folder: string;
  readonly #waiting: string;
  readonly #group: ReadingGroup | undefined;

  constructor(ledgerPath: string, group: ReadingGroup | undefined) {
    this.#folder = join(dirname(ledgerPath), booksFolder);
    // Ledgers in one folder have one folder of closed periods.
    this.#waiting = join(this.#folder, `unfinished-${basename(ledgerPath)}`);
    this.#group = group;
  }

  /** Lets the group read what was frozen before the configuration named it, and nobody else. */
  keepReadable(): void {
    if (!existsSync(this.#folder) || isFolderOf(this.#folder, this.#group)) return;
    for (const name of readdirSync(this.#folder))
      if (isDigest.test(name)) keepReadOnly(join(this.#folder, name), this.#group);
    // Last: so the folder says whether its files are done.
    keepFolderPrivate(this.#folder, this.#group);
  }

  /**
   * Takes over what waits and belongs to a closing, and takes away what a program left that ended before its closing.
   * Nobody else may be closing books of this ledger.
   */
  tidy(closed: ReadonlySet<string>): void {
    this.#doing(() => {
      this.keepReadable();
      if (!existsSync(this.#waiting)) return;
      this.#takeOver(closed);
      rmSync(this.#waiting, { recursive: true, force: true });
    });
  }

  /** Keeps what is rendered, to be frozen with its closing. The same bytes are kept once. */
  async keep(chunks: Chunks): Promise<{ sha256: string; bytes: number }> {
    const unnamed = join(this.#waiting, "unnamed");
    const digest = createHash("sha256");
    let bytes = 0;
    const see = (chunk: Buffer): void => void ((bytes += chunk.length), digest.update(chunk));
    this.#doing(() => makePrivateFolder(this.#waiting, this.#group));
    await writeWhole(unnamed, counted(chunks, see), { what: "books", group: this.#group });
    const sha256 = digest.digest("hex");
    this.#doing(() => {
      keepReadOnly(unnamed, this.#group);
      renameSync(unnamed, join(this.#waiting, sha256));
    });
    return { sha256, bytes };
  }

  /** Has the names of what waits on the disk: only then its closing may be written down. */
  flush(): void {
    this.#doing(() => {
      for (const folder of [this.#waiting, this.#folder]) flushFile(folder);
    });
  }

  /** Freezes what waits, once its closing stands. What cannot be moved now is read where it is, and moved later. */
  settle(closed: ReadonlySet<string>): void {
    try {
      this.#takeOver(closed);
      rmSync(this.#waiting, { recursive: true, force: true });
    } catch {
      // It is closed, and nothing is missing.
    }
  }

  #takeOver(closed: ReadonlySet<string>): void {
    if (!existsSync(this.#waiting)) return;
    for (const name of readdirSync(this.#waiting))
      // Also where one is there: what is there may not be what its name says.
      if (closed.has(name)) renameSync(join(this.#waiting, name), join(this.#folder, name));
    flushFile(this.#folder);
  }

  /** What the file system refuses is told by the folder. */
  #doing<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (error instanceof Problem || !(error instanceof Error) || !("syscall" in error)) throw error;
      throw new Problem({
        code: "periods.cannot-write",
        message: `nothing was closed: the folder ${this.#folder} cannot be written: ${messageOf(error)}`,
        cure: "check that this user may write in the folder and that the disk has room, then close the period again",
        exitCode: exitCodes.other,
        place: this.#folder,
        cause: error,
      });
    }
  }

  /** The bytes of a file. Throws a Problem where it is gone, or is not what was kept. */
  async read({ name, sha256 }: { name: string; sha256: string }): Promise<AsyncIterable<Buffer>> {
    const path = this.#pathOf(sha256);
    if (path === undefined)
      throw new Problem({
        code: "periods.file-gone",
        message: `the file ${name} of a closed period is missing: ${this.#folder} has no file ${sha256}`,
        cure: "restore the folder of closed periods from a backup; the audit log names every file of a closed period",
        exitCode: exitCodes.ledgerRefused,
        place: this.#folder,
      });
    const digest = createHash("sha256");
    for await (const chunk of bytesOf(path)) digest.update(chunk);
    if (digest.digest("hex") !== sha256)
      throw new Problem({
        code: "periods.file-changed",
        message: `the file ${name} of a closed period was changed after the close: its SHA-256 is not ${sha256}`,
        cure: "restore the file from a backup, and find out who changed it; the audit log names its SHA-256",
        exitCode: exitCodes.ledgerRefused,
        place: path,
      });
    return bytesOf(path);
  }

  #pathOf(sha256: string): string | undefined {
    if (!isDigest.test(sha256)) return undefined;
    return [this.#folder, this.#waiting].map((folder) => join(folder, sha256)).find((path) => existsSync(path));
  }
}

async function* bytesOf(path: string): AsyncGenerator<Buffer, void, void> {
  for await (const chunk of createReadStream(path, { fd: openRegular(path) })) if (Buffer.isBuffer(chunk)) yield chunk;
}

async function* counted(chunks: Chunks, see: (chunk: Buffer) => void): AsyncGenerator<Buffer, void, void> {
  for await (const chunk of chunks) {
    const bytes = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
    see(bytes);
    yield bytes;
  }
}
