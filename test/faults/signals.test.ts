/**
 * @module-tag long
 * @module-tag sized
 */
import { afterAll, describe, expect, it } from "vitest";
import type { EndpointId } from "../../src/sandbox/endpoints.ts";
import { Draws } from "../simulation/timeline.ts";
import { Cells, type Cell } from "../support/cells.ts";
import type { Parsed } from "../support/cli.ts";
import { startCrmSync, type Running } from "../support/process.ts";
import { sizes, spread } from "../support/sizes.ts";
import { writeWorld } from "../support/world/small.ts";
import { GrowingCrm } from "./growing-crm.ts";

/**
 * The program is asked to stop. What is on its way comes to its end and is written down; nothing else begins; the run
 * says that it was stopped, and the next one goes on from there.
 */

/**
 * The two ways in which the program works for long: one job by hand, or the schedule with a fire time that was missed.
 */
const ways = { run: ["run", "everything"], serve: ["serve"] } as const;
type Way = keyof typeof ways;

const customersAtOnce = 4;
const settings = {
  CRM_SYNC__serve__port: "0",
  CRM_SYNC__jobs: `{ everything: { kind: sync, streams: [customers, orders, staff], schedule: "* * * * *" },
    customers-and-orders: { schedule: null }, staff: { schedule: null }, verify: { schedule: null },
    monthly-report: { schedule: null } }`,
  CRM_SYNC__concurrency__customers: String(customersAtOnce),
  // What stops hold up adds up, and no limit is meant here.
  CRM_SYNC__limits__removals__enterprise__floor: "1000000",
  CRM_SYNC__limits__removals__run__floor: "1000000",
  CRM_SYNC__limits__removals__run__share: "1",
};
const writes = ["E2", "E4", "E5", "E9", "M1", "M9"] as const satisfies EndpointId[];

const cells = new Cells();
afterAll(() => cells.remove());
let worlds = 0;

/** A CRM that was synchronised and has changed since, and a schedule that is due. */
async function inWorld(
  seed: number,
  more: Record<string, string>,
  work: (cell: Cell, crm: GrowingCrm, draws: Draws) => Promise<void>,
): Promise<void> {
  const draws = new Draws(seed);
  const crm = new GrowingCrm(draws, 4);
  worlds += 1;
  const folder = cells.place(`world-${worlds}`);
  writeWorld(folder, crm.world());
  await cells.open(folder, { ...settings, ...more }, async (cell) => {
    await cell.missesItsJobs();
    await cell.comesToRest();
    for (let edits = 0; edits < 24; edits += 1) crm.edit();
    writeWorld(folder, crm.world());
    await work(cell, crm, draws);
  });
}

const start = (cell: Cell, way: Way): Running => startCrmSync(cell.ownPlace, "--json", ...ways[way]);

/** It names the signal as soon as it has it. */
async function signals(program: Running, signal: NodeJS.Signals): Promise<void> {
  program.child.kill(signal);
  await program.says(signal);
}

const inDoubt = async (cell: Cell): Promise<string[]> =>
  (await cell.ask("settle", "list")).map(({ endpoint, state }: Parsed) => `${endpoint} ${state}`);

async function newestRun(cell: Cell): Promise<Parsed> {
  const [run] = await cell.ask("runs", "--limit", "1");
  return run;
}

async function endsRight(cell: Cell, crm: GrowingCrm): Promise<void> {
  await cell.comesToRest();
  expect(await cell.wrong(crm.wished())).toEqual([]);
  expect([cell.done("E2"), cell.done("E5")]).toEqual([crm.wished().enterprises, crm.wished().orders]);
}

const seeds = Array.from(
  { length: sizes.stops },
  (_, index) => [index + 1, index % 2 === 0 ? "run" : "serve"] as const,
);

