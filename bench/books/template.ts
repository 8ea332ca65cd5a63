import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { systemClock } from "../../src/base/clock.ts";
import { systemRandomness } from "../../src/base/ids.ts";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import { crmSync, type Program } from "../program.ts";
import { source, writeExport } from "./export.ts";

/** What the configuration reads from the environment. */
export const environment = { BENCH_SEAL_KEY: "bench-sealing-key-0123456789abcdef" };

/** The time over which the orders of a large ledger are spread, as statements are asked for it. */
export const period = { label: "2026-08..2026-10", from: "2026-08-01", days: 92, last: "2026-10" };

/** No limit stops what the export takes away. */
const anything = { floor: 1_000_000 };

/** Writes the configuration of a ledger of orders into its folder; services are those of `--sandbox`. */
export function writeBooksConfiguration(directory: string): string {
  const configuration = {
    ledger: { path: "ledger.db", sealKey: "env:BENCH_SEAL_KEY" },
    log: { level: "warn" },
    zone: "UTC",
    policies: { orders: { ended: "apply", cancelled: "apply", replaced: "apply" } },
    limits: { removals: { enterprise: anything, run: anything, day: anything, week: anything } },
    sources: { crm: source(join(directory, "export")) },
    jobs: { everything: { kind: "sync", streams: ["customers", "orders", "staff"] } },
  };
  const path = join(directory, "crm-sync.yaml");
  // JSON is YAML.
  writeFileSync(path, `${JSON.stringify(configuration, null, 2)}\n`);
  return path;
}

/**
 * Makes a small ledger as the program itself makes it: orders are placed, some of them changed, and everything is read
 * back. Its rows are what a large one is multiplied from.
 */
export async function makeTemplate(
  program: Program,
  directory: string,
  { ordersEach, poolBatch }: { ordersEach?: number; poolBatch?: number } = {},
): Promise<string> {
  const pool: Record<string, string> =
    poolBatch === undefined ? {} : { CRM_SYNC__assumptions__poolBatch: String(poolBatch) };
  const exported = join(directory, "export");
  mkdirSync(exported, { recursive: true });
  const configuration = writeBooksConfiguration(directory);
  const sandbox = await startSandbox({ store: ":memory:", clock: systemClock, random: systemRandomness });
  try {
    for (const when of ["first", "later"] as const) {
      writeExport(exported, when, ordersEach);
      await crmSync(program, configuration, [`--sandbox=${sandbox.url}`, "run", "everything"], z.unknown(), {
        environment: { ...environment, ...pool },
      });
    }
    await crmSync(program, configuration, [`--sandbox=${sandbox.url}`, "run", "verify"], z.unknown(), {
      environment: { ...environment, ...pool },
    });
  } finally {
    await sandbox.close();
  }
  return join(directory, "ledger.db");
}
