import { cpus } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { writeCustomers } from "./customers.ts";
import { median } from "./measure.ts";
import type { Measuring } from "./measuring.ts";
import { rowsAsTheyWere, workedSchema } from "./parts.ts";
import { type Passage, exportPath, peerPass, programPass } from "./passage.ts";

/** Customers of each measured way, and rows that are as they were: small, because every change is measured so. */
export const checkedRecords = 3_000;
const checkedRows = 20_000;

export const checkRoundSchema = z.object({
  /** What everything else took of the processors meanwhile: 0 for nothing, 1 for all of them. */
  others: z.number(),
  /** Seconds and CPU seconds of whole processes; verify is that of as many calls as the floor makes. */
  floor: workedSchema,
  first: workedSchema,
  verify: workedSchema,
  /** Rows that are as they were: the best of three in one process. */
  bareRows: workedSchema,
  rows: workedSchema,
});
export type CheckRound = z.infer<typeof checkRoundSchema>;
type Worked = z.infer<typeof workedSchema>;

/** What is compared over time: ratios within one run, so that the speed of the machine does not count. */
export const checkedRatios = {
  first: "first run, records/s to the floor's",
  firstCpu: "first run, the floor's CPU to its own",
  verify: "verify, calls/s to the floor's",
  verifyCpu: "verify, the floor's CPU a call to its own",
  unchanged: "rows as they were, rows/s to a bare loop's",
  unchangedCpu: "rows as they were, the bare loop's CPU to its own",
} as const;
export type CheckedRatio = keyof typeof checkedRatios;

/**
 * Rounds in which others took more than this say nothing about speed; the kernel alone takes 0.08. What CPU was used
 * says something in all.
 */
export const mostByOthers = 0.15;

/**
 * The middle one of the ratios of the rounds: what is measured within one round met the same machine, and a lucky or a
 * disturbed round moves the middle little. Undefined where others took too much in every round.
 */
export function middleRatio(rounds: readonly CheckRound[], name: CheckedRatio): number | undefined {
  const counted = name.endsWith("Cpu") ? rounds : rounds.filter(({ others }) => others <= mostByOthers);
  return counted.length === 0 ? undefined : median(roundRatios(counted, name));
}

/** The ratio of each round by itself. */
export function roundRatios(rounds: readonly CheckRound[], name: CheckedRatio): number[] {
  const [whom, against] = pairs[name];
  const what = name.endsWith("Cpu") ? "cpuSeconds" : "seconds";
  return rounds.map((round) => round[against][what] / round[whom][what]);
}

const pairs = {
  first: ["first", "floor"],
  firstCpu: ["first", "floor"],
  verify: ["verify", "floor"],
  verifyCpu: ["verify", "floor"],
  unchanged: ["rows", "bareRows"],
  unchangedCpu: ["rows", "bareRows"],
} as const;

/** Measures one round. */
export async function measureCheckRound(measuring: Measuring, number: number): Promise<CheckRound> {
  const { work, tell, programs } = measuring;
  const csv = exportPath(work, checkedRecords);
  writeCustomers(csv, checkedRecords);
  const way = (name: string) => {
    tell(`check, round ${number}: ${name}`);
    return { csv, records: checkedRecords, directory: join(work, `check-${number}`, name) };
  };
  const others = watchOthers();
  const floor = await peerPass("floor", way("bare lanes"));
  const program = way("first run");
  const first = await programPass(programs.now, "customers", program);
  tell(`check, round ${number}: verify`);
  const verify = await programPass(programs.now, "verify", program);
  const took = [floor, first, verify].reduce((sum, one) => sum + one.cpuSeconds + one.replay.cpuSeconds, 0);
  const share = others(took);
  const rows = await rowsAsTheyWere(programs.now, way("rows that are as they were").directory, {
    records: checkedRows,
    rounds: 3,
  });
  return {
    others: share,
    floor: workOf(floor),
    first: workOf(first),
    verify: workOf(verify, floor.replay.total / verify.replay.total),
    bareRows: bestOf(rows.unchanged.map(({ bare }) => bare)),
    rows: bestOf(rows.unchanged.map(({ program }) => program)),
  };
}

function workOf({ wallSeconds, cpuSeconds }: Passage, share = 1): Worked {
  return { seconds: wallSeconds * share, cpuSeconds: cpuSeconds * share };
}

function bestOf(all: readonly Worked[]): Worked {
  return {
    seconds: Math.min(...all.map(({ seconds }) => seconds)),
    cpuSeconds: Math.min(...all.map(({ cpuSeconds }) => cpuSeconds)),
  };
}

/** Begins to watch the processors; what it returns says which share of them others took, given what we took. */
function watchOthers(): (cpuSeconds: number) => number {
  const idle = (): number => cpus().reduce((sum, { times }) => sum + times.idle, 0) / 1_000;
  const [idleBefore, started, own] = [idle(), performance.now(), process.cpuUsage()];
  return (cpuSeconds) => {
    const there = (cpus().length * (performance.now() - started)) / 1_000;
    const { user, system } = process.cpuUsage(own);
    const rest = there - (idle() - idleBefore) - cpuSeconds - (user + system) / 1e6;
    return Math.max(0, rest / there);
  };
}
