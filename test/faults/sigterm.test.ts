/**
 * @module-tag long
 * @module-tag sized
 */
import { setTimeout as pause } from "node:timers/promises";
import pLimit from "p-limit";
import { describe, expect, it } from "vitest";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";
import { temporaryFolder } from "../support/northwind.ts";
import type { Running } from "../support/process.ts";
import { runResultOf } from "../support/program.ts";
import { sampled, sizes } from "../support/sizes.ts";
import { customersAtOnce, signalled, StoppedWorld, stopNote, untilThere } from "./stopped-program.ts";
import type { Way } from "./stopped-program.ts";

/**
 * The program is asked to stop by SIGTERM. What is on its way comes to its end and is written down; nothing else
 * begins; the run says that it was stopped, and the next one goes on from there.
 */
const promiseMs = 5000;
/** Time of each call. */
const latencyMs = 400;
/**
 * When the stops of one world come: at the first M9, which is the last stage and takes several calls for one customer;
 * in the first moments of a process; at any time of its work; while any writing call is on its way.
 */
const moments = ["grant", "start", "call", "any", "call"] as const;
const stops = sampled(moments, 2);
const worlds = Array.from({ length: Math.ceil(sizes.stops / moments.length) }, (_, index) => ({ seed: index + 1 }));
/** The work of a first run takes longer than this. */
const longestWorkMs = 4000;
const twoAtOnce = pLimit(2);

async function inWorld(seed: number, work: (world: StoppedWorld) => Promise<void>): Promise<void> {
  await twoAtOnce(async () => {
    const folder = temporaryFolder();
    try {
      await work(new StoppedWorld(folder.path, seed));
    } finally {
      folder.remove();
    }
  });
}

/** Waits for a random moment of the kind. */
async function momentOf(
  when: (typeof moments)[number],
  world: StoppedWorld,
  program: Running,
  sandbox: Sandbox,
): Promise<void> {
  const { draws } = world;
  const calls = (): number => sandbox.counts().writingCalls;
  if (when === "start") return await pause(draws.whole(0, 700));
  if (when === "grant") {
    await untilThere(program, () => (sandbox.counts().calls["M9"] ?? 0) > 0);
    return;
  }
  await untilThere(program, () => calls() > 0);
  await pause(draws.whole(0, longestWorkMs));
  if (when === "any") return;
  const before = calls();
  await untilThere(program, () => calls() > before);
}

/** One stop at a random moment. Gives whether a call was on its way. */
async function stopOnce(world: StoppedWorld, way: Way, when: (typeof moments)[number]): Promise<boolean> {
  const sandbox = await world.platform(latencyMs);
  const program = world.start(way, sandbox);
  await momentOf(when, world, program, sandbox);
  const { ended, tookMs, toldAt, heardAt, heard } = await signalled(program, "SIGTERM");
  const { writingCalls } = sandbox.counts();
  await sandbox.close();
  const said = `${way}, ${when}: ${ended.stderr.slice(-3000)}`;

  expect(tookMs, said).toBeLessThan(promiseMs + latencyMs);
  const { run, attempts, open } = world.left();
  expect(open, said).toEqual([]);
  expect(
    attempts.filter((attempt) => attempt.finished === null),
    said,
  ).toEqual([]);
  // Intents that were being committed may still be sent, one a customer; nothing follows an answer.
  const heardMoment = new Date(heardAt).toISOString();
  const late = attempts.filter((attempt) => attempt.started > heardMoment);
  expect(late.length, said).toBeLessThanOrEqual(customersAtOnce);
  for (const { customer, started } of late)
    expect(
      attempts.filter(
        (other) =>
          other.customer === customer && (other.finished ?? "") > heardMoment && (other.finished ?? "") <= started,
      ),
      said,
    ).toEqual([]);
  expect(writingCalls, said).toBe(attempts.filter((attempt) => attempt.outcome !== "not-sent").length);
  if (run !== undefined) {
    expect(run, said).toEqual(
      run.state === "stopped" ? { state: "stopped", exit: 1, adds: true } : { state: "done", exit: 0, adds: true },
    );
  }
  if (!heard) {
    // It had not begun to listen, or had come to its end.
    expect(ended.signal === "SIGTERM" || ended.exitCode === 0, said).toBe(true);
    return false;
  }
  expect(ended.signal, said).toBeNull();
  if (way === "run") {
    const result = runResultOf(ended);
    expect({ code: ended.exitCode, ...run }, said).toEqual({
      code: result.exit,
      state: result.state,
      exit: result.exit,
      adds: true,
    });
  } else {
    expect(ended.exitCode, said).toBe(0);
    expect(ended.stderr, said).toContain(`"msg":"stopping"`);
  }
  if (run?.state === "stopped") expect(ended.stderr, said).toMatch(/"state":"stopped".*"msg":"run ended"/u);
  const moment = new Date(toldAt).toISOString();
  return attempts.some((attempt) => attempt.started <= moment && (attempt.finished ?? "") > moment);
}

