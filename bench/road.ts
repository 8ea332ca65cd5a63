import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { writeCustomers } from "./customers.ts";
import type { Cost } from "./measure.ts";
import { measure, median } from "./measure.ts";
import type { Options } from "./options.ts";
import type { ReplayReport } from "./replay/replay.ts";
import { withReplay } from "./replay/replay.ts";

/** Calls at once, for everything that is compared. */
export const lanes = 16;

/** One way through a number of customers, as it was measured. */
export interface Passage extends Cost {
  records: number;
  recordsPerSecond: number;
  /** What the work took, without the start of the program. */
  worked: { seconds: number; cpuSeconds: number };
  replay: ReplayReport;
}

const answerSchema = z.object({
  records: z.int(),
  exitCode: z.literal(0).optional(),
  worked: z.object({ seconds: z.number(), cpuSeconds: z.number() }),
});

/** The measured ways: bare lanes, p-limit with fetch, and the program's runs. */
const ways = {
  floor: { script: "subjects/floor.ts", options: {} },
  script: { script: "subjects/script.ts", options: {} },
  run: { script: "subjects/program.ts", options: { job: "sync" } },
  runCommitEach: { script: "subjects/program.ts", options: { job: "sync", "group-size": 1 } },
  verify: { script: "subjects/program.ts", options: { job: "verify" } },
} as const;
type Way = keyof typeof ways;

/** Goes one way over the customers of `csv`, in a process of its own against a replay server of its own. */
export async function pass(
  way: Way,
  of: { csv: string; records: number; directory: string; latencyMs?: number },
): Promise<Passage> {
  mkdirSync(of.directory, { recursive: true });
  const { script, options } = ways[way];
  return await withReplay({ latencyMs: of.latencyMs ?? 0, known: way === "verify" }, async (replay) => {
    const measured = await measure(
      script,
      { "base-url": replay.baseUrl, csv: of.csv, directory: of.directory, lanes, ...options },
      answerSchema,
    );
    const report = await replay.report();
    if (measured.result.records !== of.records || report.refused > 0) {
      throw new Error(
        `${way} worked on ${measured.result.records} of ${of.records} customers, ${report.refused} calls had no answer`,
      );
    }
    return {
      wallSeconds: measured.wallSeconds,
      cpuSeconds: measured.cpuSeconds,
      peakMegabytes: measured.peakMegabytes,
      records: of.records,
      recordsPerSecond: of.records / measured.wallSeconds,
      worked: measured.result.worked,
      replay: report,
    };
  });
}

/** The figures of one round: all of them were taken one after the other, so that they can be compared. */
export interface Round {
  floor: Passage;
  script: Passage;
  first: Passage;
  unchanged: Passage;
  verify: Passage;
}

export interface Road {
  rounds: Round[];
  commitEach: Passage;
  latency: { ms: number; floor: Passage; script: Passage; first: Passage };
  memory: { first: Passage; unchanged: Passage } | undefined;
}

/** Walks the whole road several times. `tell` is told what is measured now. */
export async function measureRoad(options: Options, work: string, tell: (step: string) => void): Promise<Road> {
  const { records } = options;
  const csv = join(work, "customers.csv");
  writeCustomers(csv, records);
  const rounds: Round[] = [];
  for (let number = 1; number <= options.rounds; number += 1) {
    const step = async (way: Way, name: string): Promise<Passage> => {
      tell(`round ${number} of ${options.rounds}: ${name}`);
      const folder = way === "verify" ? "run" : way;
      return await pass(way, { csv, records, directory: join(work, `round-${number}`, folder) });
    };
    rounds.push({
      floor: await step("floor", "bare lanes"),
      script: await step("script", "p-limit and fetch"),
      first: await step("run", "first run"),
      unchanged: await step("run", "run without a change"),
      verify: await step("verify", "verify"),
    });
  }
  tell("first run with one commit each");
  const commitEach = await pass("runCommitEach", { csv, records, directory: join(work, "commit-each") });
  return {
    rounds,
    commitEach,
    latency: await atLatency(options, work, tell),
    memory: await memory(options, work, tell),
  };
}

async function atLatency(options: Options, work: string, tell: (step: string) => void): Promise<Road["latency"]> {
  const latencyMs = 20;
  const records = options.latencyRecords;
  const csv = join(work, "latency.csv");
  writeCustomers(csv, records);
  const slow = async (way: Way, name: string): Promise<Passage> => {
    tell(`${latencyMs} ms a call: ${name}`);
    return await pass(way, { csv, records, latencyMs, directory: join(work, "latency", way) });
  };
  return {
    ms: latencyMs,
    floor: await slow("floor", "bare lanes"),
    script: await slow("script", "p-limit and fetch"),
    first: await slow("run", "first run"),
  };
}

async function memory(options: Options, work: string, tell: (step: string) => void): Promise<Road["memory"]> {
  const records = options.memoryRecords;
  if (records <= options.records) return undefined;
  const csv = join(work, "memory.csv");
  writeCustomers(csv, records);
  const directory = join(work, "memory");
  tell(`${records} customers: first run`);
  const first = await pass("run", { csv, records, directory });
  tell(`${records} customers: run without a change`);
  return { first, unchanged: await pass("run", { csv, records, directory }) };
}

/** The middle figure over all rounds. */
export function middle(road: Road, figure: (round: Round) => number): number {
  return median(road.rounds.map(figure));
}
