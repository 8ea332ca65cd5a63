import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { writeCustomers } from "./customers.ts";
import { measure } from "./measure.ts";
import type { Passage } from "./road.ts";
import { lanes, pass } from "./road.ts";

/** Customers of each measured way, and rows that are as they were: small, because every change is measured so. */
export const checkedRecords = 1_500;
const checkedRows = 8_000;

const workedSchema = z.object({ seconds: z.number(), cpuSeconds: z.number() });
const unchangedSchema = z.object({
  records: z.int(),
  unchanged: z.array(z.object({ bare: workedSchema, program: workedSchema })),
});

/** What is compared over time: each a ratio within one round, so that the speed of the machine does not count. */
export const checkedRatios = {
  first: "first run, records/s to the floor's",
  firstCpu: "first run, the floor's CPU to its own",
  verify: "verify, calls/s to the floor's",
  verifyCpu: "verify, the floor's CPU a call to its own",
  unchanged: "rows as they were, rows/s to a bare loop's",
  unchangedCpu: "rows as they were, the bare loop's CPU to its own",
} as const;
export type CheckedRatio = keyof typeof checkedRatios;

/** The ratios of each round. Rows that are as they were have rounds of their own, within one process. */
export type Check = Record<CheckedRatio, number[]>;

export function emptyCheck(): Check {
  return { first: [], firstCpu: [], verify: [], verifyCpu: [], unchanged: [], unchangedCpu: [] };
}

/** Measures one more round and adds its ratios. What the programs' starts take is left out. */
export async function measureRound(check: Check, work: string, tell: (step: string) => void): Promise<void> {
  const number = check.first.length + 1;
  const csv = join(work, "check.csv");
  writeCustomers(csv, checkedRecords);
  const go = async (way: "floor" | "run" | "verify", name: string): Promise<Passage> => {
    tell(`check, round ${number}: ${name}`);
    const directory = join(work, `check-${number}`, way === "floor" ? "floor" : "run");
    return await pass(way, { csv, records: checkedRecords, directory });
  };
  const floor = await go("floor", "bare lanes");
  const first = await go("run", "first run");
  const verify = await go("verify", "verify");
  const calls = (passage: Passage): number => passage.replay.total;
  check.first.push(floor.worked.seconds / first.worked.seconds);
  check.firstCpu.push(floor.worked.cpuSeconds / first.worked.cpuSeconds);
  check.verify.push(calls(verify) / verify.worked.seconds / (calls(floor) / floor.worked.seconds));
  check.verifyCpu.push(floor.worked.cpuSeconds / calls(floor) / (verify.worked.cpuSeconds / calls(verify)));

  tell(`check, round ${number}: rows that are as they were`);
  const rows = join(work, "rows.csv");
  writeCustomers(rows, checkedRows);
  const directory = join(work, `check-${number}`, "rows");
  mkdirSync(directory, { recursive: true });
  const options = { "base-url": "http://127.0.0.1:9", csv: rows, directory, lanes, job: "unchanged" };
  const { result } = await measure("subjects/program.ts", options, unchangedSchema);
  for (const { bare, program } of result.unchanged) {
    check.unchanged.push(bare.seconds / program.seconds);
    check.unchangedCpu.push(bare.cpuSeconds / program.cpuSeconds);
  }
}
