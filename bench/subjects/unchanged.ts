import { createHash, hash } from "node:crypto";
import { createReadStream } from "node:fs";
import { parse } from "csv-parse";
import type { RunDependencies } from "../../src/engine/run/request.ts";
import { ingestStream } from "../../src/ingest/ingest.ts";
import { type Worked, stopwatch } from "./worked.ts";
import { trustedAt } from "../../test/support/trusted.ts";

/** One round: the same rows by a bare loop, and by the program, which finds all of them as they were. */
export interface UnchangedRound {
  bare: Worked;
  program: Worked;
}

/**
 * T4: reads the export `rounds` times by a bare loop (the file, csv-parse, sha-256 of each row) and, in turn with it,
 * as a run does whose rows are as they were. No call is made and nothing is planned.
 */
export async function readUnchanged(
  dependencies: RunDependencies,
  csv: string,
  rounds: number,
): Promise<{ records: number; unchanged: UnchangedRound[] }> {
  const { records } = await ingest(dependencies);
  const unchanged: UnchangedRound[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const bare = await bareLoop(csv);
    const program = await ingest(dependencies);
    if (program.unchanged !== records) throw new Error(`${program.unchanged} of ${records} rows were as they were`);
    unchanged.push({ bare, program: program.worked });
  }
  return { records, unchanged };
}

async function ingest(dependencies: RunDependencies): Promise<{ records: number; unchanged: number; worked: Worked }> {
  const { ledger, settings, sources } = dependencies;
  const [source] = sources;
  if (source === undefined) throw new Error("there is no source");
  const run = await ledger.runs.start({ job: "bench", kind: "sync", trigger: "hand", scope: null, header: {} });
  const worked = stopwatch();
  const tally = await ingestStream(
    {
      ledger,
      settings,
      limits: { sourceShrink: 0.1, newIds: { floor: 5, share: 0.05 }, massChange: { floor: 20, share: 0.2 } },
      absence: { reads: 3, ms: 0, time: async () => trustedAt(dependencies.clock.now()) },
      clock: dependencies.clock,
    },
    { source, stream: "customers", run, job: "bench", accepts: [], progress: () => {} },
  );
  const took = worked();
  if (tally.problem !== undefined) throw tally.problem;
  await ledger.runs.finish(run, { state: "done", exitCode: 0, balance: null, summary: {} });
  return { records: tally.extracted, unchanged: tally.unchanged, worked: took };
}

async function bareLoop(csv: string): Promise<Worked> {
  const worked = stopwatch();
  const all = createHash("sha256");
  for await (const row of createReadStream(csv).pipe(parse())) all.update(hash("sha256", JSON.stringify(row)));
  all.digest();
  return worked();
}
