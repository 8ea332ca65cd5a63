import { join } from "node:path";
import { afterAll, expect, it, vi } from "vitest";
import { KnownTables } from "../../src/ledger/state/known.ts";
import { openSandbox } from "../support/world/start.ts";
import { goodRunOf, runJob } from "../support/program.ts";
import { temporaryFolder } from "../support/northwind.ts";
import { base, configOf, ledgerOf, writeWorld } from "../support/world/small.ts";
import { sealEnvironment } from "../support/world/crm.ts";

const folder = temporaryFolder();
afterAll(() => folder.remove());

/**
 * One customer with so many orders of one asset each, two jobs over it, and two runs: how often everything that is
 * known of it is read.
 */
async function readings(orders: number): Promise<number[]> {
  const world = join(folder.path, `of-${orders}`);
  const rows = Array.from({ length: orders }, (_, index) => ({
    id: `O${index}`,
    customer: "C1",
    assets: [`A${index}`],
  }));
  const sandbox = await openSandbox();
  const run = async (placed: number): Promise<number> => {
    writeWorld(world, {
      ...base,
      orders: rows.slice(0, placed),
      staff: base.staff.map((row) => ({ ...row, holds: [] })),
    });
    const known = vi.spyOn(KnownTables.prototype, "known");
    const ended = await runJob({
      config: configOf(world),
      sandbox: sandbox.url,
      ledger: ledgerOf(world),
      environment: { ...sealEnvironment, CRM_SYNC__assumptions__poolBatch: "100" },
    });
    goodRunOf(ended);
    const read = known.mock.calls.length;
    known.mockRestore();
    return read;
  };
  const read = [await run(orders - 3), await run(orders)];
  expect(sandbox.counts().calls["E5"]).toBe(orders);
  return read;
}

it(
  "an order costs the same for a customer that has many: what is known of the customer is not read for each",
  { tags: "long" },
  async () => {
    const few = await readings(5);
    expect(await readings(45)).toEqual(few);
  },
);
