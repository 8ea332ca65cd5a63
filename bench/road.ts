import { join } from "node:path";
import { z } from "zod";
import { writeCustomers } from "./customers.ts";
import { type Measuring, eachProgram, ofPrograms } from "./measuring.ts";
import { exportPath, passageSchema, peerPass, programPass } from "./passage.ts";

const tourSchema = z.object({ first: passageSchema, unchanged: passageSchema, verify: passageSchema });

/** The figures of one round: all of them were taken one after the other, so that they can be compared. */
export const roundSchema = z.object({
  floor: passageSchema,
  script: passageSchema,
  programs: ofPrograms(tourSchema),
});
export type Round = z.infer<typeof roundSchema>;

/** First run, run without a change and verify, beside the floor and the script; `rounds` times in turns. */
export async function measureRoad(measuring: Measuring, records: number, rounds: number): Promise<Round[]> {
  const { work, tell, programs } = measuring;
  const csv = exportPath(work, records);
  writeCustomers(csv, records);
  const taken: Round[] = [];
  for (let number = 1; number <= rounds; number += 1) {
    const say = (step: string): void => tell(`round ${number} of ${rounds}: ${step}`);
    const folder = (name: string): string => join(work, `round-${number}`, name);
    say("bare lanes");
    const floor = await peerPass("floor", { csv, records, directory: folder("floor") });
    say("p-limit and fetch");
    const script = await peerPass("script", { csv, records, directory: folder("script") });
    const tours = await eachProgram(programs, async (program, name) => {
      const way = { csv, records, directory: folder(name) };
      say(`${name}: first run`);
      const first = await programPass(program, "customers", way);
      say(`${name}: run without a change`);
      const unchanged = await programPass(program, "customers", way);
      say(`${name}: verify`);
      return { first, unchanged, verify: await programPass(program, "verify", way) };
    });
    taken.push({ floor, script, programs: tours });
  }
  return taken;
}

export const largeSchema = z.object({
  records: z.int(),
  /** Once for each program: its peak memory counts. */
  first: ofPrograms(passageSchema),
  /** The floor at the size of the rounds, and runs that find nothing to do, in turns. */
  rounds: z.array(z.object({ floor: passageSchema, unchanged: ofPrograms(passageSchema) })),
});
export type Large = z.infer<typeof largeSchema>;

/**
 * A first run of many customers, and then runs that find nothing to do: so many rows that the start of the program does
 * not count.
 */
export async function measureLarge(
  measuring: Measuring,
  sizes: { records: number; floorRecords: number; rounds: number },
): Promise<Large> {
  const { work, tell, programs } = measuring;
  const { records, floorRecords, rounds } = sizes;
  const csv = exportPath(work, records);
  writeCustomers(csv, records);
  const floorCsv = exportPath(work, floorRecords);
  writeCustomers(floorCsv, floorRecords);
  const way = (name: string) => ({ csv, records, directory: join(work, "large", name) });
  const first = await eachProgram(programs, async (program, name) => {
    tell(`${name}: first run of ${records}`);
    return await programPass(program, "customers", way(name));
  });
  const taken: Large["rounds"] = [];
  for (let number = 1; number <= rounds; number += 1) {
    tell(`rows as they were, ${number} of ${rounds}`);
    const directory = join(work, "large", `floor-${number}`);
    const floor = await peerPass("floor", { csv: floorCsv, records: floorRecords, directory });
    const unchanged = await eachProgram(
      programs,
      async (program, name) => await programPass(program, "customers", way(name)),
    );
    taken.push({ floor, unchanged });
  }
  return { records, first, rounds: taken };
}
