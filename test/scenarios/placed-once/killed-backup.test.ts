import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { until, world, type World } from "../../support/cli.ts";
import { startCrmSync, type Running } from "../../support/process.ts";
import { company } from "../../support/world/crm.ts";

const preload = join(import.meta.dirname, "../../support/kill-at-step.ts");

/** A command line in a process of its own, which gets a signal before one of its steps (test/support/kill-at-step.ts). */
function signalled(w: World, at: { step: number; signal?: string }, ...words: string[]): Running {
  const { step, signal = "SIGKILL" } = at;
  const environment = { ...w.environment, KILL_STEP: String(step), KILL_SIGNAL: signal, TMPDIR: w.path("temporary") };
  return startCrmSync({ ...w.place, environment, preload }, ...words);
}

async function lived(): Promise<World> {
  const w = await world({ isOnMachineTime: true, records: company(1, 1) });
  mkdirSync(w.path("temporary"));
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  return w;
}

/** Steps that a command line takes to its end. */
async function stepsOf(w: World, ...words: string[]): Promise<number> {
  const ended = await signalled(w, { step: 0 }, ...words).ended;
  const steps = Number(/steps: (\d+)/u.exec(ended.stderr)?.[1]);
  expect(steps, ended.stderr).toBeGreaterThan(2);
  return steps;
}

/** The last of some steps; all of them where a test has the time. */
const some = (steps: number, count: number): number[] => Array.from({ length: count }, (_, n) => steps - n);

describe("a process that is killed", () => {
  it("while it makes a backup leaves nothing that the next start does not remove", { timeout: 240_000 }, async () => {
    const w = await lived();
    const backup = ["backup", "--to", w.path("backups")];
    const steps = await stepsOf(w, ...backup);
    for (const step of some(steps, 5)) {
      expect((await signalled(w, { step }, ...backup).ended).signal).toBe("SIGKILL");
    }
    w.extra = `jobs: { nightly: { kind: backup, to: backups } }\n`;
    w.write();
    await w.run("status");
    const names = readdirSync(w.path("backups"));
    const whole = names.filter((name) => name.endsWith(".json")).map((name) => name.replace(/\.json$/u, ""));
    expect(names.toSorted()).toEqual(whole.flatMap((name) => [`${name}.db`, `${name}.json`]).toSorted());
    expect(whole.length).toBeGreaterThan(0);
  });

  it("while it rebuilds for show leaves no copy of the ledger", { timeout: 120_000 }, async () => {
    const w = await lived();
    w.losesItsLedger();
    const rebuild = ["rebuild", "--dry-run"];
    // The first of them makes a ledger too.
    await stepsOf(w, ...rebuild);
    const steps = await stepsOf(w, ...rebuild);
    const unfinished = (): string[] => readdirSync(w.folder).filter((name) => name.startsWith("crm-sync-unfinished-"));
    expect(unfinished()).toEqual([]);
    expect((await signalled(w, { step: steps - 2 }, ...rebuild).ended).signal).toBe("SIGKILL");
    expect(unfinished()).toHaveLength(1);
    expect(readdirSync(w.path("temporary"))).toEqual([]);
    await signalled(w, { step: 0 }, "status").ended;
    expect(unfinished()).toEqual([]);
  });
});

it("a process that only stands still keeps what it has not finished", { timeout: 120_000 }, async () => {
  const w = await lived();
  const backup = ["--json", "backup", "--to", w.path("backups")];
  const steps = await stepsOf(w, ...backup);
  const stopped = signalled(w, { step: steps - 3, signal: "SIGSTOP" }, ...backup);
  const state = (): string => readFileSync(`/proc/${stopped.child.pid ?? 0}/stat`, "utf8");
  await until("it stands still", () => / T /u.test(state()));
  expect((await w.run(...backup)).exitCode).toBe(0);
  stopped.child.kill("SIGCONT");
  const ended = await stopped.ended;
  expect(ended.exitCode, ended.stderr).toBe(0);
  expect(readdirSync(w.path("backups")).filter((name) => name.endsWith(".json"))).toHaveLength(3);
});
