import { rmSync } from "node:fs";
import { expect, it } from "vitest";
import { exitCodes, Problem } from "../../src/base/errors.ts";
import { planRun } from "../../src/engine/run/plan-run.ts";
import { limitsSettingsSchema } from "../../src/engine/run/run-settings.ts";
import { runVerify } from "../../src/engine/run/verify-run.ts";
import { ApplyWorld } from "../support/world/apply-world.ts";
import { customerRecord, key, staffRecord } from "../support/world/records.ts";
import { runWorld } from "../support/world/run.ts";

const requested = {
  job: "everything",
  trigger: "hand" as const,
  streams: ["customers" as const, "staff" as const],
  limits: limitsSettingsSchema.parse({}),
  read: false,
  header: {},
};
const dependenciesOf = (world: ApplyWorld) => ({
  ...world.deps,
  sources: [],
  streams: [],
  concurrency: 2,
  progress: () => {},
});

const runs: Record<string, { begins: (world: ApplyWorld) => Promise<unknown>; linked: boolean }> = {
  run: { begins: async (world) => await runWorld(world), linked: false },
  verify: {
    begins: async (world) =>
      await runVerify(dependenciesOf(world), { ...requested, differences: async function* nothing() {} }),
    linked: true,
  },
  plan: { begins: async (world) => await planRun(dependenciesOf(world), requested, () => {}), linked: true },
};

it.each(Object.keys(runs))(
  "a ledger that fails while the platform is read is what a %s tells of, not the reading that it ended",
  async (name) => {
    const { begins, linked } = runs[name] ?? { begins: runWorld, linked: false };
    const world = await ApplyWorld.start();
    await world.take("customers", customerRecord("C1"), customerRecord("C2"));
    if (linked) await runWorld(world);
    await world.take("staff", staffRecord("S1", "C1"), staffRecord("S2", "C2"));
    const { memberCenter } = world.deps.platform;
    const { failed } = world.ledger;
    const stopped = new Problem({ code: "service.aborted", message: "M5 was stopped", cure: "Start it again." });
    const ended = new Promise<never>((_, reject) => failed.addEventListener("abort", () => reject(stopped)));
    ended.catch(() => {});
    const failing = world.with({
      memberCenter: {
        ...memberCenter,
        listStaff: async () => {
          rmSync(world.path, { force: true });
          // What is written next meets that, and nobody waits for it.
          world.ledger.records.lookAgain(key("C1")).catch(() => {});
          return await ended;
        },
      },
    });
    await expect(begins(failing)).rejects.toMatchObject({ code: "ledger.gone", exitCode: exitCodes.ledgerRefused });
  },
);
