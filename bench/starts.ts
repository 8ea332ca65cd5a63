import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { writeConfiguration } from "./configuration.ts";
import { writeCustomers } from "./customers.ts";
import { median, timeOf } from "./measure.ts";
import { type Measuring, eachProgram, ofPrograms } from "./measuring.ts";
import { lanes, programPass } from "./passage.ts";
import { type Program, ownProgram } from "./program.ts";

/**
 * Milliseconds of wall time from the start of a process to its end, of each round: a Node that does nothing, and
 * commands by the launcher, what it starts, and the source.
 */
export const startsSchema = z.object({
  bareNode: z.array(z.number()),
  help: z.array(z.number()),
  bundleHelp: z.array(z.number()),
  sourceHelp: z.array(z.number()),
  status: z.array(z.number()),
});
export type Starts = z.infer<typeof startsSchema>;
export const startsOfSchema = ofPrograms(startsSchema);

const records = 20;

/** Starts each of them once in each round, after one round that is not counted. */
export async function measureStarts(measuring: Measuring, rounds: number) {
  return await eachProgram(measuring.programs, async (program, name) => {
    measuring.tell(`starts, ${name}`);
    return await startsOf(program, join(measuring.work, "starts", name), rounds);
  });
}

async function startsOf(program: Program, directory: string, rounds: number): Promise<Starts> {
  mkdirSync(directory, { recursive: true });
  const csv = join(directory, "customers.csv");
  writeCustomers(csv, records);
  await programPass(program, "customers", { csv, records, directory });
  const configuration = writeConfiguration(directory, { baseUrl: "http://127.0.0.1:9", lanes, source: directory });
  const launcher = join(program.root, "bin/crm-sync");
  const node = process.execPath;
  const commands: Record<keyof Starts, [string, string[]]> = {
    bareNode: [node, ["-e", "0"]],
    help: [launcher, ["--help"]],
    bundleHelp: [node, [...program.nodeOptions, program.script, "--help"]],
    sourceHelp: [node, [join(program.root, "src/main.ts"), "--help"]],
    status: [launcher, ["--config", configuration, "status"]],
  };
  const taken: Starts = { bareNode: [], help: [], bundleHelp: [], sourceHelp: [], status: [] };
  for (let round = 0; round <= rounds; round += 1) {
    for (const name of startsSchema.keyof().options) {
      const [command, words] = commands[name];
      const seconds = await timeOf(command, words);
      if (seconds === undefined) throw new Error(`${command} ${words.join(" ")} did not end well`);
      if (round > 0) taken[name].push(seconds * 1_000);
    }
  }
  return taken;
}

/** `node bench/starts.ts`: these alone, which takes some seconds. */
if (import.meta.main) {
  const work = mkdtempSync(join(tmpdir(), "crm-sync-starts-"));
  try {
    const taken = await startsOf(ownProgram(), work, 20);
    console.log("20 rounds in turns; milliseconds, and how often a bare Node: fewest, middle");
    const [fewestBare, middleBare] = [Math.min(...taken.bareNode), median(taken.bareNode)];
    for (const name of startsSchema.keyof().options) {
      const [fewest, middle] = [Math.min(...taken[name]), median(taken[name])];
      const ratios = [fewest / fewestBare, middle / middleBare].map((one) => one.toFixed(2));
      console.log(`${name.padEnd(12)} ${fewest.toFixed(0)}, ${middle.toFixed(0)} ms; ${ratios.join(" ×, ")} ×`);
    }
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
