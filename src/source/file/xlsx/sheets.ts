import { basename, dirname } from "node:path";
import { stateOf } from "../bytes.ts";
import { openArchive } from "./archive.ts";
import { visibleSheets } from "./workbook.ts";

/** The names of the sheets of a workbook that are not hidden. Throws a Problem where it is none. */
export async function sheetsOf(path: string): Promise<string[]> {
  const name = basename(path);
  const state = await stateOf(path);
  const file = { path, folder: dirname(path), name, gzip: false, encoding: "utf-8", state, expected: {} };
  const archive = await openArchive(file);
  try {
    return await visibleSheets(archive, file);
  } finally {
    archive.close();
  }
}
