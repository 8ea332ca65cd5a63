/** @module-tag sized */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Database from "better-sqlite3";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { exitCodes } from "../../src/base/errors.ts";
import { newSandbox } from "../support/world/start.ts";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";
import { fullCheck } from "../support/full-check.ts";
import { startGate } from "../support/gate.ts";
import { startCrmSync } from "../support/process.ts";
import { goodRunOf, runJob } from "../support/program.ts";
import type { Ended, Place } from "../support/program.ts";
import { LedgerView } from "../support/ledger-view.ts";
import { dumpOf, dumpsDiffer } from "../support/ledger-bytes.ts";
import { temporaryFolder } from "../support/northwind.ts";
import { isFull } from "../support/sizes.ts";
import { baseWished, changes, configOf, ledgerOf, writeWorld } from "../support/world/small.ts";
import { personal, sealEnvironment, secrets } from "../support/world/crm.ts";
import type { Change } from "../support/world/small.ts";

/**
 * A ledger that is whole and cannot be written: the program says so and sends nothing more, and the next run goes on
 * once it can be.
 */
const folder = temporaryFolder();
afterAll(() => folder.remove());
let worlds = 0;

interface World {
  folder: string;
  /** Where the ledger lies, alone with what SQLite keeps beside it. */
  disk: string;
  ledger: string;
  sandbox: Sandbox;
  change: Change;
}

/**
 * A world whose base is synchronised and whose export then has an order more; `prepare` may put a file system where the
 * ledger will lie.
 */
async function inWorld(prepare: (disk: string) => void, work: (world: World) => Promise<void>): Promise<void> {
  const change = changes["E5 places an order"];
  if (change === undefined) throw new Error("the small world has no order to place");
  worlds += 1;
  const path = join(folder.path, `world-${worlds}`);
  const disk = join(path, "disk");
  mkdirSync(disk, { recursive: true });
  prepare(disk);
  writeWorld(path);
  const sandbox = await newSandbox();
  const world = { folder: path, disk, ledger: join(disk, "ledger.db"), sandbox, change };
  try {
    goodRunOf(await run(world));
    writeWorld(path, change.world);
    await work(world);
  } finally {
    await sandbox.close();
  }
}

function commandIn(world: World, sandbox: string = world.sandbox.url): Place {
  const { ledger } = world;
  return { config: configOf(world.folder), sandbox, ledger, environment: sealEnvironment };
}

async function run(world: World, sandbox?: string): Promise<Ended> {
  return await runJob(commandIn(world, sandbox));
}

const failure = z.object({ error: z.object({ code: z.string(), message: z.string(), cure: z.string().min(1) }) });

/** The code that a refusal of the ledger came with; anything else fails the test. */
function refusalOf(ended: Ended): string {
  expect(ended.exitCode, ended.stdout + ended.stderr).toBe(exitCodes.ledgerRefused);
  const { code, message } = failure.parse(JSON.parse(ended.stdout)).error;
  expect(ended.stderr).toContain(message);
  expect(ended.stderr).toContain("→");
  expect(ended.stderr).not.toMatch(/defect|^\s+at /mu);
  return code;
}

/** A path that this user cannot write is a mistake of the configuration. */
function notWritable(ended: Ended): void {
  expect(ended.exitCode, ended.stdout + ended.stderr).toBe(exitCodes.configuration);
  const { code, message } = failure.parse(JSON.parse(ended.stdout)).error;
  expect(code).toBe("config.ledger-not-writable");
  expect(message).toContain("ledger.path");
}

/** The next run does what is left, once; the one after it has nothing to do. */
async function goesOn(world: World): Promise<void> {
  goodRunOf(await run(world));
  expect(
    await fullCheck({
      ledger: world.ledger,
      sandbox: world.sandbox.url,
      wished: { ...baseWished, ...world.change.wished },
      personal,
      secrets,
      output: [],
    }),
  ).toEqual([]);
  expect(goodRunOf(await run(world)).writingCalls).toBe(0);
}

/** Attempts that are on the disk: each was recorded before its call left. */
function attempts(path: string): number {
  const ledger = new LedgerView(path);
  try {
    return ledger.rows(z.object({ id: z.string() }), "select operation_id as id from attempt").length;
  } finally {
    ledger.close();
  }
}

/** A run on a disk that has this much room left, in KiB, and what comes after it. */
async function runWithRoom(room: number): Promise<{ finished: boolean; sent: number }> {
  let finished = false;
  let sent = 0;
  await inWorld(memoryDisk, async (world) => {
    const before = attempts(world.ledger);
    const { blocks, bfree, bsize } = statfsSync(world.disk);
    const used = ((blocks - bfree) * bsize) / 1024;
    expect(mount("-o", `remount,size=${used + room}k`, world.disk)).toBe(true);
    const gate = await startGate(world.sandbox.url);
    const ended = await run(world, gate.url);
    await gate.close();
    expect(mount("-o", "remount,size=64m", world.disk)).toBe(true);
    sent = gate.calls().writing;
    finished = ended.exitCode === exitCodes.ok;
    if (!finished) {
      expect(["ledger.disk-full", "ledger.cannot-write", "ledger.cannot-open"]).toContain(refusalOf(ended));
      expect(sent).toBeLessThanOrEqual(attempts(world.ledger) - before);
    }
    await goesOn(world);
  });
  return { finished, sent };
}

function mount(...words: string[]): boolean {
  return spawnSync("mount", words).status === 0;
}

function unmountLater(place: string): void {
  onTestFinished(() => void spawnSync("umount", ["-l", place]));
}

function memoryDisk(disk: string): void {
  if (!mount("-t", "tmpfs", "-o", "size=64m", "tmpfs", disk))
    throw new Error("a file system cannot be mounted any more");
  unmountLater(disk);
}

