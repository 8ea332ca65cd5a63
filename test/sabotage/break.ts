import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Root of the project. */
export const project = join(import.meta.dirname, "../..");

/**
 * One deliberate break of the program: a piece of its text, what stands there instead, and the test that has to turn
 * red for it.
 */
export interface Break {
  /** From the root of the project. */
  file: string;
  /** Stands in the file exactly once. */
  find: string;
  replace: string;
  /** Under `test/`. */
  test: string;
  /** Names of the test's groups and its own, with " > " between them. */
  title: string;
}

/** Breaks by what the broken program does, in words. */
export type Breaks = Readonly<Record<string, Break>>;

/** How often the text that is to be replaced stands in the program now; anything but 1 means that the row is stale. */
export function occurrences(item: Break): number {
  return readFileSync(join(project, item.file), "utf8").split(item.find).length - 1;
}
