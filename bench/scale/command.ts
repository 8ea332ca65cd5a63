import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { writeConfiguration } from "../configuration.ts";
import { lanes } from "../passage.ts";
import { type Program, crmSync } from "../program.ts";
import { type ReplayReport, withReplay } from "../replay/replay.ts";
import type { Phase } from "./phases.ts";
import type { PhaseTaken } from "./scaled.ts";

/** Where the exports and the ledger of one size lie. */
export interface Place {
  customers: number;
  directory: string;
  source: string;
  tell: (step: string) => void;
}

/** A run that synchronises says how much it did; of every command the exit code is 0. */
const answer = z
  .looseObject({ balance: z.object({ operations: z.object({ done: z.int() }) }).nullish() })
  .transform(({ balance }) => balance?.operations.done ?? 0);

const progressMs = 15_000;

/** Runs one command on the ledger of this size, against services that remember what earlier phases told them. */
export async function measureCommand(
  program: Program,
  phase: Phase,
  place: Place,
  command: readonly string[],
): Promise<PhaseTaken> {
  const { directory, source } = place;
  return await withReplay({ latencyMs: 0, memory: join(directory, "services.json") }, async (replay) => {
    const configuration = writeConfiguration(directory, { baseUrl: replay.baseUrl, lanes, source, withOrders: true });
    let asked = Promise.resolve();
    const progress = setInterval(() => {
      asked = replay.report().then(({ total }) => place.tell(`${phase}: ${total} calls so far`));
    }, progressMs);
    const ended = await crmSync(program, configuration, command, answer).finally(() => clearInterval(progress));
    await asked;
    const { result: done, ...cost } = ended;
    return { phase, ...cost, done, calls: made(await replay.report()), ledgerBytes: ledgerBytes(directory) };
  });
}

function made({ calls, refused }: ReplayReport): Record<string, number> {
  if (refused > 0) throw new Error(`${refused} calls had no answer`);
  return Object.fromEntries(Object.entries(calls).filter(([, count]) => count > 0));
}

/** Bytes of the files of the ledger in a folder. */
export function ledgerBytes(directory: string): number {
  const files = ["ledger.db", "ledger.db-wal", "ledger.db.heads"].map((name) => join(directory, name));
  return files.reduce((sum, path) => sum + (existsSync(path) ? statSync(path).size : 0), 0);
}
