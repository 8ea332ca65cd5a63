import { existsSync, statSync } from "node:fs";
import { refused } from "./damage.ts";
import { openSuffixes } from "./ledger-file.ts";

interface OpenFile {
  path: string;
  device: number;
  file: number;
}

function isSame(known: OpenFile): boolean {
  const now = statSync(known.path, { throwIfNoEntry: false });
  return now?.ino === known.file && now.dev === known.device;
}

/**
 * The files of an open ledger, as they were when it was opened. SQLite goes on writing into a file that was deleted or
 * moved away, where no later start would read it; so each group of commits begins with a look whether the names still
 * lead to the same files.
 */
export class OpenFiles {
  readonly #path: string;
  readonly #known: OpenFile[] = [];

  constructor(path: string) {
    this.#path = path;
    for (const suffix of openSuffixes) {
      const found = statSync(path + suffix, { throwIfNoEntry: false });
      if (found !== undefined) this.#known.push({ path: path + suffix, device: found.dev, file: found.ino });
    }
  }

  get areSame(): boolean {
    return this.#known.every(isSame);
  }

  /** Throws a Problem with exit code 65 once one of the files is gone or another one. */
  requireSame(): void {
    for (const known of this.#known) {
      if (isSame(known)) continue;
      const { path } = known;
      const isThere = existsSync(path);
      throw refused(
        isThere ? "ledger.replaced" : "ledger.gone",
        path,
        `${path} was ${isThere ? "replaced by another file" : "deleted or moved away"} ` +
          `while the ledger ${this.#path} was in use. ` +
          "Nothing more is written or sent; the result of a call in progress is not recorded",
        "put the file back, or restore the newest backup, then start again. The next run continues from that " +
          "ledger, and refuses a ledger that is too old",
      );
    }
  }
}
