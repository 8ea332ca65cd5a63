import { createHash } from "node:crypto";
import { createReadStream, existsSync, readdirSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { canonicalJson, type Json } from "../base/canonical-json.ts";
import { exitCodes, messageOf, Problem, usage } from "../base/errors.ts";
import {
  flushFile,
  isFolderOf,
  keepFolderPrivate,
  keepReadOnly,
  makePrivateFolder,
  type ReadingGroup,
} from "../base/private-files.ts";
import { openRegular } from "../base/regular-file.ts";
import type { Inquiry } from "../inquiry/inquiry.ts";
import { booksFolder, type Application } from "../operate/application.ts";
import type { Dashboard } from "../operate/dashboard.ts";
import { writeWhole, type Chunks } from "../operate/written-files.ts";
import type { ClosedFileFacts, ClosingFacts } from "../report/books.ts";

const isDigest = /^[0-9a-f]{64}$/u;

/**
 * Files named by their SHA-256. New files wait in a folder of this ledger until their closing is committed. If the
 * program ends after that, they are read there, and the next closing moves them.
 */
export class FrozenFiles {
  readonly #folder: string;
  readonly #waiting: string;
  readonly #group: ReadingGroup | undefined;

  constructor(ledgerPath: string, group: ReadingGroup | undefined) {
    this.#folder = join(dirname(ledgerPath), booksFolder);
    // All ledgers of a folder share one folder of closed periods.
    this.#waiting = join(this.#folder, `unfinished-${basename(ledgerPath)}`);
    this.#group = group;
  }

  /** Gives the group read access to files that were frozen before the configuration named the group. */
  keepReadable(): void {
    if (!existsSync(this.#folder) || isFolderOf(this.#folder, this.#group)) return;
    for (const name of readdirSync(this.#folder))
      if (isDigest.test(name)) keepReadOnly(join(this.#folder, name), this.#group);
    // Last, so that the folder shows whether its files are done.
    keepFolderPrivate(this.#folder, this.#group);
  }

  /** Moves waiting files of a closing and removes leftovers. Nobody else may close periods of this ledger. */
  tidy(closed: ReadonlySet<string>): void {
    this.#doing(() => {
      this.keepReadable();
      if (!existsSync(this.#waiting)) return;
      this.#takeOver(closed);
      rmSync(this.#waiting, { recursive: true, force: true });
    });
  }

  /** Stores bytes in the waiting folder. Equal bytes are stored once. */
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

  /** Makes the waiting files durable. Required before the closing is committed. */
  flush(): void {
    this.#doing(() => {
      for (const folder of [this.#waiting, this.#folder]) flushFile(folder);
    });
  }

  /** Call after the closing was committed. Files that cannot be moved are read where they are, and moved later. */
  settle(closed: ReadonlySet<string>): void {
    try {
      this.#takeOver(closed);
      rmSync(this.#waiting, { recursive: true, force: true });
    } catch {
      // The period is closed, and no file is missing.
    }
  }

  #takeOver(closed: ReadonlySet<string>): void {
    if (!existsSync(this.#waiting)) return;
    for (const name of readdirSync(this.#waiting))
      // Replaces an existing file too: its bytes may not match its name.
      if (closed.has(name)) renameSync(join(this.#waiting, name), join(this.#folder, name));
    flushFile(this.#folder);
  }

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

  /** Throws a Problem if the file is missing or changed. */
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

/** Throws a Problem if it is missing or changed, or the closing's tables differ from its audit entry. */
export async function frozenFile(
  { application, read }: { application: Pick<Application, "ledgerPath" | "group">; read: Dashboard["read"] },
  { period, closing: number, name }: { period: string; closing: number; name: string },
): Promise<{ file: ClosedFileFacts; bytes: AsyncIterable<Buffer> }> {
  const file = await read(async (inquiry) => {
    const closing = (await inquiry.closings(period)).find((one) => one.closing === number);
    const files = closing === undefined ? [] : await inquiry.closedFiles(period, number);
    const found = files.find((one) => one.name === name);
    if (closing === undefined || found === undefined)
      throw usage(
        `the closing ${number} of ${period} has no file ${JSON.stringify(name)}`,
        "choose one of those that the page of the period lists",
      );
    await requireAsClosed(inquiry, closing, files);
    return found;
  });
  const bytes = await new FrozenFiles(application.ledgerPath, application.group).read(file);
  return { file, bytes };
}

/** Throws a Problem if the tables and the audit entry of a closing differ. */
export async function requireAsClosed(
  inquiry: Inquiry,
  { period, closing, asOf, entry, hash }: ClosingFacts,
  files: readonly ClosedFileFacts[],
): Promise<void> {
  const said = await inquiry.closingEntry(period, closing);
  const listed = (of: readonly Pick<ClosedFileFacts, "name" | "sha256" | "bytes">[]): string =>
    canonicalJson(of.map(({ name, sha256, bytes }) => [name, sha256, bytes]).toSorted(byText));
  if (said?.asOf === asOf && said.entry === entry && said.hash === hash && listed(said.files) === listed(files)) return;
  throw changed(`closing ${closing} of ${period} differs between the tables of the ledger and the audit log`);
}

export function changed(message: string): Problem {
  return new Problem({
    code: "periods.changed",
    message,
    cure:
      "somebody changed the ledger: change nothing more, run `crm-sync audit verify` and compare the ledger with " +
      "a backup",
    exitCode: exitCodes.ledgerRefused,
  });
}

function byText(one: Json, other: Json): number {
  const [left, right] = [canonicalJson(one), canonicalJson(other)];
  return left < right ? -1 : left > right ? 1 : 0;
}
