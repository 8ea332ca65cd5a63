import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { jobs, writeConfiguration } from "./configuration.ts";
import { type Subject, benchPath, costSchema, measure, words } from "./measure.ts";
import { type Program, crmSync, runAnswer, verifyAnswer } from "./program.ts";
import { replayReportSchema, withReplay } from "./replay/replay.ts";

/** Calls at once, for everything that is compared at no latency. */
export const lanes = 16;

export const passageSchema = costSchema.extend({
  /** Customers. */
  records: z.int(),
  replay: replayReportSchema,
});

/** One way through a number of customers, as it was measured: the whole process, its start included. */
export type Passage = z.infer<typeof passageSchema>;

/** What a passage goes through, and how. */
interface Way {
  /** The export: `customers.csv` of a folder. */
  csv: string;
  records: number;
  /** Where its results are kept. */
  directory: string;
  latencyMs?: number;
  lanes?: number;
}

export const recordsPerSecond = ({ records, wallSeconds }: Passage): number => records / wallSeconds;
export const callsPerSecond = ({ replay, wallSeconds }: Passage): number => replay.total / wallSeconds;

const peerAnswer = z.object({ records: z.int() });

/** The same work by the bare lanes (the floor), or by p-limit and fetch (the script). */
export async function peerPass(peer: "floor" | "script", way: Way): Promise<Passage> {
  mkdirSync(way.directory, { recursive: true });
  return await withReplay({ latencyMs: way.latencyMs ?? 0 }, async (replay) => {
    const { csv, directory } = way;
    const args = words({ "base-url": replay.baseUrl, csv, directory, lanes: way.lanes ?? lanes });
    const { result, ...cost } = await measure({ script: benchPath(`subjects/${peer}.ts`), args }, peerAnswer);
    return passageOf(peer, way, cost, { ...result, replay: await replay.report() });
  });
}

/** A run of the program: of its customers (a second one finds nothing to do), or one that reads everything back. */
export async function programPass(
  program: Program,
  job: "customers" | "verify",
  way: Way,
  measured: Pick<Subject, "nodeOptions" | "environment"> = {},
): Promise<Passage> {
  mkdirSync(way.directory, { recursive: true });
  return await withReplay({ latencyMs: way.latencyMs ?? 0, known: job === "verify" }, async (replay) => {
    const configuration = writeConfiguration(way.directory, {
      baseUrl: replay.baseUrl,
      lanes: way.lanes ?? lanes,
      source: dirname(way.csv),
    });
    const answer = job === "verify" ? verifyAnswer : runAnswer;
    const command = ["run", job === "verify" ? "verify" : jobs.customers];
    const { result, ...cost } = await crmSync(program, configuration, command, answer, measured);
    return passageOf(job, way, cost, { ...result, replay: await replay.report() });
  });
}

function passageOf(
  name: string,
  way: Way,
  cost: z.infer<typeof costSchema>,
  did: Pick<Passage, "records" | "replay">,
): Passage {
  const { records, replay } = did;
  if (records !== way.records || replay.refused > 0)
    throw new Error(`${name} worked on ${records} of ${way.records} customers, ${replay.refused} calls had no answer`);
  return { ...cost, records, replay };
}

/** The path of an export of this many customers below a folder; one folder for each number. */
export function exportPath(work: string, records: number): string {
  const folder = join(work, `export-${records}`);
  mkdirSync(folder, { recursive: true });
  return join(folder, "customers.csv");
}
