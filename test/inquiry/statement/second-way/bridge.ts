import type { Computed } from "./whole.ts";

const sums = ["units", "nodes", "amount"] as const;

/**
 * The steps from what happened in a month to what the CRM dates in it, from lines that were computed before: what was
 * placed is dated by the CRM, all else by when it happened.
 */
export function bridgeOf(lines: readonly Computed[], month: string): Computed[] {
  const happened = (line: Computed): string => String(line["date"]).slice(0, 7);
  const dated = (line: Computed): string =>
    line["event"] === "placed" ? String(line["crm_date"]).slice(0, 7) : happened(line);
  const currencies = [...new Set(lines.map((line) => String(line["currency"])))];
  return currencies.flatMap((currency) => {
    const own = lines.filter((line) => line["currency"] === currency);
    const here = own.filter((line) => happened(line) === month);
    const there = own.filter((line) => dated(line) === month);
    if (here.length + there.length === 0) return [];
    const step = (name: string, of: readonly Computed[], sign: 1n | -1n): Computed => ({
      currency,
      step: name,
      lines: sign * BigInt(of.length),
      ...Object.fromEntries(sums.map((what) => [what, of.reduce((sum, line) => sum + sign * whole(line[what]), 0n)])),
      verdict: name === "by the dates of the CRM" ? "agrees" : null,
    });
    const rows = [
      step("happened in the period", here, 1n),
      step(
        "less: dated before it by the CRM",
        here.filter((line) => dated(line) < month),
        -1n,
      ),
      step(
        "less: dated after it by the CRM",
        here.filter((line) => dated(line) > month),
        -1n,
      ),
      step(
        "more: dated in it, happened before it",
        there.filter((line) => happened(line) < month),
        1n,
      ),
      step(
        "more: dated in it, happened after it",
        there.filter((line) => happened(line) > month),
        1n,
      ),
    ];
    return [...rows, step("by the dates of the CRM", there, 1n)];
  });
}

function whole(cell: Computed[string]): bigint {
  if (typeof cell !== "bigint" && typeof cell !== "number") throw new Error(`${String(cell)} is no number`);
  return BigInt(cell);
}
