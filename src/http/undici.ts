import { createRequire } from "node:module";
import type * as Undici from "undici";

const load: (name: "undici") => typeof Undici = createRequire(import.meta.filename);
let loaded: typeof Undici | undefined;

/** undici, loaded with the first call: most commands make none, and start sooner by a fifth. */
export function undici(): typeof Undici {
  loaded ??= load("undici");
  return loaded;
}

/** The time-outs of a connection in the words of the settings, for services and sources alike. */
export interface TimeoutSettings {
  connectTimeoutMs: number;
  headersTimeoutMs: number;
  bodyTimeoutMs: number;
}

/** The same for undici. `ca` is the PEM of a certificate authority. */
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
