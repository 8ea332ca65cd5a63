import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { jobs, writeConfiguration } from "./configuration.ts";
import { writeCustomers } from "./customers.ts";
import { type Cost, type Measured, costSchema, measure, words } from "./measure.ts";
import { type Measuring, eachProgram, ofPrograms } from "./measuring.ts";
import { exportPath, lanes, programPass } from "./passage.ts";
import { type Program, crmSync } from "./program.ts";

/** Customers that the measured run reads, and that are as they were. */
const customers = 2_000;

const pairSchema = z.object({ without: costSchema, with: costSchema });

/** What a run without a change and `status` cost on a ledger with so many rows of history, and on one without. */
export const historySchema = z.object({
  rows: z.int(),
  rounds: z.array(z.object({ unchanged: pairSchema, status: pairSchema })),
});
type Round = z.infer<typeof historySchema>["rounds"][number];
export const historiesSchema = ofPrograms(historySchema);

/** Puts so many rows of history into a new ledger of this program. */
export async function fillWithHistory(
  program: Program,
  path: string,
  rows: number,
): Promise<Measured<{ rows: number }>> {
  const subject = { script: join(program.root, "bench/subjects/history.ts"), args: words({ path, rows }) };
  return await measure(subject, z.object({ rows: z.int() }));
}

/** Measures a run without a change and `status` on both ledgers in turns, several times. */
export async function measureHistory(measuring: Measuring, rows: number, rounds: number) {
  const csv = exportPath(measuring.work, customers);
  writeCustomers(csv, customers);
  return await eachProgram(measuring.programs, async (program, name) => {
    const tell = (step: string): void => measuring.tell(`history, ${name}: ${step}`);
    const folders = {
      without: join(measuring.work, `history-without-${name}`),
      with: join(measuring.work, `history-with-${name}`),
    };
    for (const folder of Object.values(folders)) mkdirSync(folder, { recursive: true });
    tell(`${rows} rows`);
    const filled = await fillWithHistory(program, join(folders.with, "ledger.db"), rows);
    for (const directory of Object.values(folders))
      await programPass(program, "customers", { csv, records: customers, directory });
    const taken: Round[] = [];
    for (let number = 1; number <= rounds; number += 1) {
      tell(`${number} of ${rounds}`);
      const [without, full] = [await costs(program, csv, folders.without), await costs(program, csv, folders.with)];
      taken.push({
        unchanged: { without: without.unchanged, with: full.unchanged },
        status: { without: without.status, with: full.status },
      });
    }
    rmSync(folders.with, { recursive: true });
    return { rows: filled.result.rows, rounds: taken };
  });
}

async function costs(program: Program, csv: string, directory: string): Promise<{ unchanged: Cost; status: Cost }> {
  const { replay, records, ...unchanged } = await programPass(program, jobs.customers, {
    csv,
    records: customers,
    directory,
  });
  if (replay.total > 0) throw new Error(`${replay.total} calls were made for ${records} customers as they were`);
  const source = join(csv, "..");
  const configuration = writeConfiguration(directory, { baseUrl: "http://127.0.0.1:9", lanes, source });
  const { result: _, ...status } = await crmSync(program, configuration, ["status"], z.unknown());
  return { unchanged, status };
}
