import { createRequire } from "node:module";
import type * as Undici from "undici";

const load: (name: "undici") => typeof Undici = createRequire(import.meta.filename);
let loaded: typeof Undici | undefined;

/** Loaded with the first call: most commands make none, and start a fifth faster. */
export function undici(): typeof Undici {
  loaded ??= load("undici");
  return loaded;
}

export interface TimeoutSettings {
  connectTimeoutMs: number;
  headersTimeoutMs: number;
  bodyTimeoutMs: number;
}

export function timeouts(
  settings: TimeoutSettings,
  ca?: string,
): { headersTimeout: number; bodyTimeout: number; connect: { timeout: number; ca?: string } } {
  return {
    headersTimeout: settings.headersTimeoutMs,
    bodyTimeout: settings.bodyTimeoutMs,
    connect: { timeout: settings.connectTimeoutMs, ...(ca === undefined ? {} : { ca }) },
  };
}
