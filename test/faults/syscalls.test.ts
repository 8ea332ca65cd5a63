/** @module-tag sized */
import { spawnSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import pLimit from "p-limit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { exitCodes } from "../../src/base/errors.ts";
import { seededFraction } from "../../src/sandbox/faults.ts";
import { type Place, type Ended, goodRunOf, runJob, runResultOf, settleNotApplied } from "../support/program.ts";
import { newSandbox } from "../support/world/start.ts";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";
import { headsPath } from "../../src/ledger/audit/audit-heads.ts";
import { fullCheck } from "../support/full-check.ts";
import { startCrmSync } from "../support/process.ts";
import { LedgerView } from "../support/ledger-view.ts";
import { temporaryFolder } from "../support/northwind.ts";
import { sampled, sizes } from "../support/sizes.ts";
import { baseWished, configOf, ledgerOf, writeWorld } from "../support/world/small.ts";
import { personal, sealEnvironment, secrets } from "../support/world/crm.ts";

/**
 * The n-th system call of a kind fails, or the program is killed as it makes it, in a first run that begins with an
 * empty folder and ends with five writing calls: so it meets the making of the ledger, its migrations, every commit,
 * every request and the closing. Whatever came of it, the next plain run ends well, everything is there once, and the
 * run after that has nothing to send. Node and SQLite write to the ledger by pwrite64 and fsync, to the file of kept
 * heads by write and fsync, to a service by writev (a call with a body) and write (one without, and wake-ups between
 * threads), and drop files by ftruncate and unlink.
 */
interface Row {
  call: "fsync" | "pwrite64" | "write" | "writev" | "ftruncate" | "unlink";
  /** The error that the call ends with; without it the program is killed instead of making the call. */
  error?: "EIO" | "ENOSPC" | "ECONNRESET";
  /** Only calls on this file beside the ledger. */
  only?: (ledger: string) => string;
  /** A run that this happens to ends with one of these exit codes. */
  ends: readonly number[];
  /** In the small size one case is tried, or none. */
  small?: 0 | 1;
}

const ledgerFails = [exitCodes.ok, exitCodes.ledgerRefused];
const rows: Record<string, Row> = {
  "fsync fails with EIO": { call: "fsync", error: "EIO", ends: ledgerFails },
  "pwrite64 fails with ENOSPC": { call: "pwrite64", error: "ENOSPC", ends: ledgerFails },
  "pwrite64 fails with EIO": { call: "pwrite64", error: "EIO", ends: ledgerFails },
  "ftruncate fails with EIO": { call: "ftruncate", error: "EIO", ends: ledgerFails, small: 0 },
  "unlink fails with EIO": { call: "unlink", error: "EIO", ends: ledgerFails, small: 0 },
  "write of a kept head fails with ENOSPC": {
    call: "write",
    error: "ENOSPC",
    only: headsPath,
    ends: [exitCodes.ledgerRefused],
    small: 1,
  },
  "fsync of a kept head fails with EIO": {
    call: "fsync",
    error: "EIO",
    only: headsPath,
    ends: [exitCodes.ledgerRefused],
    small: 1,
  },
  "writev of a request fails with ECONNRESET": {
    call: "writev",
    error: "ECONNRESET",
    ends: [exitCodes.ok, exitCodes.unknown],
  },
  "killed at fsync": { call: "fsync", ends: [] },
  "killed at pwrite64": { call: "pwrite64", ends: [] },
  "killed at writev": { call: "writev", ends: [] },
  "killed at write": { call: "write", ends: [] },
  "killed at ftruncate": { call: "ftruncate", ends: [], small: 0 },
  "killed at unlink": { call: "unlink", ends: [], small: 0 },
};

function whyNot(): string | undefined {
  if (process.platform !== "linux") return `strace is for Linux, and this is ${process.platform}`;
  const tried = spawnSync("strace", ["-f", "-qq", "-o", "/dev/null", "-e", "inject=fsync:error=EIO", "true"], {
    encoding: "utf8",
  });
  if (tried.error !== undefined) return `strace cannot be started: ${tried.error.message}`;
  return tried.status === 0 ? undefined : `strace cannot trace a process here: ${tried.stderr.trim().split("\n")[0]}`;
}

const folder = temporaryFolder();
afterAll(() => folder.remove());
const twoAtOnce = pLimit(2);
const seed = 20_261_120;
let worlds = 0;

interface World {
  folder: string;
  ledger: string;
  sandbox: Sandbox;
}

async function inWorld<T>(work: (world: World) => Promise<T>): Promise<T> {
  worlds += 1;
  const path = join(folder.path, `world-${worlds}`);
  writeWorld(path);
  const sandbox = await newSandbox();
  try {
    return await work({ folder: path, ledger: ledgerOf(path), sandbox });
  } finally {
    await sandbox.close();
    rmSync(path, { recursive: true });
  }
}

/** Runs the program under strace; `injected` says whether the n-th call came. */
async function traced(world: World, row: Row, n: number): Promise<Ended & { injected: boolean }> {
  const log = join(world.folder, "strace.log");
  const what = row.error === undefined ? "signal=SIGKILL" : `error=${row.error}`;
  const under = [
    "strace",
    "-f",
    "-qq",
    // With it the program stops at traced calls alone, but the kernel then delivers no signal there.
    ...(row.error === undefined ? [] : ["--seccomp-bpf"]),
    ...(row.only === undefined ? [] : ["-P", row.only(world.ledger)]),
    "-o",
    log,
    "-e",
    `trace=${row.call}`,
    "-e",
    `inject=${row.call}:${what}:when=${n}`,
  ];
  const ended = await startCrmSync({ ...commandIn(world), under }, "--json", "run", "everything").ended;
  const injected =
    row.error === undefined ? ended.signal === "SIGKILL" : readFileSync(log, "utf8").includes("(INJECTED)");
  return { ...ended, injected };
}

async function plainRun(world: World): Promise<Ended> {
  return await runJob(commandIn(world));
}

function commandIn(world: World): Place {
  return {
    config: configOf(world.folder),
    sandbox: world.sandbox.url,
    ledger: world.ledger,
    environment: sealEnvironment,
  };
}

/**
 * The next plain run. The very first E2 of a ledger waits for a person where it is in doubt and the platform shows
 * nothing of it: that E3 would show it is not proven yet. That person says so here, and runs again.
 */
async function nextRun(world: World): Promise<Ended> {
  const ended = await plainRun(world);
  if (ended.exitCode !== exitCodes.unknown || world.sandbox.state().enterprises > 0) return ended;
  const ledger = new LedgerView(world.ledger);
  const parked = ledger.rows(
    z.object({ id: z.string(), endpoint: z.literal("E2") }),
    "select id, endpoint from operation where state = 'parked'",
  );
  ledger.close();
  for (const { id } of parked) expect((await settleNotApplied(commandIn(world), id)).exitCode).toBe(exitCodes.ok);
  return await plainRun(world);
}

const failure = z.object({
  error: z.object({ code: z.string(), message: z.string(), cure: z.string(), exit: z.int() }),
});

/** What is wrong with how the program ended, and with what it said. */
function wrongEnd(row: Row, ended: Ended): string[] {
  const said = `${ended.stdout}\n${ended.stderr}`;
  if (/^\s+at .+:\d+:\d+\)?$/mu.test(said) || /"stack"/u.test(said)) return [`it shows a stack trace: ${said}`];
  if (/"defects":[1-9]|defect(?!s":0)/u.test(said)) return [`it calls itself defective: ${said}`];
  if (row.error === undefined) return ended.signal === "SIGKILL" ? [] : [`it was not killed: ${said}`];
  if (ended.exitCode === null || !row.ends.includes(ended.exitCode))
    return [`it ended with ${ended.exitCode ?? ended.signal}: ${said}`];
  if (ended.exitCode !== exitCodes.ledgerRefused) {
    return runResultOf(ended).balance.adds ? [] : [`it does not balance: ${said}`];
  }
  const told = failure.safeParse(JSON.parse(ended.stdout)).data?.error;
  if (told?.exit !== exitCodes.ledgerRefused || !told.code.startsWith("ledger.") || told.cure === "")
    return [`it does not say what happened: ${said}`];
  return ended.stderr.includes(told.message) && ended.stderr.includes("→") ? [] : [`no person is told: ${said}`];
}

/** One case; gives what is wrong after it, or undefined where the program made fewer than n such calls. */
async function wrongAfter(row: Row, n: number): Promise<string[] | undefined> {
  return await twoAtOnce(() =>
    inWorld(async (world) => {
      const ended = await traced(world, row, n);
      if (!ended.injected) {
        goodRunOf(ended);
        return undefined;
      }
      const wrong = wrongEnd(row, ended);
      const sent = world.sandbox.counts().writingCalls;
      const next = await nextRun(world);
      const result = goodRunOf(next);
      // What ended with 0 was whole, although a call failed.
      if (ended.exitCode === exitCodes.ok && (result.writingCalls > 0 || world.sandbox.counts().writingCalls > sent))
        wrong.push(`it ended with 0 and left ${result.writingCalls} calls to the next run`);
      wrong.push(
        ...(await fullCheck({
          ledger: world.ledger,
          sandbox: world.sandbox.url,
          wished: baseWished,
          personal,
          secrets,
          output: [ended.stdout, ended.stderr, next.stdout, next.stderr],
        })),
      );
      if (goodRunOf(await plainRun(world)).writingCalls !== 0) wrong.push("a third run had something to send");
      return wrong;
    }),
  );
}

/** How often an untouched run makes each call on its main thread. */
let counts: Readonly<Record<string, number>> = {};

async function count(): Promise<Record<string, number>> {
  return await inWorld(async (world) => {
    const log = join(world.folder, "strace.log");
    const calls = [...new Set(Object.values(rows).map((row) => row.call))];
    goodRunOf(
      await startCrmSync(
        {
          ...commandIn(world),
          under: ["strace", "-f", "-qq", "--seccomp-bpf", "-o", log, "-e", `trace=${calls.join(",")}`],
        },
        "--json",
        "run",
        "everything",
      ).ended,
    );
    const lines = readFileSync(log, "utf8").split("\n");
    const main = lines[0]?.split(" ")[0] ?? "";
    return Object.fromEntries(
      calls.map((call) => [
        call,
        lines.filter((line) => line.startsWith(`${main} `) && line.includes(` ${call}(`)).length,
      ]),
    );
  });
}

/** One n in each of so many stretches of the whole count. */
function spread(row: Row, name: string): number[] {
  const total = row.only === undefined ? (counts[row.call] ?? 0) : 1;
  const wanted = Math.min(total, row.small ?? sizes.systemCalls);
  const fraction = seededFraction(seed + Object.keys(rows).indexOf(name));
  return Array.from({ length: wanted }, (_, index) => 1 + Math.floor(((index + fraction()) * total) / wanted));
}

const missing = whyNot();

describe.runIf(missing !== undefined)("system calls that fail or kill", () => {
  it(`are NOT tried here, nothing is shown about them: ${missing}`, () => expect(missing).toBeDefined());
});

describe.runIf(missing === undefined)("a system call in the middle of a run", () => {
  beforeAll(async () => {
    counts = await count();
  });
  if (sizes.systemCalls === Infinity) {
    it.concurrent.each(Object.entries(rows))(
      "%s, at each call until the run is untouched: said clearly, and made good by the next run",
      { timeout: 7_200_000 },
      async (_, row) => {
        const found: Record<number, string[]> = {};
        let tried = 0;
        let untouched = 0;
        const lane = async (first: number): Promise<void> => {
          for (let n = first; untouched < 2; n += 2) {
            const wrong = await wrongAfter(row, n);
            if (wrong === undefined) untouched += 1;
            else tried += 1;
            if (wrong !== undefined && wrong.length > 0) found[n] = wrong;
          }
        };
        await Promise.all([lane(1), lane(2)]);
        expect(found).toEqual({});
        expect(tried, "the call is never made, so nothing was tried").toBeGreaterThan(0);
      },
    );
  } else {
    it.concurrent.each(
      sampled(
        Object.entries(rows).filter(([, row]) => row.small !== 0),
        2,
      ),
    )(
      `%s, at calls spread over the run: said clearly, and made good by the next run (seed ${seed})`,
      { tags: "long" },
      async (name, row) => {
        const found: Record<number, string[]> = {};
        let tried = 0;
        for (let n of spread(row, name)) {
          let wrong = await wrongAfter(row, n);
          // Groups of commits differ a little from run to run: the last calls of one are beyond the end of another.
          for (; wrong === undefined && n > 1; n -= 1) wrong = await wrongAfter(row, n - 1);
          if (wrong !== undefined) tried += 1;
          if (wrong !== undefined && wrong.length > 0) found[n] = wrong;
        }
        expect(found).toEqual({});
        expect(tried).toBe(row.small ?? sizes.systemCalls);
      },
    );
  }
});
