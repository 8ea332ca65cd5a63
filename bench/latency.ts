import { join } from "node:path";
import { z } from "zod";
import { writeCustomers } from "./customers.ts";
import { type Measuring, eachProgram, ofPrograms } from "./measuring.ts";
import { type Passage, exportPath, passageSchema, peerPass, programPass } from "./passage.ts";

/**
 * Milliseconds that each answer is held, calls at once, and how many times the records: none ends sooner than the first
 * of them, so that the start of a program counts little.
 */
const settings = [
  { latencyMs: 20, lanes: 16, times: 1 },
  { latencyMs: 20, lanes: 64, times: 4 },
  { latencyMs: 100, lanes: 16, times: 1 },
  { latencyMs: 100, lanes: 64, times: 1 },
];

export const slowRoundSchema = z.object({
  latencyMs: z.number(),
  lanes: z.int(),
  floor: passageSchema,
  script: passageSchema,
  first: ofPrograms(passageSchema),
});
export type SlowRound = z.infer<typeof slowRoundSchema>;

/** First runs where each call takes a while, beside the floor and the script; `rounds` times in turns. */
export async function measureLatency(measuring: Measuring, records: number, rounds: number): Promise<SlowRound[]> {
  const { work, tell, programs } = measuring;
  const taken: SlowRound[] = [];
  for (let number = 1; number <= rounds; number += 1) {
    for (const { latencyMs, lanes, times } of settings) {
      const customers = records * times;
      const csv = exportPath(work, customers);
      writeCustomers(csv, customers);
      const way = (name: string) => {
        tell(`${latencyMs} ms a call, ${lanes} lanes, ${number} of ${rounds}: ${name}`);
        const directory = join(work, `latency-${latencyMs}-${lanes}-${number}`, name);
        return { csv, records: customers, latencyMs, lanes, directory };
      };
      const floor = await peerPass("floor", way("floor"));
      const script = await peerPass("script", way("script"));
      const first = await eachProgram(programs, async (program, name) => {
        return await programPass(program, "customers", way(name));
      });
      taken.push({ latencyMs, lanes, floor, script, first });
    }
  }
  return taken;
}

/** Records a second that the lanes allow at most, given how long the server really held the calls of a customer. */
export function boundOf(passage: Passage, lanes: number): number {
  return (lanes * 1_000 * passage.records) / passage.replay.heldMs;
}
