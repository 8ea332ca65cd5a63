import { readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { constants, Script } from "node:vm";
import { readCode, writeCode } from "./code-store.ts";

/** What Node wraps a CommonJS file in. */
const opening = "(function (exports, require, module, __filename, __dirname) {";

/**
 * Has the `.cjs` files of a folder run from what was compiled of them before, as `store` keeps it. Gives what puts
 * there what this process has compiled beyond it.
 *
 * Node's own cache holds of a file what is compiled to load it, and most of a start would go into compiling the
 * functions that run afterwards; here they are kept too.
 */
export function keepCode(folder: string, store: string): () => void {
  const kept = readCode(store);
  const used = new Map<string, { form: string; script: Script }>();
  let isNew = false;
  const { extensions } = createRequire(import.meta.filename);
  const otherwise = extensions[".cjs"] ?? extensions[".js"];
  extensions[".cjs"] = (module, path) => {
    if (dirname(path) !== folder) {
      otherwise?.(module, path);
      return;
    }
    const form = formOf(path);
    const known = kept.get(path);
    const isKnown = known?.form === form;
    const script = new Script(`${opening}${readFileSync(path, "utf8")}\n})`, {
      filename: path,
      columnOffset: -opening.length,
      ...(isKnown ? { cachedData: known.code } : {}),
      importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    });
    // Another version of V8 refuses it.
    if (!isKnown || script.cachedDataRejected === true) isNew = true;
    used.set(path, { form, script });
    const run: unknown = script.runInThisContext();
    if (typeof run !== "function") throw new TypeError(`${path} is no module`);
    Reflect.apply(run, module.exports, [module.exports, createRequire(path), module, path, folder]);
  };
  return () => {
    if (!isNew) return;
    for (const [path, { form, script }] of used) kept.set(path, { form, code: script.createCachedData() });
    writeCode(store, kept);
  };
}

/** A file that was changed has another one, whatever time it was given. */
function formOf(path: string): string {
  const { size, ctimeMs } = statSync(path);
  return `${size}-${ctimeMs}`;
}
