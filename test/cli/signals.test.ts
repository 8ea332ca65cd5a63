import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { ran, runsOf, unsettled } from "../support/asking.ts";
import { expectDecent, world, type Stop, type World } from "../support/cli.ts";
import type { Running } from "../support/process.ts";
import { runResultOf } from "../support/program.ts";
import { company } from "../support/world/crm.ts";

/** A process that carries a command out for three customers, one by one, and stands in the middle of a call. */
async function midway(stopsAt: Parameters<World["stopsAt"]>, ...words: string[]): Promise<Midway> {
  const w = await world({ isOnMachineTime: true, records: company(3, 1) });
  w.environment["CRM_SYNC__concurrency__customers"] = "1";
  const stop = w.stopsAt(...stopsAt);
  const running = w.start("--json", ...words);
  await stop.reached;
  return { w, stop, running };
}

interface Midway {
  w: World;
  stop: Stop;
  running: Running;
}

/** The next run does what is left, and nothing twice. */
async function finishes(w: World): Promise<void> {
  expect((await ran(w)).exitCode).toBe(0);
  expect(w.sandbox.state()).toMatchObject({ enterprises: 3, assignments: 3 });
  expect(w.sandbox.duplicates()).toEqual({ enterprises: [], orders: [], products: [], staff: [] });
}

describe("a run of a process", () => {
  it("ends with its balance and exit code 1 at one SIGINT, once its calls have come to their end", async () => {
    const { w, stop, running } = await midway(["E5"], "run", "everything");
    running.child.kill("SIGINT");
    await running.says("SIGINT");
    stop.goOn();
    const ended = await running.ended;
    expect(runResultOf(ended)).toMatchObject({ state: "stopped", exit: 1, balance: { adds: true } });
    expect(ended.exitCode).toBe(1);
    expect(w.sandbox.batches("O1")).toHaveLength(1);
    expect(await unsettled(w)).toEqual([]);
    await finishes(w);
  });

  it("keeps every other run out, which ends with 75 without a call", async () => {
    const { w, stop, running } = await midway(["E3"], "run", "everything");
    const { calls } = w.sandbox.counts();
    for (const words of ["run staff", "plan", "resync --customer C1", "apply"])
      expect((await w.run(...words.split(" "))).exitCode, words).toBe(75);
    for (const words of ["status", "runs", "audit verify"])
      expect((await w.run(...words.split(" "))).exitCode, words).toBe(0);
    expect(w.sandbox.counts().calls).toEqual(calls);
    expect(running.child.exitCode).toBeNull();
    running.child.kill("SIGTERM");
    await running.says("SIGTERM");
    stop.goOn();
    expect((await running.ended).exitCode).toBe(1);
    expect((await runsOf(w)).map(({ job, state }) => `${job} ${state}`)).toEqual(["everything stopped"]);
  });

  it("ends at once at a second SIGINT, and nothing is done twice afterwards", { tags: "long" }, async () => {
    const { w, stop, running } = await midway(["E5", { when: "after" }], "run", "everything");
    running.child.kill("SIGINT");
    await running.says("SIGINT");
    running.child.kill("SIGINT");
    const ended = await running.ended;
    expect([ended.exitCode, ended.signal]).toEqual([130, null]);
    expectDecent(["run"], ended);
    stop.goOn();
    await finishes(w);
  });

  it.each(["run everything", "apply", "resync --source crm"])(
    "ends as at SIGTERM when its terminal closes (%s)",
    { tags: "long" },
    async (words) => {
      const { w, stop, running } = await midway(["E2"], ...words.split(" "));
      // Nobody reads any more, and the shell and the system both say so.
      running.child.stdout?.destroy();
      running.child.stderr?.destroy();
      running.child.kill("SIGHUP");
      running.child.kill("SIGHUP");
      stop.goOn();
      const ended = await running.ended;
      expect([ended.exitCode, ended.signal]).toEqual([1, null]);
      expect(await runsOf(w)).toMatchObject([{ state: "stopped", exitCode: 1 }]);
      expect(await unsettled(w)).toEqual([]);
      expect(w.sandbox.state().enterprises).toBeLessThan(3);
    },
  );
});

describe("a reader that goes away early", () => {
  /** What a reader took of the output of a command before it went, and what the command ended with. */
  async function readInPart(
    w: World,
    words: string,
    reader: string,
  ): Promise<Record<"shown" | "code" | "stderr", string>> {
    const bin = join(import.meta.dirname, "../../bin/crm-sync");
    const line = `{ ${bin} --sandbox=${w.sandbox.url} ${words}; echo $? >code.txt; } 2>err.txt | ${reader}`;
    const options = { cwd: w.folder, env: { ...process.env, ...w.environment } };
    const { stdout: shown } = await promisify(execFile)("/bin/bash", ["-c", line], options);
    const of = (file: string): string => readFileSync(w.path(file), "utf8");
    return { shown, code: of("code.txt").trim(), stderr: of("err.txt") };
  }

  it("does not change how a command ends", async () => {
    const w = await world({ isOnMachineTime: true, records: company(30, 1) });
    await w.run("run", "everything");
    const { shown, code, stderr } = await readInPart(w, "audit export", "head -1");
    expect(JSON.parse(shown)).toMatchObject({ entries: expect.any(Number) });
    expect([code, stderr]).toEqual(["0", ""]);
  });

  it("neither hides a failure nor cuts a run off", { tags: "long" }, async () => {
    const w = await world({ isOnMachineTime: true, records: company(3, 1) });
    await w.run("run", "everything");
    for (const person of w.staff.slice(1, 2)) person.name = "a name that is much longer than thirty characters";
    w.write();
    for (const words of ["plan", "run everything", "run verify"])
      expect(await readInPart(w, words, "true"), words).toEqual({
        shown: "",
        code: "3",
        stderr: expect.not.stringMatching(/EPIPE|Warning/u),
      });
    const runs = (await runsOf(w)).map(({ job, state, exitCode }) => `${job} ${state} ${exitCode}`);
    expect(runs.toReversed()).toEqual(["everything done 0", "plan done 3", "everything done 3", "verify done 3"]);
    // A password that nobody read was not handed out.
    expect((await readInPart(w, "staff password S1-1", "true")).code).toBe("1");
    expect((await readInPart(w, "staff password S1-1", "cat")).shown).toMatch(/^\S{8,}\n$/u);
  });
});
