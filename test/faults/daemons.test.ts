/**
 * @module-tag long
 * @module-tag sized
 */
import { copyFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pLimit from "p-limit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { systemClock } from "../../src/base/clock.ts";
import { exitCodes } from "../../src/base/errors.ts";
import { createIds, systemRandomness } from "../../src/base/ids.ts";
import { Ledger } from "../../src/ledger/ledger.ts";
import { newSandbox } from "../support/world/start.ts";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";
import { fullCheck } from "../support/full-check.ts";
import { startGate } from "../support/gate.ts";
import type { Gate, GateCall } from "../support/gate.ts";
import { startCrmSync } from "../support/process.ts";
import type { Running } from "../support/process.ts";
import { goodRunOf, runJob } from "../support/program.ts";
import type { Ended } from "../support/program.ts";
import { LedgerView } from "../support/ledger-view.ts";
import { temporaryFolder } from "../support/northwind.ts";
import { sampled, sizes } from "../support/sizes.ts";
import { baseWished, configOf, ledgerOf, writeWorld } from "../support/world/small.ts";
import { personal, sealEnvironment, secrets } from "../support/world/crm.ts";

/**
 * Two programs are started on one ledger at the same moment, each with a door of its own to the platform, so that every
 * call tells whose it is. The first call that comes is held at its door until the other program has said that it has to
 * stand back; the winner then goes on, or is killed.
 */
const schedule = '{ kind: sync, streams: [customers, orders, staff], schedule: "* * * * *" }';
const environment = {
  ...sealEnvironment,
  CRM_SYNC__serve__port: "0",
  CRM_SYNC__jobs: `{ everything: ${schedule}, again: ${schedule}, customers-and-orders: { enabled: false }, staff: { enabled: false },
    verify: { enabled: false }, monthly-report: { enabled: false } }`,
};
const longAgo = "2026-01-01T00:00:00.000Z";

const folder = temporaryFolder();
const prepared = join(folder.path, "prepared.db");
const twoAtOnce = pLimit(2);

async function openLedger(path: string): Promise<Ledger> {
  return await Ledger.open({
    path,
    clock: systemClock,
    ids: createIds(() => systemClock.now(), systemRandomness),
    random: systemRandomness,
  });
}

/** A ledger whose two jobs have missed fire times, so that both are due at once. */
beforeAll(async () => {
  const ledger = await openLedger(prepared);
  for (const job of ["everything", "again"]) {
    await ledger.schedule.claim(job, longAgo);
    await ledger.schedule.finish(job, longAgo);
  }
  ledger.close();
});
afterAll(() => folder.remove());

type Command = "run" | "serve";

/** One of the two programs, and its door. */
class Racer {
  readonly command: Command;
  readonly gate: Gate;
  readonly program: Running;
  readonly ended: Promise<Ended>;

  constructor(command: Command, gate: Gate, program: Running) {
    this.command = command;
    this.gate = gate;
    this.program = program;
    this.ended = program.ended;
  }

  /** Whether it ended by itself or was killed. */
  async isOver(): Promise<boolean> {
    return (await Promise.race([this.ended, sleep(0)])) !== undefined;
  }
}

const runRow = z.object({
  id: z.string(),
  job: z.string(),
  trigger: z.string(),
  state: z.string(),
  started_at: z.string(),
  finished_at: z.string().nullable(),
});

class Race {
  readonly path: string;
  readonly sandbox: Sandbox;
  readonly racers: Racer[] = [];
  readonly output: string[] = [];
  /** Resolves with the first call that is held. */
  readonly held: Promise<void>;
  #let: (go: boolean) => void = () => {};
  readonly #go: Promise<boolean>;
  readonly #holdAt: number;
  #isHeld: () => void = () => {};

  /** Holds the writing call of this number, counted from 0: ahead of the platform where it is even, else its reply. */
  constructor(path: string, sandbox: Sandbox, holdAt: number) {
    this.path = path;
    this.sandbox = sandbox;
    this.#holdAt = holdAt;
    this.held = new Promise((resolve) => (this.#isHeld = resolve));
    this.#go = new Promise((resolve) => (this.#let = resolve));
  }

  async start(commands: readonly Command[]): Promise<void> {
    const gates: Gate[] = [];
    const watch = { before: (call: GateCall) => this.#hold(call, 0), after: (call: GateCall) => this.#hold(call, 1) };
    for (const _ of commands) gates.push(await startGate(this.sandbox.url, watch));
    for (const [index, command] of commands.entries()) {
      const gate = gates[index];
      if (gate !== undefined) this.racers.push(new Racer(command, gate, this.program(command, gate.url)));
    }
  }

  async #hold(call: GateCall, parity: 0 | 1): Promise<void> {
    if (!call.writes || call.before !== this.#holdAt || this.#holdAt % 2 !== parity) return;
    this.#isHeld();
    if (!(await this.#go)) throw new Error("the caller is dead");
  }

  release(): void {
    this.#let(true);
  }

  /** SIGKILL, and what it had on its way is as far as it came. */
  async kill(racer: Racer): Promise<void> {
    racer.program.child.kill("SIGKILL");
    const { exitCode: code, signal } = await racer.ended;
    if (signal !== "SIGKILL") throw new Error(`the winner ended by itself with ${code}`);
    this.#let(false);
  }

  get command(): { config: string; ledger: string; environment: typeof environment } {
    return { config: configOf(this.path), ledger: ledgerOf(this.path), environment };
  }

  program(command: Command, url: string): Running {
    const words = command === "run" ? ["run", "everything"] : ["serve"];
    return startCrmSync({ ...this.command, sandbox: url }, "--json", ...words);
  }

  /** Who makes calls, and who does not. */
  sides(): { winner: Racer; loser: Racer } {
    const [one, other] = this.racers;
    if (one === undefined || other === undefined) throw new Error("a race takes two");
    return one.gate.calls().all > 0 ? { winner: one, loser: other } : { winner: other, loser: one };
  }

  runs(): z.infer<typeof runRow>[] {
    const ledger = new LedgerView(ledgerOf(this.path));
    try {
      return ledger.rows(
        runRow,
        "select id, job, trigger, state, started_at, finished_at from run order by started_at, id",
      );
    } finally {
      ledger.close();
    }
  }

  async until(what: string, holds: () => boolean): Promise<void> {
    for (let tries = 0; tries < 1_200; tries += 1) {
      if (holds()) return;
      await sleep(100);
    }
    throw new Error(`it never came to this: ${what}; ${JSON.stringify(this.runs())}`);
  }

  /** `serve` is told to end, `run` ends by itself; both with 0, but for the one that stood back. */
  async end(): Promise<void> {
    for (const racer of this.racers) {
      if (racer.command === "serve") racer.program.child.kill("SIGTERM");
      const ended = await racer.ended;
      this.output.push(ended.stdout, ended.stderr);
      const allowed: readonly (number | null)[] =
        racer.command === "serve" ? [exitCodes.ok] : [exitCodes.ok, exitCodes.runActive];
      if (ended.signal !== "SIGKILL" && !allowed.includes(ended.exitCode))
        throw new Error(`${racer.command} ended with ${ended.exitCode ?? ended.signal}: ${ended.stderr}`);
    }
  }

  async close(): Promise<void> {
    this.#let(false);
    for (const racer of this.racers) {
      if (!(await racer.isOver())) racer.program.child.kill("SIGKILL");
      await racer.ended;
      await racer.gate.close();
    }
    await this.sandbox.close();
  }
}

async function inRace(number: number, holdAt: number, work: (race: Race) => Promise<void>): Promise<void> {
  await twoAtOnce(async () => {
    const path = join(folder.path, `race-${number}`);
    writeWorld(path);
    copyFileSync(prepared, ledgerOf(path));
    const sandbox = await newSandbox();
    const race = new Race(path, sandbox, holdAt);
    try {
      await work(race);
    } finally {
      await race.close();
      rmSync(path, { recursive: true });
    }
  });
}

const fireTimeLine = z.object({ event: z.literal("schedule.fires"), job: z.string(), fireTime: z.string() });

/**
 * Nothing twice: no job fired twice at one time, no two runs at one time, everything on the platform once, and nothing
 * left to do.
 */
async function everythingOnce(race: Race): Promise<void> {
  const fired = race.output
    .flatMap((text) => text.split("\n"))
    .filter((line) => line.includes('"schedule.fires"'))
    .map((line) => fireTimeLine.parse(JSON.parse(line)))
    .map((line) => `${line.job} ${line.fireTime}`);
  expect(fired, "a job fired twice at one time").toEqual([...new Set(fired)]);
  const last = await runJob({ ...race.command, sandbox: race.sandbox.url });
  expect(goodRunOf(last).writingCalls).toBe(0);
  const runs = race.runs();
  for (const [index, run] of runs.entries()) {
    const before = runs[index - 1];
    if (before !== undefined)
      expect((before.finished_at ?? "never") <= run.started_at, "two runs at one time").toBe(true);
  }
  expect(
    await fullCheck({
      ledger: ledgerOf(race.path),
      sandbox: race.sandbox.url,
      wished: baseWished,
      personal,
      secrets,
      output: race.output,
    }),
  ).toEqual([]);
}

/**
 * Resolves once it has said that another program has the run: `run` by its exit code, `serve` by its log, living on.
 */
async function standsBack(racer: Racer): Promise<void> {
  if (racer.command === "serve") {
    expect(await racer.program.says('"event":"schedule.busy"'), "serve ended instead of waiting").toBe(true);
    return;
  }
  const ended = await racer.ended;
  expect(ended.exitCode, ended.stderr).toBe(exitCodes.runActive);
  expect(ended.stderr).toContain("another run is on");
  expect(ended.stderr).toContain("→");
}

/** Resolves with a first call, or when nobody waits for it any more. */
async function callsMade(racer: Racer, over: () => boolean): Promise<void> {
  while (!over() && racer.gate.calls().all === 0) await sleep(50);
}

/** While the winner's call is held: the other has stood back, made no call, and the winner's is the only run. */
async function oneHoldsTheRun(race: Race): Promise<{ winner: Racer; loser: Racer }> {
  await race.held;
  const { winner, loser } = race.sides();
  let isBack = false;
  const back = standsBack(loser).finally(() => (isBack = true));
  await Promise.race([back, callsMade(loser, () => isBack)]);
  expect(loser.gate.calls().all, "who stands back makes no call").toBe(0);
  await back;
  expect(await winner.isOver(), "the winner is still on").toBe(false);
  expect(race.runs().filter((run) => run.state === "running")).toHaveLength(1);
  return { winner, loser };
}

const pairs: readonly (readonly [Command, Command])[] = [
  ["serve", "serve"],
  ["run", "run"],
  ["run", "serve"],
  ["serve", "run"],
];

const races = Array.from({ length: sizes.races }, (_, index) => {
  const [one, other] = pairs[index % pairs.length] ?? (["run", "run"] as const);
  return { number: index + 1, one, other, killed: Math.floor(index / pairs.length) % 2 === 1, holdAt: 1 + (index % 4) };
});

describe.concurrent("two programs on one ledger", () => {
  it.for(sampled(races.filter((race) => !race.killed)))(
    "race $number, $one against $other: one has the run, the other says so and makes no call, and all is done once",
    { timeout: 300_000 },
    async ({ number, one, other, holdAt }) => {
      await inRace(number, holdAt, async (race) => {
        const hold = number === 1 ? await openHold(ledgerOf(race.path)) : undefined;
        await race.start([one, other]);
        const { winner, loser } = await oneHoldsTheRun(race);
        if (hold !== undefined) await shortCommandsWork(race, hold);
        race.release();
        if (winner.command === "run") expect((await winner.ended).exitCode).toBe(exitCodes.ok);
        // A fire time that waited fires when the other's run has ended, in whichever program it waited.
        const scheduled = [winner, loser].some((racer) => racer.command === "serve") ? 2 : 0;
        await race.until("each job that was due was run", () => {
          const done = race.runs().filter((run) => run.trigger === "schedule" && run.state === "done");
          return new Set(done.map((run) => run.job)).size === scheduled;
        });
        await race.end();
        await everythingOnce(race);
      });
    },
  );

  it.for(sampled(races.filter((race) => race.killed)))(
    "race $number, $one against $other, the winner killed with SIGKILL: what waits or comes next takes over without hands",
    { timeout: 300_000 },
    async ({ number, one, other, holdAt }) => {
      await inRace(number, holdAt, async (race) => {
        await race.start([one, other]);
        const { winner, loser } = await oneHoldsTheRun(race);
        const [interrupted] = race.runs();
        await race.kill(winner);
        const killedAt = Date.now();
        if (loser.command === "run") {
          const next = await race.program("run", race.sandbox.url).ended;
          race.output.push(next.stdout, next.stderr);
          goodRunOf(next);
        } else {
          await race.until("the one that waited has taken over", () =>
            race.runs().some((run) => run.id !== interrupted?.id && run.state === "done"),
          );
        }
        const [first, second] = race.runs();
        expect(first).toMatchObject({ id: interrupted?.id, state: "interrupted" });
        // Long before the next tick of the schedule, which comes once a minute. `run` is started by hand here.
        if (loser.command === "serve") expect(Date.parse(second?.started_at ?? "") - killedAt).toBeLessThan(20_000);
        await race.end();
        await everythingOnce(race);
      });
    },
  );
});

describe("a fire time that two programs claim at the same moment", () => {
  it("fires in one of them", async () => {
    const path = join(folder.path, "claims.db");
    const ledgers = [await openLedger(path), await openLedger(path)];
    const fireTimes = Array.from({ length: sizes.races }, (_, index) =>
      new Date(Date.UTC(2026, 0, 1, index)).toISOString(),
    );
    for (const fireTime of fireTimes) {
      const claimed = await Promise.all(ledgers.map((ledger) => ledger.schedule.claim("everything", fireTime)));
      expect(claimed.filter((mine) => mine)).toHaveLength(1);
    }
    for (const ledger of ledgers) ledger.close();
  });
});

/** Something that waits for a person. */
async function openHold(path: string): Promise<string> {
  const ledger = await openLedger(path);
  const customer = { namespace: "crm", id: "C1" };
  const amount = { count: 9, allowed: 5, total: 9, explanation: "9 of 9" };
  const hold = await ledger.approvals.open({ scope: "enterprise", customer, setHash: "0", operations: [], ...amount });
  ledger.close();
  return hold.id;
}

/** What people ask and decide while a run is on. */
async function shortCommandsWork(race: Race, hold: string): Promise<void> {
  for (const words of [["status"], ["settle", "list"], ["approve", hold, "--reason", "asked"]]) {
    const ended = await startCrmSync({ ...race.command, sandbox: race.sandbox.url }, "--json", ...words).ended;
    expect(ended.exitCode, `${words.join(" ")}: ${ended.stderr}`).toBe(exitCodes.ok);
    race.output.push(ended.stdout, ended.stderr);
  }
  expect(race.runs().filter((run) => run.state === "running")).toHaveLength(1);
}
