/** @module-tag long */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { Cells, type Cell } from "../support/cells.ts";
import type { Parsed } from "../support/cli.ts";
import { killAtStep } from "../support/killed-at.ts";
import { PlatformView } from "../support/platform-view.ts";
import { goodRunOf } from "../support/program.ts";
import { isFull } from "../support/sizes.ts";
import { canary } from "../support/world/crm.ts";
import { ledgerOf, orderOf, writeWorld, type SmallWorld } from "../support/world/small.ts";

/**
 * What a person does once, killed at a step of what it makes durable, and said again: it stands whole or not at all,
 * and nothing is done twice.
 */

const placed: SmallWorld = {
  customers: [{ id: "C1" }, { id: "C2" }],
  orders: [orderOf("O1", { A1: "cloud_account" }), orderOf("O2", { A2: "cloud_account" }, "C2")],
  staff: [
    { id: "S1", customer: "C1", holds: ["A1"] },
    { id: "S2", customer: "C2", holds: ["A2"] },
  ],
};
const because = ["--reason", "the service desk did it", "--by", "anna"];

interface Command {
  settings?: Record<string, string>;
  prepare: (cell: Cell) => Promise<void>;
  words: (cell: Cell) => Promise<string[]>;
  /** What has to be so after the kill; says the same again. */
  judge: (cell: Cell, words: readonly string[]) => Promise<void>;
}

async function synchronise(cell: Cell, world: SmallWorld = placed): Promise<void> {
  writeWorld(cell.folder, world);
  goodRunOf(await cell.run());
}

async function entries(cell: Cell, wanted: string): Promise<number> {
  const { stdout } = await cell.carryOut("audit", "export");
  const lines = stdout.split("\n").filter((line) => line !== "");
  return lines.filter((line) => (JSON.parse(line) as { kind?: string }).kind === wanted).length;
}

async function linksOf(cell: Cell): Promise<string[]> {
  const { links }: Parsed = await cell.ask("explain", "customer", "C1");
  return links.filter(({ to }: Parsed) => to === null).map((link: Parsed) => link.enterpriseGlobalId);
}

/** The writing calls of a run, and how it ended. */
async function runOf(cell: Cell): Promise<[exit: number | null, calls: number]> {
  const { writingCalls } = cell.sandbox.counts();
  const { exitCode } = await cell.run();
  return [exitCode, cell.sandbox.counts().writingCalls - writingCalls];
}

async function isWhole(cell: Cell): Promise<void> {
  expect((await cell.carryOut("audit", "verify")).exitCode).toBe(0);
  expect(Object.values(cell.sandbox.duplicates()).flat()).toEqual([]);
}

const gone = ["Zqcanary Gone", "zqcanarygone"];
/** How many of the texts of the customer who is gone stand in the files of the ledger. */
function textsOf({ folder }: Cell): number {
  const files = readdirSync(folder).filter((name) => name.startsWith("ledger.db"));
  const bytes = files.map((name) => readFileSync(join(folder, name)));
  return gone.filter((text) => bytes.some((file) => file.includes(text))).length;
}

const month = "2026-10";
async function isClosed(cell: Cell): Promise<boolean> {
  const out = join(cell.folder, "printed");
  mkdirSync(out, { recursive: true });
  return (await cell.carryOut("report", "print", month, "--out", out)).exitCode === 0;
}

const backupOf = ({ folder }: Cell): string => join(folder, "backups", readdirSync(join(folder, "backups"))[0] ?? "");

/** A company that was backed up, and for which things were bought and given since. */
async function livedOn(cell: Cell): Promise<void> {
  await synchronise(cell);
  expect((await cell.carryOut("backup", "--to", join(cell.folder, "backups"))).exitCode).toBe(0);
  await synchronise(cell, {
    customers: [...placed.customers, { id: "C3" }],
    orders: [...placed.orders, orderOf("O3", { A3: "cloud_account" }, "C3")],
    staff: [...placed.staff, { id: "S3", customer: "C3", holds: ["A3"] }],
  });
}

