import { describe, it } from "vitest";
import type { Break, Breaks } from "./break.ts";
import { breaks, triedBreaks } from "./breaks.ts";
import { control } from "./stage-names.ts";

const numbers = new Map(Object.keys(breaks).map((name, index) => [name, index]));

/**
 * Puts the tests of a file under a group of its own; a file that cannot be loaded is a test that fails under another
 * name.
 */
function show(group: string, load: () => Promise<unknown>): void {
  describe(group, async () => {
    try {
      await load();
    } catch (error) {
      it("cannot be loaded", () => {
        throw error;
      });
    }
  });
}

/**
 * Loads the file of each row's test once more, with the program broken as the row says; see `sabotage` in
 * vitest.config.ts.
 */
export function stage(rows: Breaks): void {
  for (const [name, row] of Object.entries(rows)) {
    if (!Object.hasOwn(triedBreaks, name)) continue;
    const file = `../${row.test}?break=${numbers.get(name) ?? -1}`;
    show(name, () => import(/* @vite-ignore */ file));
  }
}

/** Loads the same files with the program as it is. */
export function stageControl(): void {
  const files = new Set(Object.values(triedBreaks).map((row: Break) => `../${row.test}`));
  for (const file of files) show(control, () => import(/* @vite-ignore */ file));
}
