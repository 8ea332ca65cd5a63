/**
 * @module-tag long
 * @module-tag sized
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import pLimit from "p-limit";
import { describe, expect, it } from "vitest";
import { newSandbox } from "../support/world/start.ts";
import { callerOf, createEnterprise } from "../sandbox/caller.ts";
import type { Enterprise } from "../sandbox/caller.ts";
import { Draws } from "../simulation/timeline.ts";
import { startGate } from "../support/gate.ts";
import { temporaryFolder } from "../support/northwind.ts";
import { compileCache } from "../support/process.ts";
import { sizes } from "../support/sizes.ts";
import { KilledWorld } from "./killed-program.ts";

/**
 * The program is killed with SIGKILL at random moments, again and again, while its CRM keeps changing. Each world is
 * independent: its own seed, CRM, ledger, and a platform in a process of its own.
 */
const kills = Number(process.env["KILLS"] ?? sizes.kills);
const killsPerWorld = 25;
/** Kills that meet nothing on its way show nothing: at least this share of them has to, or it is killed more often. */
const leastSending = 0.4;
/** Of a few kills chance decides what they meet, so that there may be more of them. */
const mostKills = (wished: number): number => Math.max(2 * wished, 60);

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
          const enough = (): boolean => tally.kills >= wished && tally.sending / wished >= leastSending;
          while (!enough() && tally.endedFirst <= mostKills(wished) && tally.kills < mostKills(wished))
            expect(await world.killOnce()).toEqual([]);
          expect(await world.comeToTheEnd()).toEqual([]);
          expect(tally.kills).toBeGreaterThanOrEqual(wished);
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
  const naiveKills = Math.min(killsPerWorld, kills);
  const leastTwice = 4 * naiveKills;
  /** Calls that the script has under way at once. */
  const lanes = 16;
  const mostAnswered = 32;

  it(`make at least ${leastTwice} duplicates, and the platform shows them (seed ${seed}, ${naiveKills} kills)`, async ({
    annotate,
  }) => {
    const folder = temporaryFolder();
    const sandbox = await newSandbox();
    const draws = new Draws(seed);
    /**
     * After so many answers of this process the platform is silent; the kill comes when so many calls are done there
     * and not answered.
     */
    let answers = Infinity;
    let unanswered = 0;
    let kill = (): void => {};
    const gate = await startGate(sandbox.url, {
      async after() {
        answers -= 1;
        if (answers >= 0) return;
        unanswered -= 1;
        if (unanswered === 0) kill();
        await new Promise(() => {});
      },
    });
    try {
      const paths = ["orders.ndjson", "enterprises.json", "progress"].map((name) => join(folder.path, name));
      const [orders = "", enterprises = ""] = paths;
      const caller = callerOf(sandbox.url);
      const made: Record<string, Enterprise> = {};
      for (const id of ["C1", "C2", "C3"]) made[id] = await createEnterprise(caller, id);
      writeFileSync(enterprises, JSON.stringify(made));
      const rows = Array.from({ length: naiveKills * (mostAnswered + lanes) }, (_, index) => ({
        id: `O${index}`,
        customer: `C${(index % 3) + 1}`,
        assets: [{ id: `A${index}`, product: `P-A${index}` }],
      }));
      writeFileSync(orders, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));

      const start = () =>
        spawn(process.execPath, [join(import.meta.dirname, "naive-script.ts"), gate.url, ...paths], {
          stdio: ["ignore", "ignore", "inherit"],
          env: { PATH: process.env["PATH"] ?? "", NODE_COMPILE_CACHE: compileCache },
        });
      for (let number = 1; number <= naiveKills; number += 1) {
        answers = draws.whole(0, mostAnswered);
        unanswered = draws.whole(1, lanes);
        const script = start();
        kill = () => void script.kill("SIGKILL");
        expect(await once(script, "exit"), `kill ${number}`).toEqual([null, "SIGKILL"]);
      }
      answers = Infinity;
      expect(await once(start(), "exit")).toEqual([0, null]);
      const placed = Object.values(sandbox.state().orders);
      expect(placed).toHaveLength(rows.length);
      const twice = placed.reduce((sum, order) => sum + order.calls - 1, 0);
      await annotate(`${twice} duplicates in ${naiveKills} kills`);
      expect(twice).toBeGreaterThanOrEqual(leastTwice);
      expect(sandbox.duplicates().orders.length).toBeGreaterThanOrEqual(leastTwice);
    } finally {
      await gate.close();
      await sandbox.close();
      folder.remove();
    }
  });
});
