import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { writeCustomers } from "./customers.ts";
import { measure, words } from "./measure.ts";
import { type Measuring, eachProgram } from "./measuring.ts";
import { exportPath, lanes } from "./passage.ts";
import type { Program } from "./program.ts";
import { withReplay } from "./replay/replay.ts";

/** Microseconds. */
const orderSchema = z.object({ bare: z.number(), payload: z.number().optional(), program: z.number() });
export const workedSchema = z.object({ seconds: z.number(), cpuSeconds: z.number() });

/** What single parts of the program came to, each beside something bare in the same process; every round of it. */
export const partsSchema = z.object({
  /**
   * An order of Northwind's size, and one with packages three levels deep; bare: JSON.stringify and sha-256, payload:
   * built, bound, checked and hashed (not in every kept result), program: planned as well.
   */
  order: z.object({ rounds: z.array(z.object({ plain: orderSchema, deep: orderSchema })) }),
  /** Seconds of the processor for the audit chain; bare: the same rows, read and hashed. */
  chain: z.object({
    entries: z.int(),
    append: z.number(),
    rounds: z.array(z.object({ bare: z.number(), verify: z.number() })),
  }),
  /** Reading rows that are as they were; bare: csv-parse and sha-256. */
  rows: z.object({
    records: z.int(),
    unchanged: z.array(z.object({ bare: workedSchema, program: workedSchema })),
  }),
  /** Milliseconds of one flush of this disk, and writing calls a second that the ledger can record in three ways. */
  durability: z.object({ flushMs: z.number(), grouped: z.number(), each: z.number(), normal: z.number() }),
  /** First runs of the engine, with groups of commits and with one commit for each piece of work. */
  commits: z.object({ records: z.int(), grouped: workedSchema, each: workedSchema }),
});
export type Parts = z.infer<typeof partsSchema>;

const sizes = { chainEntries: 200_000, rows: 20_000, commits: 3_000 };

/** Measures the parts of each program; every part runs its rounds in one process. */
export async function measureParts(measuring: Measuring, rounds: number) {
  return await eachProgram(measuring.programs, async (program, name) => {
    const work = join(measuring.work, "parts", name);
    mkdirSync(work, { recursive: true });
    return await partsOf(program, work, rounds, (step) => measuring.tell(`parts, ${name}: ${step}`));
  });
}

async function partsOf(program: Program, work: string, rounds: number, tell: (step: string) => void): Promise<Parts> {
  const { order, chain, rows, durability } = partsSchema.shape;
  tell("orders");
  const orders = await subject(program, "order", { rounds }, order);
  tell("audit chain");
  const chains = await subject(program, "chain", { directory: work, entries: sizes.chainEntries, rounds }, chain);
  tell("rows that are as they were");
  const read = await rowsAsTheyWere(program, work, { records: sizes.rows, rounds }, rows);
  tell("durability");
  const durable = await subject(program, "durability", { directory: work, lanes }, durability);
  tell("one commit each");
  const grouped = await engineRun(program, join(work, "grouped"), 64);
  const each = await engineRun(program, join(work, "each"), 1);
  const commits = { records: sizes.commits, grouped, each };
  return { order: orders, chain: chains, rows: read, durability: durable, commits };
}

/** Rows that are as they were, by the program and by a bare loop in turns. */
export async function rowsAsTheyWere(
  program: Program,
  work: string,
  { records, rounds }: { records: number; rounds: number },
  schema: z.ZodType<Parts["rows"]> = partsSchema.shape.rows,
): Promise<Parts["rows"]> {
  const csv = exportPath(work, records);
  writeCustomers(csv, records);
  // No call is made.
  const options = { "base-url": "http://127.0.0.1:9", csv, directory: dirname(csv), lanes, job: "unchanged", rounds };
  return await subject(program, "program", options, schema);
}

async function engineRun(
  program: Program,
  directory: string,
  groupSize: number,
): Promise<z.infer<typeof workedSchema>> {
  const csv = exportPath(directory, sizes.commits);
  writeCustomers(csv, sizes.commits);
  return await withReplay({ latencyMs: 0 }, async ({ baseUrl }) => {
    const options = { "base-url": baseUrl, csv, directory, lanes, job: "sync", "group-size": groupSize };
    return (await subject(program, "program", options, z.object({ exitCode: z.literal(0), worked: workedSchema })))
      .worked;
  });
}

async function subject<Result>(
  program: Program,
  name: string,
  options: Readonly<Record<string, string | number>>,
  schema: z.ZodType<Result>,
): Promise<Result> {
  const script = join(program.root, `bench/subjects/${name}.ts`);
  return (await measure({ script, args: words(options) }, schema)).result;
}