async function allComesBack(cell: Cell): Promise<void> {
  const { writingCalls } = cell.sandbox.counts();
  expect((await cell.carryOut("rebuild")).exitCode).toBe(0);
  expect(await runOf(cell)).toEqual([0, 0]);
  expect((await cell.carryOut("run", "verify")).exitCode).toBe(0);
  expect(cell.sandbox.counts().writingCalls).toBe(writingCalls);
  expect(Object.values(cell.sandbox.duplicates()).flat()).toEqual([]);
}

const commands: Readonly<Record<string, Command>> = {
  "a link": {
    async prepare(cell) {
      await synchronise(cell);
      expect((await cell.carryOut("unlink", "C1", "--keep-orders", ...because)).exitCode).toBe(0);
    },
    async words(cell) {
      const { links }: Parsed = await cell.ask("explain", "customer", "C1");
      return ["link", "C1", links[0].enterpriseGlobalId, ...because];
    },
    async judge(cell, words) {
      const linked = (await linksOf(cell)).length === 1;
      expect(await entries(cell, "linked-by-hand")).toBe(linked ? 1 : 0);
      expect((await cell.carryOut(...words)).exitCode).toBe(linked ? 64 : 0);
      expect(await linksOf(cell)).toEqual([words[2]]);
      expect(await entries(cell, "linked-by-hand")).toBe(1);
      await cell.run();
      expect(await runOf(cell)).toEqual([0, 0]);
      expect(cell.sandbox.state()).toMatchObject({ enterprises: 2, assignments: 2 });
      await isWhole(cell);
    },
  },
  "what a person did by hand": {
    settings: { CRM_SYNC__policies__staff__edited: "report" },
    async prepare(cell) {
      await synchronise(cell);
      const name = `${canary.person} renamed`;
      writeWorld(cell.folder, {
        ...placed,
        staff: placed.staff.map((row) => (row.id === "S1" ? { ...row, name } : row)),
      });
      const [enterprise = ""] = await linksOf(cell);
      expect((await runOf(cell))[1]).toBe(0);
      const members = await new PlatformView(cell.sandbox.url).members(enterprise);
      const member = members.find(({ userName }) => userName.includes(`${canary.login}s1`));
      cell.sandbox.hand({ action: "rename-person", memberGlobalId: member?.globalId ?? "", name });
    },
    words: () => Promise.resolve(["resolve", "staff:S1", "--done", ...because]),
    async judge(cell, words) {
      expect(await entries(cell, "by-hand-read-back")).toBeLessThanOrEqual(1);
      expect((await cell.carryOut(...words)).exitCode).toBe(0);
      expect(await runOf(cell)).toEqual([0, 0]);
      await isWhole(cell);
    },
  },
  "an erasure": {
    settings: { CRM_SYNC__limits__absenceReads: "1", CRM_SYNC__limits__absenceTime: "0s" },
    async prepare(cell) {
      const [first, ...others] = placed.customers;
      const [person, ...people] = placed.staff;
      if (first === undefined || person === undefined) return;
      await synchronise(cell, {
        customers: [{ ...first, name: `${gone[0]} Works` }, ...others],
        orders: placed.orders,
        staff: [{ ...person, login: `${gone[1]}1` }, ...people],
      });
      writeWorld(cell.folder, { customers: others, orders: placed.orders.slice(1), staff: people });
      await cell.run();
      const { holds }: Parsed = await cell.ask("status");
      expect((await cell.carryOut("reject", holds[0].id, "--reason", "it stays", "--by", "anna")).exitCode).toBe(0);
      goodRunOf(await cell.run());
      expect(textsOf(cell)).toBe(2);
    },
    words: () => Promise.resolve(["audit", "erase", "--customer", "C1", "--reason", "request 17", "--by", "anna"]),
    async judge(cell, words) {
      const erased = await entries(cell, "erased");
      expect([0, 1]).toContain(erased);
      await cell.carryOut(...words);
      expect(await entries(cell, "erased")).toBe(1);
      expect(textsOf(cell)).toBe(0);
      await isWhole(cell);
    },
  },
  "the closing of a month": {
    settings: { CRM_SYNC__periods__formats: "[json]" },
    async prepare(cell) {
      await synchronise(cell);
      cell.followsTheMachine(-3_600_000);
      goodRunOf(await cell.run());
      const { blockers }: Parsed = await cell.ask("report", "blockers", month);
      const ids = blockers.map(({ id }: Parsed) => id);
      if (ids.length > 0) await cell.carryOut("report", "sign-off", month, ...ids, "--by", "anna", "--reason", "known");
    },
    words: () => Promise.resolve(["report", "close", month, "--by", "anna"]),
    async judge(cell, words) {
      const closed = await isClosed(cell);
      expect(await entries(cell, "period-closed")).toBe(closed ? 1 : 0);
      expect((await cell.carryOut(...words)).exitCode).toBe(closed ? 64 : 0);
      expect(await isClosed(cell)).toBe(true);
      expect(await entries(cell, "period-closed")).toBe(1);
      const printed = readdirSync(join(cell.folder, "printed"));
      expect(printed.length).toBeGreaterThan(4);
      for (const name of printed) JSON.parse(readFileSync(join(cell.folder, "printed", name), "utf8"));
      await isWhole(cell);
    },
  },
  "a rebuild": {
    async prepare(cell) {
      await synchronise(cell);
      for (const end of ["", "-wal", "-shm", ".lock", ".heads"]) rmSync(`${cell.ledger}${end}`, { force: true });
    },
    words: () => Promise.resolve(["rebuild"]),
    async judge(cell) {
      await allComesBack(cell);
      await isWhole(cell);
    },
  },
  "a restore": {
    prepare: livedOn,
    words: (cell) => Promise.resolve(["restore", backupOf(cell)]),
    async judge(cell, words) {
      const isThere = existsSync(ledgerOf(cell.folder));
      const [exit, calls] = await runOf(cell);
      expect(calls).toBe(0);
      // Before anything was moved the newest ledger goes on; after that nothing does.
      expect([0, 65], `ledger there: ${isThere}`).toContain(exit);
      expect((await cell.carryOut(...words)).exitCode).toBe(3);
      await allComesBack(cell);
    },
  },
  "a rebuild of what was restored": {
    async prepare(cell) {
      await livedOn(cell);
      expect((await cell.carryOut("restore", backupOf(cell))).exitCode).toBe(3);
    },
    words: () => Promise.resolve(["rebuild"]),
    async judge(cell) {
      const [exit, calls] = await runOf(cell);
      expect(calls).toBe(0);
      // What comes after the gap was closed is the end of the run alone.
      expect([0, 65]).toContain(exit);
      if (exit === 65) await allComesBack(cell);
    },
  },
};

