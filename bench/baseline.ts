import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";
import { z } from "zod";
import {
  type CheckedRatio,
  type CheckRound,
  middleRatio,
  checkedRatios,
  checkedRecords,
  measureCheckRound,
  roundRatios,
} from "./check.ts";
import { benchPath } from "./measure.ts";
import type { Measuring } from "./measuring.ts";
import { type Figure, spreadOf, times } from "./figure.ts";

const names = ["first", "firstCpu", "verify", "verifyCpu", "unchanged", "unchangedCpu"] as const;

const baselineSchema = z.strictObject({
  records: z.int(),
  /** With more of them, helpers of Node work beside the program, which changes the ratios. */
  cores: z.int(),
  /** Another processor runs some kinds of work faster and others slower. */
  processor: z.string(),
  rounds: z.int(),
  /** Those that could be judged when they were kept. */
  ratios: z.partialRecord(z.enum(names), z.number()),
});
export type Baseline = z.infer<typeof baselineSchema>;

const path = benchPath("baseline.json");

/** More than this share of a ratio may not be lost. */
const mostLost = 0.15;

/** Where something seems lost, so many rounds are measured before that is believed. */
const mostRounds = 9;

/** The ratios that are kept; none where they are of another number of customers or of another machine. */
export function readBaseline(): Baseline | undefined {
  if (!existsSync(path)) return undefined;
  const kept = baselineSchema.parse(JSON.parse(readFileSync(path, "utf8")));
  const { records, cores, processor } = machine();
  return kept.records === records && kept.cores === cores && kept.processor === processor ? kept : undefined;
}

function machine(): Pick<Baseline, "records" | "cores" | "processor"> {
  return { records: checkedRecords, cores: availableParallelism(), processor: cpus()[0]?.model ?? "unknown" };
}

/** Keeps the ratios of these rounds, but for those of speed where others took too much of the machine in each. */
export function writeBaseline(rounds: readonly CheckRound[]): void {
  const ratios = names.flatMap((name) => {
    const ratio = middleRatio(rounds, name);
    return ratio === undefined ? [] : [[name, Number(ratio.toFixed(3))]];
  });
  const kept = { ...machine(), rounds: rounds.length, ratios: Object.fromEntries(ratios) };
  writeFileSync(path, `${JSON.stringify(kept, null, 2)}\n`);
}

/** Which ratios lost more than 15 %. */
export function lostRatios(rounds: readonly CheckRound[], kept: Baseline): CheckedRatio[] {
  return names.filter((name) => {
    const ratio = middleRatio(rounds, name);
    const before = kept.ratios[name];
    return ratio !== undefined && before !== undefined && ratio < before * (1 - mostLost);
  });
}

/** Measures `rounds` rounds, and more of them as long as something seems lost. */
export async function measureCheck(
  measuring: Measuring,
  rounds: number,
  kept: Baseline | undefined,
): Promise<CheckRound[]> {
  const taken: CheckRound[] = [];
  const seemsLost = (): boolean => kept !== undefined && lostRatios(taken, kept).length > 0;
  while (taken.length < rounds || (taken.length < mostRounds && seemsLost()))
    taken.push(await measureCheckRound(measuring, taken.length + 1));
  return taken;
}

/** T9: each ratio against the kept one. */
export function checkFigures(rounds: readonly CheckRound[], kept: Baseline | undefined): Figure[] {
  const lost = kept === undefined ? [] : lostRatios(rounds, kept);
  return names.map((name) => {
    const ratio = middleRatio(rounds, name);
    const before = kept?.ratios[name];
    const loss = ratio === undefined || before === undefined ? "" : `, ${times(ratio / before)} the kept one`;
    return {
      target: "T9",
      what: checkedRatios[name],
      figure: ratio === undefined ? "others took too much of the machine" : `${times(ratio)}${loss}`,
      wanted: before === undefined ? "none is kept (--write-baseline)" : `no loss over 15 % of ${times(before)}`,
      spread: spreadOf(roundRatios(rounds, name)),
      verdict: ratio === undefined || before === undefined ? "not measured" : lost.includes(name) ? "below" : "met",
    };
  });
}
