import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import type { World } from "../../support/cli.ts";
import { health, telling, told } from "../../support/telling.ts";
import { company } from "../../support/world/crm.ts";

const keysTold = (w: World): string[] => told(w).map(({ event, key }) => `${event} ${key}`);
const tenYears = 10 * 8_766 * 3_600_000;
const reports = "kind: report, reports: [{ kind: orders }]";

function jobs(w: World, more: string): void {
  w.extra = `${w.extra.replace(/jobs:[^]*$/u, "")}jobs: { everything: { kind: sync, streams: [customers, orders, staff] }, ${more} }\n`;
  w.write();
}

it("the doubt about the clock of a resync ends once the clock is trusted", async () => {
  const w = await telling({ records: company(1, 1) });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  w.ahead = tenYears;
  expect((await w.run("resync", "--customer", "C1")).exitCode).toBe(3);
  expect(keysTold(w)).toEqual(["started clock:resync"]);
  expect((await health(w)).wrong).toEqual(["run.clock:resync:1"]);
  w.ahead = 0;
  expect((await w.run("clock", "correct", "--reason", "a new battery", "--by", "anna")).exitCode).toBe(0);
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  expect((await health(w)).wrong).toEqual([]);
  expect(keysTold(w)).toEqual(["ended clock:resync"]);
  expect((await w.run("status")).stdout).not.toContain("last run of resync");
});

it("the failure of a job ends when the job is renamed", async () => {
  const w = await telling({ records: company(1, 1) });
  jobs(w, `books: { ${reports} }`);
  writeFileSync(w.path("reports"), "a file, and no folder");
  expect((await w.run("run", "books")).exitCode).toBe(1);
  expect(keysTold(w)).toEqual(["started run-failed:books"]);
  rmSync(w.path("reports"));
  jobs(w, `statements: { ${reports} }`);
  for (const job of ["statements", "everything"]) expect((await w.run("run", job)).exitCode).toBe(0);
  expect(keysTold(w)).toEqual(["ended run-failed:books"]);
  expect((await health(w)).wrong).toEqual([]);
  expect((await w.run("status")).stdout).not.toContain("books");
});

it("a plan that could not be saved is no open issue: who made it saw that", async () => {
  const w = await telling({ records: company(1, 1) });
  mkdirSync(w.path("out"));
  const stop = w.stopsAt("E3");
  const planning = w.run("plan", "--out", w.path("out/plan.ndjson"));
  await stop.reached;
  rmSync(w.path("out"), { recursive: true });
  stop.goOn();
  expect((await planning).exitCode).toBe(64);
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  expect([keysTold(w), (await health(w)).wrong]).toEqual([[], []]);
  expect((await w.run("status")).stdout).not.toContain("failed");
});
