/**
 * @module-tag long
 * @module-tag sized
 */
import { afterAll, describe, expect, it } from "vitest";
import { exitCodes } from "../../src/base/errors.ts";
import { Cells, type Cell } from "../support/cells.ts";
import type { Parsed } from "../support/cli.ts";
import { startGate, type Gate } from "../support/gate.ts";
import { startCrmSync, type Running } from "../support/process.ts";
import { sizes } from "../support/sizes.ts";
import { writeWorld } from "../support/world/small.ts";

/**
 * Two programs are started on one ledger at the same moment, each with a door of its own to the platform, so that every
 * call tells whose it is. A call is held until the other program has said that it has to stand back; the winner then
 * goes on, or is killed.
 */
const schedule = '{ kind: sync, streams: [customers, orders, staff], schedule: "* * * * *" }';
const settings = {
  CRM_SYNC__serve__port: "0",
  CRM_SYNC__jobs: `{ everything: ${schedule}, again: ${schedule}, customers-and-orders: { schedule: null },
    staff: { schedule: null }, verify: { schedule: null }, monthly-report: { schedule: null } }`,
};
type Command = "run" | "serve";

interface Racer {
  command: Command;
  gate: Gate;
  program: Running;
}

const cells = new Cells();
afterAll(() => cells.remove());

async function startRacer(cell: Cell, command: Command): Promise<Racer> {
  const gate = await startGate(cell.sandbox.url);
  const words = command === "run" ? ["run", "everything"] : ["serve"];
  const program = startCrmSync({ ...cell.ownPlace, sandbox: gate.url }, "--json", ...words);
  return { command, gate, program };
}

/** It says that another program has the run: `run` by its exit code, `serve` by its log, living on. */
async function standsBack({ command, program }: Racer): Promise<void> {
  if (command === "run") expect((await program.ended).exitCode).toBe(exitCodes.runActive);
  else expect(await program.says('"event":"schedule.busy"'), "serve ended instead of waiting").toBe(true);
}

/** Everything that fires is there once. */
function firedOf(racers: readonly Racer[]): string[] {
  return racers
    .flatMap(({ program }) => program.stderr().split("\n"))
    .filter((line) => line.includes('"schedule.fires"'))
    .map((line): Parsed => JSON.parse(line))
    .map(({ job, fireTime }) => `${job} ${fireTime}`);
}

/** Waits until this many runs of it came to their end, or all of it did. */
async function hasRun({ program }: Racer, times: number): Promise<void> {
  await program.says(new RegExp(`(?:"msg":"run ended"[^]*){${times}}`, "u"));
}

const pairs: readonly (readonly [Command, Command])[] = [
  ["serve", "serve"],
  ["run", "run"],
  ["run", "serve"],
  ["serve", "run"],
];
const races = Array.from({ length: sizes.races }, (_, index) => {
  const [one, other] = pairs[index % pairs.length] ?? (["run", "run"] as const);
  return [one, other, Math.floor(index / pairs.length) % 2 === 0 ? "goes on" : "is killed", index + 1] as const;
});

describe("two programs on one ledger", () => {
  it.each(races)(
    "one of which has the run, and the other makes no call: %s against %s, the winner %s (%i)",
    async (one, other, fate, number) => {
      const folder = cells.place(`race-${number}`);
      writeWorld(folder);
      await cells.open(folder, settings, async (cell) => {
        await cell.missesItsJobs();
        const held = cell.stopsAt(
          number % 2 === 0 ? "E5" : "E2",
          Math.floor(number / 2) % 2 === 0 ? "before" : "after",
        );
        const racers = [await startRacer(cell, one), await startRacer(cell, other)] as const;
        await held.reached;
        const [winner, loser] = racers[0].gate.calls().all > 0 ? racers : racers.toReversed();
        if (winner === undefined || loser === undefined) throw new Error("a race takes two");
        await standsBack(loser);
        expect(loser.gate.calls().all, "who stands back makes no call").toBe(0);
        // What people ask while a run is on.
        const [running] = await cell.ask("runs", "--limit", "1");
        expect(running.state).toBe("running");
        expect((await cell.carryOut("status")).exitCode).toBe(0);
        if (fate === "is killed") winner.program.child.kill("SIGKILL");
        if (fate === "is killed") await winner.program.ended;
        held.goOn();
        // A fire time that waited fires when the run of the other has ended, in whichever program it waited.
        if (fate === "goes on" && winner.command === "run") expect((await winner.program.ended).exitCode).toBe(0);
        if (fate === "goes on" && winner.command === "serve") await hasRun(winner, 1);
        if (loser.command === "serve") await hasRun(loser, 1);
        for (const { command, program } of racers) {
          if (command === "serve") program.child.kill("SIGTERM");
          const { exitCode, signal, stdout, stderr } = await program.ended;
          cell.output.push(stdout, stderr);
          if (signal !== "SIGKILL") expect([exitCodes.ok, exitCodes.runActive]).toContain(exitCode);
        }
        for (const { gate } of racers) await gate.close();
        cell.followsTheMachine();
        const fired = firedOf(racers);
        expect(fired, "a job fired twice at one time").toEqual([...new Set(fired)]);
        await cell.comesToRest();
        expect(await cell.wrong({})).toEqual([]);
        const runs: Parsed[] = (await cell.ask("runs", "--limit", "100")).toReversed();
        const overlapping = runs.filter(({ startedAt }, index) => (runs[index - 1]?.finishedAt ?? "") > startedAt);
        expect(overlapping, "two runs at one time").toEqual([]);
        if (fate === "is killed") expect(runs.find(({ id }) => id === running.id)?.state).toBe("interrupted");
      });
    },
  );
});
