import { describe, expect, it } from "vitest";
import { exitCodes } from "../../src/base/errors.ts";
import type { RunRequest } from "../../src/run/request.ts";
import { runSync } from "../../src/run/run.ts";
import { limitsSettingsSchema } from "../../src/run/settings.ts";
import type { RunSummary } from "../../src/run/summary.ts";
import { ApplyWorld, customerRecord, orderRecord, staffRecord } from "../apply/world.ts";

/** Whatever is taken away needs a person's word. */
const limits = limitsSettingsSchema.parse({ revokes: { enterprise: { floor: 0, share: 0 } } });

async function run(world: ApplyWorld, request: Partial<RunRequest> = {}): Promise<RunSummary> {
  const dependencies = { ...world.deps, sources: [], concurrency: 2, progress: () => {} };
  return await runSync(dependencies, {
    job: "everything",
    trigger: "hand",
    streams: ["customers", "orders", "staff"],
    limits,
    read: false,
    header: {},
    ...request,
  });
}

/** A customer whose one revoke waits for a person, and a change beside it that makes the next run look again. */
async function held(): Promise<{ world: ApplyWorld; hold: string }> {
  const world = await ApplyWorld.start();
  await world.take("customers", customerRecord());
  await world.take("orders", orderRecord("O1"));
  await world.take("staff", staffRecord("S1", { assets: [{ instanceId: "A0-O1" }] }));
  expect((await run(world)).exitCode).toBe(exitCodes.ok);
  expect(world.sandbox.state().assignments).toBe(1);
  await world.take("staff", staffRecord("S1"));
  const summary = await run(world);
  expect(summary.exitCode).toBe(exitCodes.held);
  await world.take("staff", staffRecord("S2"));
  return { world, hold: summary.held[0]?.hold ?? "" };
}

/** Lets something happen once, right before the ledger does what `method` does. */
function before(world: ApplyWorld, method: "openHold" | "recordOutcomes", act: () => Promise<unknown>): void {
  const { ledger } = world;
  let acted = false;
  const once = async (): Promise<void> => {
    if (acted) return;
    acted = true;
    await act();
  };
  if (method === "openHold") {
    const real = ledger.openHold.bind(ledger);
    ledger.openHold = async (hold) => {
      await once();
      return await real(hold);
    };
  } else {
    const real = ledger.recordOutcomes.bind(ledger);
    ledger.recordOutcomes = async (...parameters) => {
      await once();
      await real(...parameters);
    };
  }
}

describe("a person who decides on a hold while a run is on", () => {
  it.each(["openHold", "recordOutcomes"] as const)("is heard: approved right before %s", async (method) => {
    const { world, hold } = await held();
    before(world, method, () => world.ledger.decideHold(hold, "approved", "asked the customer"));
    await run(world);
    const last = await run(world);
    expect(world.sandbox.state().assignments).toBe(0);
    expect(last).toMatchObject({ exitCode: exitCodes.ok, held: [] });
    expect((await world.ledger.openHolds()).map((item) => item.state)).toEqual([]);
  });

  it("is heard: rejected right before a hold would be opened", async () => {
    const { world, hold } = await held();
    before(world, "openHold", () => world.ledger.decideHold(hold, "rejected", "a mistake in the CRM"));
    await run(world);
    const last = await run(world);
    expect(world.sandbox.state().assignments).toBe(1);
    expect(last).toMatchObject({ exitCode: exitCodes.ok, held: [] });
  });
});

describe("a hold that the CRM has made needless", () => {
  it("lapses, and asks nobody any more", async () => {
    const { world, hold } = await held();
    await world.take("staff", staffRecord("S1", { assets: [{ instanceId: "A0-O1" }] }));
    expect(await run(world)).toMatchObject({ exitCode: exitCodes.ok, held: [] });
    await expect(world.ledger.decideHold(hold, "approved", "late")).rejects.toMatchObject({ code: "hold.decided" });
  });

  it("stays where its revokes are only blocked for now", async () => {
    const { world, hold } = await held();
    world.sqlite().exec(
      `insert into quarantine (id, source, stream, customer_namespace, customer_id, place, field, code, message, raw_ref, raw_hash, first_seen,
         last_seen, last_read, state) values ('q', 'erp', 'staff', 'crm', 'C1', 'x', 'x', 'x', 'x', 'x', 'x', 'x', 'x', 1, 'open')`,
    );
    await run(world);
    expect((await world.ledger.openHolds()).map((item) => item.id)).toEqual([hold]);
  });
});
