import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { z } from "zod";
import type { Check, CheckedRatio } from "./check.ts";
import { checkedRatios, checkedRecords, emptyCheck, measureRound } from "./check.ts";
import { benchPath, median } from "./measure.ts";
import type { Figure } from "./targets.ts";
import { times } from "./targets.ts";

const names = ["first", "firstCpu", "verify", "verifyCpu", "unchanged", "unchangedCpu"] as const;

const baselineSchema = z.strictObject({
  records: z.int(),
  rounds: z.int(),
  ratios: z.record(z.enum(names), z.number()),
});
export type Baseline = z.infer<typeof baselineSchema>;

const path = benchPath("baseline.json");

/** More than this share of a ratio may not be lost. */
const mostLost = 0.15;

/** Where something seems lost, so many rounds are measured before that is believed. */
const mostRounds = 9;

/** The ratios that are kept; none where they are of another number of customers. */
export function readBaseline(): Baseline | undefined {
  if (!existsSync(path)) return undefined;
  const kept = baselineSchema.parse(JSON.parse(readFileSync(path, "utf8")));
  return kept.records === checkedRecords ? kept : undefined;
}

/** Keeps the middle of each ratio. */
export function writeBaseline(check: Check): void {
  const ratios = Object.fromEntries(names.map((name) => [name, Number(median(check[name]).toFixed(3))]));
  const rounds = check.first.length;
  writeFileSync(path, `${JSON.stringify({ records: checkedRecords, rounds, ratios }, null, 2)}\n`);
}

/**
 * Which ratios lost more than 15 %: the middle of the rounds is so far below the kept one, and no round reached that.
 * Other work on the machine moves single rounds, of CPU less than of speed.
 */
export function lostRatios(check: Check, kept: Baseline): CheckedRatio[] {
  return names.filter((name) => {
    const before = kept.ratios[name];
    return median(check[name]) < before * (1 - mostLost) && Math.max(...check[name]) < before;
  });
}

/** Measures `rounds` rounds, and more of them as long as something seems lost. */
export async function measureCheck(
  rounds: number,
  kept: Baseline | undefined,
  work: string,
  tell: (step: string) => void,
): Promise<Check> {
  const check = emptyCheck();
  const seemsLost = (): boolean => kept !== undefined && lostRatios(check, kept).length > 0;
  while (check.first.length < rounds || (check.first.length < mostRounds && seemsLost()))
    await measureRound(check, work, tell);
  return check;
}

/** T9: each ratio with its least, middle and largest value, against the kept one. */
export function checkFigures(check: Check, kept: Baseline | undefined): Figure[] {
  const lost = kept === undefined ? [] : lostRatios(check, kept);
  return names.map((name) => {
    const all = check[name];
    const spread = `${times(Math.min(...all))} to ${times(Math.max(...all))} in ${all.length} rounds`;
    const before = kept?.ratios[name];
    return {
      target: "T9",
      what: checkedRatios[name],
      figure: `${times(median(all))} (${spread})`,
      wanted: before === undefined ? "none is kept (--write-baseline)" : `no loss over 15 % of ${times(before)}`,
      ratio: before === undefined ? "" : `${times(median(all) / before)} the kept one`,
      verdict: before === undefined ? "not measured" : lost.includes(name) ? "below" : "met",
    };
  });
}
