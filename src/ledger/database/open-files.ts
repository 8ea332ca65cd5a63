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

/** SQLite continues to write into a moved file, where no later start reads. So each group first checks the names. */
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

  /** Throws a Problem with exit code 65 if a file is missing or was replaced. */
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