describe.concurrent("SIGTERM at a random moment", () => {
  it.for(worlds)(
    `ends the program soon and in good order, and the next run finishes (seed $seed, ${stops.length} stops)`,
    { timeout: 600_000 },
    async ({ seed }, { annotate }) => {
      await inWorld(seed, async (world) => {
        let met = 0;
        for (const [index, when] of stops.entries()) {
          // The first one makes the ledger, and a schedule has nothing due in a new ledger.
          const way = index > 0 && (index + seed) % 2 === 0 ? "serve" : "run";
          if (await stopOnce(world, way, when)) met += 1;
          expect(await world.finish(), `after stop ${index + 1}`).toEqual([]);
          world.edit();
        }
        await annotate(`${met} of ${stops.length} stops met a call on its way`);
        expect(met).toBeGreaterThan(0);
      });
    },
  );
});

/** A ledger whose last run has finished, and edits since then: so that a schedule has something due. */
async function begun(world: StoppedWorld): Promise<void> {
  expect(await world.finish()).toEqual([]);
  world.edit();
}

describe.concurrent("a second signal while it stops", () => {
  it.for(
    sampled([
      { way: "run", first: "SIGTERM", second: "SIGTERM", code: 143 },
      { way: "run", first: "SIGTERM", second: "SIGINT", code: 130 },
      { way: "serve", first: "SIGINT", second: "SIGTERM", code: 143 },
    ] as const),
  )(
    "ends $way at once: $second after $first; what was on its way is taken up by the next run",
    { timeout: 300_000 },
    async ({ way, first, second, code }) => {
      await inWorld(101, async (world) => {
        await begun(world);
        // A call that lasts so long that the second signal comes while it is on its way.
        const sandbox = await world.platform(0, { operation: "writes", fault: "slow", delayMs: 60_000 });
        const program = world.start(way, sandbox);
        expect(await untilThere(program, () => sandbox.counts().writingCalls > 0)).toBe(true);
        program.child.kill(first);
        expect(await program.says(stopNote)).toBe(true);
        const { ended } = await signalled(program, second);
        await sandbox.close();
        expect({ code: ended.exitCode, signal: ended.signal }, ended.stderr).toEqual({ code, signal: null });
        expect(world.left().open.map((operation) => operation.state)).toContain("sending");
        expect(await world.finish(2)).toEqual([]);
        expect(world.differences()).toEqual([]);
      });
    },
  );
});

/**
 * Waits until no call has come for a second: far longer than the time after which an answer is given up, so only a
 * settle time is waited for.
 */
async function untilQuiet(sandbox: Sandbox): Promise<void> {
  const all = (): number => Object.values(sandbox.counts().calls).reduce((sum, calls) => sum + calls, 0);
  for (let before = -1; before !== all();) {
    before = all();
    await pause(1000);
  }
}

describe.concurrent("SIGTERM", () => {
  it.for(sampled(["run", "serve"] as const))(
    "ends %s while it waits for a settle time, which is not waited out",
    { timeout: 300_000 },
    async (way) => {
      await inWorld(102, async (world) => {
        await begun(world);
        const sandbox = await world.platform(0, { operation: "E5", fault: "silence" });
        const program = world.start(way, sandbox, {
          CRM_SYNC__orderService__callTimeoutMs: "300",
          CRM_SYNC__settle__timeMs: "25000",
        });
        expect(await program.says(`"msg":"outcome unknown"`)).toBe(true);
        await untilQuiet(sandbox);
        const { ended, tookMs, heard } = await signalled(program, "SIGTERM");
        await sandbox.close();
        expect(heard, ended.stderr).toBe(true);
        expect(tookMs, ended.stderr).toBeLessThan(promiseMs + 300);
        expect({ code: ended.exitCode, signal: ended.signal }, ended.stderr).toEqual({
          code: way === "run" ? 5 : 0,
          signal: null,
        });
        const { run, open } = world.left();
        expect(run, ended.stderr).toEqual({ state: "stopped", exit: 5, adds: true });
        expect(new Set(open.map((operation) => operation.state)), ended.stderr).toEqual(new Set(["unknown"]));
        expect(await world.finish(2)).toEqual([]);
        expect(world.differences()).toEqual([]);
      });
    },
  );

  it("waits for a call that gets no answer until its time is up, and no longer", async () => {
    await inWorld(103, async (world) => {
      const callMs = 2000;
      const sandbox = await world.platform(0, { operation: "E5", fault: "silence" });
      const program = world.start("run", sandbox, { CRM_SYNC__orderService__callTimeoutMs: String(callMs) });
      expect(await untilThere(program, () => (sandbox.counts().calls["E5"] ?? 0) > 0)).toBe(true);
      const { ended, tookMs } = await signalled(program, "SIGTERM");
      const { calls } = sandbox.counts();
      await sandbox.close();
      expect(tookMs, ended.stderr).toBeLessThan(promiseMs + callMs);
      const { run, attempts, open } = world.left();
      expect(run, ended.stderr).toEqual({ state: "stopped", exit: 5, adds: true });
      expect(ended.exitCode, ended.stderr).toBe(5);
      expect(
        attempts.filter((attempt) => attempt.endpoint === "E5" && attempt.outcome !== "not-sent"),
        ended.stderr,
      ).toHaveLength(calls["E5"] ?? 0);
      expect(
        open.map((operation) => `${operation.endpoint} ${operation.state}`),
        ended.stderr,
      ).toEqual(Array.from({ length: calls["E5"] ?? 0 }, () => "E5 unknown"));
      expect(await world.finish(2)).toEqual([]);
      expect(world.differences()).toEqual([]);
    });
  });
});
