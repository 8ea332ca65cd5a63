/**
 * @module-tag long
 * @module-tag sized
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { EndpointId } from "../../src/sandbox/endpoints.ts";
import { callerOf, createEnterprise, type Enterprise } from "../sandbox/caller.ts";
import { Draws } from "../simulation/timeline.ts";
import { Cells, type Cell } from "../support/cells.ts";
import type { Parsed } from "../support/cli.ts";
import { killAtStep } from "../support/killed-at.ts";
import { compileCache, startCrmSync } from "../support/process.ts";
import { isFull, sizes } from "../support/sizes.ts";
import { platformOf, writeWorld } from "../support/world/small.ts";
import { GrowingCrm } from "./growing-crm.ts";

/**
 * The program is killed with SIGKILL at random moments, again and again, while its CRM keeps changing. The seed says
 * what changes and at which call or step the kill comes.
 */
const killsPerWorld = 25;
const worlds = Array.from({ length: Math.ceil(sizes.kills / killsPerWorld) }, (_, index) => [index + 1] as const);
const editsPerKill = 6;

const settings = {
  CRM_SYNC__assumptions__poolBatch: "3",
  // What kills hold up adds up, and no limit is meant here.
  CRM_SYNC__limits__removals__enterprise__floor: "1000000",
  CRM_SYNC__limits__removals__run__floor: "1000000",
  CRM_SYNC__limits__removals__run__share: "1",
};

const writes = ["E2", "E4", "E5", "E9", "M1", "M9"] as const satisfies EndpointId[];
const words = ["--json", "run", "everything"];

/** Starts a run and kills it at a random moment; false where it ended before that. */
async function killedOnce(cell: Cell, draws: Draws): Promise<boolean> {
  const kind = draws.fraction();
  if (kind < 0.15) return (await killAtStep(cell, draws.whole(1, 60), ...words)).signal === "SIGKILL";
  const when = draws.chance(0.5) ? "before" : "after";
  const stop =
    kind < 0.3
      ? cell.stopsAt("*", when, draws.whole(1, 30))
      : cell.stopsAt(draws.pick(writes) ?? "E5", when, draws.whole(1, 3));
  const running = startCrmSync(cell.ownPlace, ...words);
  await Promise.race([stop.reached, running.ended]);
  running.child.kill("SIGKILL");
  const ended = await running.ended;
  // What the killed program had written reaches the platform after its death.
  stop.goOn();
  cell.output.push(ended.stdout, ended.stderr);
  cell.followsTheMachine();
  return ended.signal === "SIGKILL";
}

/** At most one operation of a customer is in doubt, and the audit log is whole; answers how many there are. */
async function inDoubt(cell: Cell): Promise<number> {
  const open: Parsed[] = (await cell.ask("settle", "list")).filter(({ state }: Parsed) => state !== "parked");
  const customers = open.map(({ customer }) => customer.id);
  expect(customers, "more than one operation of a customer is open").toEqual([...new Set(customers)]);
  expect((await cell.carryOut("audit", "verify")).exitCode).toBe(0);
  return open.length;
}

const cells = new Cells();
afterAll(() => cells.remove());

describe("a program that is killed at random moments of a long run", () => {
  it.each(worlds)("does nothing twice and loses nothing (seed %i)", async (seed) => {
    const draws = new Draws(seed);
    const crm = new GrowingCrm(draws, 4);
    const folder = cells.place(`world-${seed}`);
    writeWorld(folder, crm.world());
    await cells.open(folder, settings, async (cell) => {
      let [kills, doubts] = [0, 0];
      for (let starts = 0; kills < Math.min(sizes.kills, killsPerWorld) && starts < 3 * killsPerWorld; starts += 1) {
        if (await killedOnce(cell, draws)) kills += 1;
        if ((await inDoubt(cell)) > 0) doubts += 1;
        for (let edits = 0; edits < editsPerKill; edits += 1) crm.edit();
        writeWorld(folder, crm.world());
      }
      expect(doubts, "kills that left something in doubt").toBeGreaterThan(kills / 3);
      // The first E2 of a ledger waits for a person where it is in doubt: that E3 would show it is not proven yet.
      await cell.decide(() => cell.done("E2") > 0);
      await cell.comesToRest();
      const wished = crm.wished();
      expect(await cell.wrong(wished)).toEqual([]);
      expect([cell.done("E2"), cell.done("E5")]).toEqual([wished.enterprises, wished.orders]);
    });
    expect(crm.differences(platformOf(folder))).toEqual([]);
  });
});

describe.runIf(isFull)("the same kills, at a naive script that writes down what was answered,", () => {
  const kills = 25;
  const leastTwice = 100;
  /** Calls that the script has under way at once. */
  const lanes = 16;
  const mostAnswered = 32;

  it(`make at least ${leastTwice} duplicates in ${kills} kills, and the platform shows them`, async () => {
    const folder = cells.place("naive");
    writeWorld(folder);
    const draws = new Draws(1);
    let [answers, unanswered] = [Infinity, 0];
    let kill = (): void => {};
    /** After so many answers the platform is silent; the kill comes when so many calls are done and not answered. */
    const gate = async (_operation: EndpointId, when: "before" | "after"): Promise<void> => {
      if (when === "before") return;
      answers -= 1;
      if (answers >= 0) return;
      unanswered -= 1;
      if (unanswered === 0) kill();
      await new Promise(() => {});
    };
    const work = async ({ sandbox }: Cell): Promise<void> => {
      const paths = ["orders.ndjson", "enterprises.json", "progress"].map((name) => join(folder, `naive-${name}`));
      const [orders = "", enterprises = ""] = paths;
      const caller = callerOf(sandbox.url);
      const made: Record<string, Enterprise> = {};
      for (const id of ["C1", "C2", "C3"]) made[id] = await createEnterprise(caller, id);
      writeFileSync(enterprises, JSON.stringify(made));
      const rows = Array.from({ length: kills * (mostAnswered + lanes) }, (_, index) => ({
        id: `O${index}`,
        customer: `C${(index % 3) + 1}`,
        assets: [{ id: `A${index}`, product: `P-A${index}` }],
      }));
      writeFileSync(orders, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
      const start = () =>
        spawn(process.execPath, [join(import.meta.dirname, "naive-script.ts"), sandbox.url, ...paths], {
          stdio: ["ignore", "ignore", "inherit"],
          env: { PATH: process.env["PATH"] ?? "", NODE_COMPILE_CACHE: compileCache },
        });
      for (let number = 1; number <= kills; number += 1) {
        answers = draws.whole(0, mostAnswered);
        unanswered = draws.whole(1, lanes);
        const script = start();
        kill = () => void script.kill("SIGKILL");
        expect(await once(script, "exit"), `kill ${number}`).toEqual([null, "SIGKILL"]);
      }
      answers = Infinity;
      expect(await once(start(), "exit")).toEqual([0, null]);
      const all = Object.values(sandbox.state().orders);
      expect(all).toHaveLength(rows.length);
      expect(all.reduce((sum, order) => sum + order.calls - 1, 0)).toBeGreaterThanOrEqual(leastTwice);
      expect(sandbox.duplicates().orders.length).toBeGreaterThanOrEqual(leastTwice);
    };
    await cells.open(folder, {}, work, { gate });
  });
});
