/** @module-tag long */
import { spawnSync } from "node:child_process";
import { mkdirSync, statfsSync } from "node:fs";
import Database from "better-sqlite3";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { exitCodes } from "../../src/base/errors.ts";
import { Cells, type Cell } from "../support/cells.ts";
import type { Parsed } from "../support/cli.ts";
import { startCrmSync } from "../support/process.ts";
import { goodRunOf, type Ended } from "../support/program.ts";
import { isFull } from "../support/sizes.ts";
import { changeOf, writeWorld } from "../support/world/small.ts";

/**
 * A ledger that is whole and cannot be written: the program says so and sends nothing more, and the next run goes on
 * once it can be.
 */
const cells = new Cells();
afterAll(() => cells.remove());
let worlds = 0;
const change = changeOf("E5 places an order");

/** A world whose base is synchronised and whose export then has an order more, on a disk that `prepare` makes. */
async function inWorld(prepare: (folder: string) => void, work: (cell: Cell) => Promise<void>): Promise<void> {
  worlds += 1;
  const folder = cells.place(`world-${worlds}`);
  mkdirSync(folder);
  prepare(folder);
  writeWorld(folder);
  const begin = async (cell: Cell): Promise<void> => {
    goodRunOf(await cell.run());
    writeWorld(folder, change.world);
    await work(cell);
  };
  await cells.open(folder, {}, begin, { store: ":memory:" });
}

/** The code of a failure that ended with this exit code. */
function codeOf(ended: Ended, exit: number): string {
  expect(ended.exitCode, ended.stdout + ended.stderr).toBe(exit);
  const { error }: Parsed = JSON.parse(ended.stdout);
  expect(error.cure).not.toBe("");
  return error.code;
}

/** The next run does what is left, once; the one after it has nothing to do. */
async function goesOn(cell: Cell): Promise<void> {
  await cell.comesToRest();
  expect(await cell.wrong(change.wished)).toEqual([]);
}

const mount = (...words: string[]): boolean => spawnSync("mount", words).status === 0;

function memoryDisk(folder: string): void {
  if (!mount("-t", "tmpfs", "-o", "size=64m", "tmpfs", folder))
    throw new Error("a file system cannot be mounted any more");
  onTestFinished(() => void spawnSync("umount", ["-l", folder]));
}

/** Whether this user may mount a file system. */
function canMount(): boolean {
  const place = cells.place("mount");
  mkdirSync(place);
  return (
    process.platform === "linux" && mount("-t", "tmpfs", "tmpfs", place) && spawnSync("umount", [place]).status === 0
  );
}

const mountable = canMount();

it.skipIf(mountable)("a full or read-only disk is NOT tried here: file systems cannot be mounted", () =>
  expect(mountable).toBe(false),
);

/** A run on a disk that has this much room left, in KiB; answers what it sent, or undefined where it ended well. */
async function runWithRoom(room: number): Promise<number | undefined> {
  let refusedAfter: number | undefined;
  await inWorld(memoryDisk, async (cell) => {
    const { blocks, bfree, bsize } = statfsSync(cell.folder);
    const used = ((blocks - bfree) * bsize) / 1024;
    expect(mount("-o", `remount,size=${used + room}k`, cell.folder)).toBe(true);
    const { writingCalls } = cell.sandbox.counts();
    const ended = await cell.run();
    const sent = cell.sandbox.counts().writingCalls - writingCalls;
    expect(mount("-o", "remount,size=64m", cell.folder)).toBe(true);
    if (ended.exitCode !== exitCodes.ok) {
      // The file of heads is on the same disk.
      const refusals = ["ledger.disk-full", "ledger.cannot-write", "ledger.cannot-open", "ledger.head-not-kept"];
      expect(refusals).toContain(codeOf(ended, exitCodes.ledgerRefused));
      // Each call that was sent has its intent on the disk.
      const { operations }: Parsed = await cell.ask("explain", "order", "O2");
      expect(sent).toBeLessThanOrEqual(operations.newest.flatMap((one: Parsed) => one.attempts).length + 1);
      refusedAfter = sent;
    }
    await goesOn(cell);
  });
  return refusedAfter;
}

describe.runIf(mountable)("a disk", () => {
  it("that gets full at any moment of a run has no call without its intent, and all is done once there is room", async () => {
    const refusals: number[] = [];
    for (let room = 0; ; room += isFull ? 8 : 112) {
      const sent = await runWithRoom(room);
      if (sent === undefined) break;
      refusals.push(sent);
    }
    expect(refusals.at(0)).toBe(0);
    expect(Math.max(...refusals)).toBeGreaterThan(0);
  });

  it("that is read-only is refused before any call", async () => {
    await inWorld(memoryDisk, async (cell) => {
      expect(mount("-o", "remount,ro", cell.folder)).toBe(true);
      const { calls } = cell.sandbox.counts();
      expect(codeOf(await cell.run(), exitCodes.configuration)).toBe("config.ledger-not-writable");
      expect(cell.sandbox.counts().calls).toEqual(calls);
      expect(mount("-o", "remount,rw", cell.folder)).toBe(true);
      await goesOn(cell);
    });
  });

  it("that lets everything be written but the ledger's file is refused before any call", async () => {
    await inWorld(memoryDisk, async (cell) => {
      expect(mount("--bind", cell.ledger, cell.ledger)).toBe(true);
      onTestFinished(() => void spawnSync("umount", ["-l", cell.ledger]));
      expect(mount("-o", "remount,ro,bind", cell.ledger)).toBe(true);
      const { calls } = cell.sandbox.counts();
      expect(codeOf(await cell.run(), exitCodes.configuration)).toBe("config.ledger-not-writable");
      expect(cell.sandbox.counts().calls).toEqual(calls);
      expect(spawnSync("umount", [cell.ledger]).status).toBe(0);
      await goesOn(cell);
    });
  });
});

/** Another program, which works on the file, has its lock from the answer to E5 on. */
async function lockedMeanwhile(cell: Cell, free: (lock: { end: () => void }, program: Promise<Ended>) => void) {
  const stop = cell.stopsAt("E5", "after");
  const { ended } = startCrmSync(cell.ownPlace, "--json", "run", "everything");
  await stop.reached;
  const other = new Database(cell.ledger);
  other.exec("begin immediate");
  const end = (): void => {
    other.exec("rollback");
    other.close();
  };
  stop.goOn();
  free({ end }, ended);
  const result = await ended;
  cell.followsTheMachine();
  return result;
}

describe("a ledger that another program has locked since a call was on its way", () => {
  it("is waited for", async () => {
    await inWorld(
      () => {},
      async (cell) => {
        goodRunOf(await lockedMeanwhile(cell, ({ end }) => void setTimeout(end, 500)));
        await goesOn(cell);
      },
    );
  });

  // SQLite waits ten seconds.
  it.runIf(isFull)("is not waited for without end, and nothing more is sent", async () => {
    await inWorld(
      () => {},
      async (cell) => {
        const { writingCalls } = cell.sandbox.counts();
        const ended = await lockedMeanwhile(cell, ({ end }, program) => void program.then(end));
        expect(codeOf(ended, exitCodes.ledgerRefused)).toBe("ledger.busy");
        // The asset numbers and the order.
        expect(cell.sandbox.counts().writingCalls - writingCalls).toBeLessThanOrEqual(3);
        await goesOn(cell);
      },
    );
  });
});
