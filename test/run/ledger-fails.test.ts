import { rmSync } from "node:fs";
import { expect, it } from "vitest";
import { exitCodes, Problem } from "../../src/base/errors.ts";
import { ApplyWorld } from "../support/world/apply-world.ts";
import { customerRecord, key, staffRecord } from "../support/world/records.ts";
import { runWorld } from "../support/world/run.ts";

it("a ledger that fails while the platform is read is what a run tells of, not the reading that it ended", async () => {
  const world = await ApplyWorld.start();
  await world.take("customers", customerRecord("C1"), customerRecord("C2"));
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
  await expect(runWorld(failing)).rejects.toMatchObject({ code: "ledger.gone", exitCode: exitCodes.ledgerRefused });
});
