import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import pLimit from "p-limit";
import { describe, expect, it } from "vitest";
import { callerOf, createEnterprise } from "../sandbox/caller.ts";
import type { Enterprise } from "../sandbox/caller.ts";
import { Draws } from "../simulation/timeline.ts";
import { temporaryFolder } from "../support/northwind.ts";
import { readDuplicates, readState } from "../support/platform-view.ts";
import { compileCache } from "../support/program.ts";
import { startSandboxProcess } from "../support/sandbox-process.ts";
import { sizes } from "../support/sizes.ts";
import { platformOf } from "../support/small-world.ts";
import { KilledWorld } from "./killed-world.ts";

/**
 * The program is killed with SIGKILL at random moments, again and again, while its CRM keeps changing. Each world is independent: its own seed,
 * CRM, ledger, and a platform in a process of its own.
 */
const kills = Number(process.env["KILLS"] ?? sizes.kills);
const killsPerWorld = 25;
/** Kills that meet nothing on its way show nothing: at least this share of them has to. */
const leastSending = 0.4;
const latencyMs = 20;

const worlds = Array.from({ length: Math.ceil(kills / killsPerWorld) }, (_, index) => ({
  seed: index + 1,
  kills: Math.min(killsPerWorld, kills - index * killsPerWorld),
  /** Every other platform carries some calls out long after their caller was killed. */
  platform: index % 2 === 0 ? ("prompt" as const) : ("late" as const),
}));
const twoAtOnce = pLimit(2);

describe.concurrent("killed with SIGKILL at random moments of a long run,", () => {
  it.for(worlds)(
    "nothing is done twice and nothing is lost (seed $seed, $kills kills, a $platform platform)",
    { timeout: 900_000 },
    async ({ seed, kills: wished, platform }, { annotate }) => {
      await twoAtOnce(async () => {
        const folder = temporaryFolder();
        const world = await KilledWorld.start(folder.path, platform, seed);
        const { tally } = world;
        try {
          while (tally.kills < wished && tally.endedFirst <= wished) expect(await world.killOnce()).toEqual([]);
          expect(await world.comeToTheEnd()).toEqual([]);
          expect(tally.kills).toBe(wished);
          expect(tally.sending / wished).toBeGreaterThanOrEqual(leastSending);
          await annotate(tally.text);
        } catch (error) {
          throw new Error(`seed ${seed}: ${tally.text}`, { cause: error });
        } finally {
          await world.close();
          folder.remove();
        }
      });
    },
  );
});

describe("the same kills, at a naive script that writes down what was answered,", () => {
  const seed = 1;
  const naiveKills = 25;

  it(
    `make at least 100 duplicates, and the platform shows them (seed ${seed}, ${naiveKills} kills)`,
    { timeout: 300_000 },
    async ({ annotate }) => {
      const folder = temporaryFolder();
      const sandbox = await startSandboxProcess({ store: platformOf(folder.path), latencyMs });
      try {
        const paths = ["orders.ndjson", "enterprises.json", "progress"].map((name) => join(folder.path, name));
        const [orders = "", enterprises = ""] = paths;
        const caller = callerOf(sandbox.url);
        const made: Record<string, Enterprise> = {};
        for (const id of ["C1", "C2", "C3"]) made[id] = await createEnterprise(caller, id);
        writeFileSync(enterprises, JSON.stringify(made));
        const rows = Array.from({ length: 1200 }, (_, index) => ({
          id: `O${index}`,
          customer: `C${(index % 3) + 1}`,
          assets: [{ id: `A${index}`, product: `P-A${index}` }],
        }));
        writeFileSync(orders, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));

        const draws = new Draws(seed);
        const start = () =>
          spawn(process.execPath, [join(import.meta.dirname, "naive-script.ts"), sandbox.url, ...paths], {
            stdio: ["ignore", "pipe", "inherit"],
            env: { PATH: process.env["PATH"] ?? "", NODE_COMPILE_CACHE: compileCache },
          });
        for (let kill = 0; kill < naiveKills; kill += 1) {
          const script = start();
          const exited = once(script, "exit");
          await once(script.stdout, "data");
          await pause(draws.whole(20, 80));
          script.kill("SIGKILL");
          expect(await exited, `kill ${kill + 1}`).toEqual([null, "SIGKILL"]);
        }
        expect(await once(start(), "exit")).toEqual([0, null]);
        const state = await readState(sandbox.url);
        expect(Object.keys(state.orders)).toHaveLength(rows.length);
        const twice = Object.values(state.orders).reduce((sum, order) => sum + order.calls - 1, 0);
        await annotate(`${twice} duplicates in ${naiveKills} kills`);
        expect(twice).toBeGreaterThanOrEqual(100);
        expect((await readDuplicates(sandbox.url)).orders.length).toBeGreaterThanOrEqual(100);
      } finally {
        await sandbox.close();
        folder.remove();
      }
    },
  );
});