const cells = new Cells();
afterAll(() => cells.remove());

interface Prepared {
  folder: string;
  steps: number;
}
const prepared = new Map<string, Promise<Prepared>>();

/** The world in which a command is about to be said, and how many steps it has. */
async function prepare(name: string, command: Command): Promise<Prepared> {
  const folder = cells.place(name);
  mkdirSync(folder);
  await cells.open(folder, command.settings ?? {}, async (cell) => await command.prepare(cell));
  let steps = 0;
  await cells.within(folder, command.settings ?? {}, async (cell) => {
    const { stderr } = await killAtStep(cell, undefined, ...(await command.words(cell)));
    steps = Number(/steps: (\d+)/u.exec(stderr)?.[1]);
  });
  expect(steps).toBeGreaterThan(1);
  return { folder, steps };
}

const parts = isFull ? [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1] : [0.5, 1];
const all = Object.keys(commands).flatMap((name) => parts.map((part) => [name, part] as const));

describe("a command that is killed and said again", () => {
  it.each(all)("stands whole or not at all: %s, after %f of its steps", async (name, part) => {
    const command = commands[name];
    if (command === undefined) throw new Error(`there is no command "${name}"`);
    const preparing = prepared.get(name) ?? prepare(name, command);
    prepared.set(name, preparing);
    const { folder, steps } = await preparing;
    await cells.within(folder, command.settings ?? {}, async (cell) => {
      const words = await command.words(cell);
      const ended = await killAtStep(cell, 1 + Math.floor(part * (steps - 1)), ...words);
      // What several customers have to be kept may share a commit, so that there are not always as many.
      expect(ended.signal ?? ended.exitCode).toBe(ended.signal === null && part === 1 ? ended.exitCode : "SIGKILL");
      await command.judge(cell, words);
    });
  });
});
