import { readdirSync } from "node:fs";
import { createRequire } from "node:module";

/** Where processes begin: they do something when they are loaded. */
const begins = new Set(["main.cjs", "sandbox.cjs"]);

/**
 * Loads every file of the bundle that is not loaded yet. A process that goes on for long needs the folder of its bundle
 * no more, whatever becomes of it: a later build leaves only some of those before it. From source it does nothing.
 */
export function loadWholeProgram(): void {
  if (!import.meta.filename.endsWith(".cjs")) return;
  const load = createRequire(import.meta.filename);
  for (const name of readdirSync(import.meta.dirname))
    if (name.endsWith(".cjs") && !begins.has(name)) load(`./${name}`);
}
