import type { Given } from "./store.ts";

/**
 * A time as some caller sent it, as epoch milliseconds: yyyymmdd as midnight UTC, smaller numbers than 1e11 as seconds,
 * ISO text. Null for nothing and for text that is no time.
 */
export function epochMs(given: Given | undefined): number | null {
  if (given === null || given === undefined) return null;
  if (typeof given === "string") {
    if (/^\d+$/.test(given)) return epochMs(Number(given));
    const parsed = Date.parse(given);
    return Number.isNaN(parsed) ? null : parsed;
  }
  if (given >= 19_000_101 && given <= 21_001_231) {
    return Date.UTC(Math.floor(given / 10_000), (Math.floor(given / 100) % 100) - 1, given % 100);
  }
  return Math.abs(given) < 100_000_000_000 ? given * 1000 : given;
}