describe("SIGTERM at a random call", () => {
  it.each(seeds)("ends the program in good order, and the next run finishes (seed %i, %s)", async (seed, way) => {
    await inWorld(seed, {}, async (cell, crm, draws) => {
      const when = draws.chance(0.5) ? "before" : "after";
      const stop = draws.chance(0.7)
        ? cell.stopsAt(draws.pick(writes) ?? "E5", when, draws.whole(1, 2))
        : cell.stopsAt("*", when, draws.whole(1, 40));
      const program = start(cell, way);
      await Promise.race([stop.reached, program.ended]);
      await signals(program, "SIGTERM");
      const { writingCalls } = cell.sandbox.counts();
      stop.goOn();
      const ended = await program.ended;
      cell.output.push(ended.stdout, ended.stderr);
      cell.followsTheMachine();
      expect(ended.signal, ended.stderr).toBeNull();
      // Intents that were being committed may still be sent, one a customer.
      expect(cell.sandbox.counts().writingCalls - writingCalls).toBeLessThanOrEqual(customersAtOnce);
      expect(await inDoubt(cell)).toEqual([]);
      const { state, exitCode } = await newestRun(cell);
      expect([way === "run" ? ended.exitCode : exitCode, state]).toEqual(
        state === "stopped" ? [1, state] : [0, "done"],
      );
      if (way === "serve") expect(ended.exitCode).toBe(0);
      await endsRight(cell, crm);
    });
  });
});

describe("a second signal while the program stops", () => {
  it.each(
    spread(
      [
        ["serve", "SIGINT", "SIGTERM", 143],
        ["run", "SIGTERM", "SIGINT", 130],
        ["run", "SIGTERM", "SIGTERM", 143],
      ] as const,
      2,
    ),
  )("ends it at once, and the next run takes up what was on its way: %s, %s, %s", async (way, first, second, code) => {
    await inWorld(101, {}, async (cell, crm) => {
      const stop = cell.stopsAt("E5");
      const program = start(cell, way);
      await stop.reached;
      await signals(program, first);
      program.child.kill(second);
      const { exitCode, signal, stderr } = await program.ended;
      stop.goOn();
      cell.followsTheMachine();
      expect([exitCode, signal], stderr).toEqual([code, null]);
      expect(await inDoubt(cell)).toContain("E5 sending");
      await endsRight(cell, crm);
    });
  });
});

describe("SIGTERM while the outcome of a call is not known", () => {
  const impatient = { CRM_SYNC__orderService__callTimeoutMs: "2000" };

  it.each(["run", "serve"] as const)("does not wait for its settle time: %s", async (way) => {
    await inWorld(102, { ...impatient, CRM_SYNC__settle__timeMs: "3600000" }, async (cell, crm) => {
      cell.sandbox.faults.add({ operation: "E5", fault: "silence" });
      const program = start(cell, way);
      expect(await program.says(`"msg":"outcome unknown"`)).toBe(true);
      program.child.kill("SIGTERM");
      const { exitCode, signal, stderr } = await program.ended;
      cell.sandbox.faults.clear();
      cell.followsTheMachine();
      expect([exitCode, signal], stderr).toEqual([way === "run" ? 5 : 0, null]);
      expect(await newestRun(cell)).toMatchObject({ state: "stopped", exitCode: 5 });
      expect(new Set(await inDoubt(cell))).toEqual(new Set(["E5 unknown"]));
      cell.clock.pass(7_200_000);
      await endsRight(cell, crm);
    });
  });

  it("waits until the time of the call is up", async () => {
    await inWorld(103, impatient, async (cell, crm) => {
      cell.sandbox.faults.add({ operation: "E5", fault: "silence" });
      const stop = cell.stopsAt("E5");
      const program = start(cell, "run");
      await stop.reached;
      await signals(program, "SIGTERM");
      stop.goOn();
      const { exitCode } = await program.ended;
      cell.sandbox.faults.clear();
      cell.followsTheMachine();
      expect(exitCode).toBe(5);
      expect(await newestRun(cell)).toMatchObject({ state: "stopped", exitCode: 5 });
      const silent = cell.calls("E5") - cell.done("E5");
      expect(await inDoubt(cell)).toEqual(Array.from({ length: silent }, () => "E5 unknown"));
      await endsRight(cell, crm);
    });
  });
});