/** Whether this user may mount a file system. */
function canMount(): boolean {
  if (process.platform !== "linux") return false;
  const place = join(folder.path, "mount");
  mkdirSync(place);
  if (!mount("-t", "tmpfs", "tmpfs", place)) return false;
  return spawnSync("umount", [place]).status === 0;
}

const mountable = canMount();

describe.runIf(!mountable)("a full or read-only disk", () => {
  it("is NOT tried here, nothing is shown about it: file systems cannot be mounted", () =>
    expect(mountable).toBe(false));
});

describe.runIf(mountable)("a disk", () => {
  it(
    "that gets full at any moment of a run: no call without its intent on the disk, and all is done once there is room",
    { tags: "long" },
    async () => {
      const refusals: { room: number; sent: number }[] = [];
      for (let room = 0; ; room += isFull ? 8 : 112) {
        const { finished, sent } = await runWithRoom(room);
        if (finished) break;
        refusals.push({ room, sent });
      }
      expect(refusals.at(0)).toEqual({ room: 0, sent: 0 });
      expect(Math.max(...refusals.map((refusal) => refusal.sent))).toBeGreaterThan(0);
    },
  );

  it("that is read-only is refused before any call", { tags: "long" }, async () => {
    await inWorld(memoryDisk, async (world) => {
      expect(mount("-o", "remount,ro", world.disk)).toBe(true);
      const calls = world.sandbox.counts().calls;
      notWritable(await run(world));
      expect(world.sandbox.counts().calls).toEqual(calls);
      expect(mount("-o", "remount,rw", world.disk)).toBe(true);
      await goesOn(world);
    });
  });

  it("that lets everything be written but the ledger's file is refused before any call", { tags: "long" }, async () => {
    await inWorld(memoryDisk, async (world) => {
      expect(mount("--bind", world.ledger, world.ledger)).toBe(true);
      unmountLater(world.ledger);
      expect(mount("-o", "remount,ro,bind", world.ledger)).toBe(true);
      const calls = world.sandbox.counts().calls;
      notWritable(await run(world));
      expect(world.sandbox.counts().calls).toEqual(calls);
      expect(spawnSync("umount", [world.ledger]).status).toBe(0);
      await goesOn(world);
    });
  });
});

/** Holds the ledger's write lock, as another program does that works on the file. */
function lockedBy(path: string): { free: () => void } {
  const other = new Database(path);
  other.exec("begin immediate");
  return {
    free() {
      if (!other.open) return;
      other.exec("rollback");
      other.close();
    },
  };
}

describe("a ledger that another program has locked since a call was on its way", () => {
  it("for 3 s: the run waits and does everything", { tags: "long" }, async () => {
    await inWorld(
      () => {},
      async (world) => {
        const gate = await startGate(world.sandbox.url, {
          after(call) {
            if (!call.writes || call.before > 0) return;
            const lock = lockedBy(world.ledger);
            setTimeout(() => lock.free(), 3_000);
          },
        });
        try {
          const ended = await startCrmSync(commandIn(world, gate.url), "--json", "run", "everything").ended;
          goodRunOf(ended);
        } finally {
          await gate.close();
        }
        await goesOn(world);
      },
    );
  });

  it(
    `for ${isFull ? "60 s" : "longer than it waits"}: the run says so and sends nothing more, and so does every run until it is free`,
    { tags: "long" },
    async () => {
      await inWorld(
        () => {},
        async (world) => {
          let lock: ReturnType<typeof lockedBy> | undefined;
          const gate = await startGate(world.sandbox.url, {
            after(call) {
              if (call.writes && lock === undefined) lock = lockedBy(world.ledger);
            },
          });
          try {
            const first = await startCrmSync(commandIn(world, gate.url), "--json", "run", "everything").ended;
            const lockedAt = performance.now();
            expect(refusalOf(first)).toBe("ledger.busy");
            expect(gate.calls().writing).toBe(1);
            const calls = gate.calls().all;
            for (const until = lockedAt + (isFull ? 50_000 : 0); performance.now() < until;) {
              const again = await startCrmSync(commandIn(world, gate.url), "--json", "run", "everything").ended;
              expect(refusalOf(again)).toBe("ledger.busy");
              await sleep(100);
            }
            expect(gate.calls().all).toBe(calls);
          } finally {
            lock?.free();
            await gate.close();
          }
          await goesOn(world);
        },
      );
    },
  );
});

describe("a migration that is killed in the middle", () => {
  const script = join(import.meta.dirname, "killed-migration.ts");
  const killIn = (ledger: string, which: string): void => {
    const ended = spawnSync(process.execPath, [script, ledger, which], { encoding: "utf8" });
    expect(ended.signal, ended.stderr).toBe("SIGKILL");
  };

  it("leaves a ledger that was in use as it was", { tags: "long" }, async () => {
    await inWorld(
      () => {},
      async (world) => {
        const before = dumpOf(world.ledger);
        killIn(world.ledger, "next");
        expect(dumpsDiffer(before, dumpOf(world.ledger))).toEqual([]);
        await goesOn(world);
      },
    );
  });

  it("leaves a new ledger to be made by the next command", { tags: "long" }, async () => {
    const path = join(folder.path, "new-world");
    writeWorld(path);
    killIn(ledgerOf(path), "first");
    expect(existsSync(ledgerOf(path))).toBe(true);
    const sandbox = await newSandbox();
    try {
      const command = { config: configOf(path), sandbox: sandbox.url, ledger: ledgerOf(path) };
      goodRunOf(await runJob({ ...command, environment: sealEnvironment }));
      expect(sandbox.state()).toMatchObject({ enterprises: 1, assignments: 1 });
    } finally {
      await sandbox.close();
    }
  });
});
