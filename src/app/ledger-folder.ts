import { statSync } from "node:fs";
import { dirname, isAbsolute, resolve } from "node:path";
import { Problem } from "../base/errors.ts";
import { groupNamed, makePrivateFolder } from "../base/private-files.ts";
import { notWritable } from "../ledger/database/ledger-file.ts";

/** The folder beside the ledger that holds the files of closed periods. */
export const booksFolder = "periods";

/** A path of the configuration, which starts at the configuration's folder unless it is absolute. */
export function pathFrom(directory: string, path: string): string {
  return isAbsolute(path) ? path : resolve(directory, path);
}

/** Makes the folder of the ledger where it is missing, private to its owner and to the group that may read. */
export function makeLedgerFolder(path: string, group: string | undefined): void {
  try {
    makePrivateFolder(dirname(path), group === undefined ? undefined : groupNamed(group));
  } catch (error) {
    throw error instanceof Problem ? error : notWritable(path, error);
  }
}

/** A path that this user may not even look at may be there: whoever opens it is told why it cannot be read. */
export function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}
