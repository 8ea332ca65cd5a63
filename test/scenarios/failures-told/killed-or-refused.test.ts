import { copyFileSync, existsSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { runsOf } from "../../support/asking.ts";
import type { World } from "../../support/cli.ts";
import { asKilledNow } from "../../support/killed-copy.ts";
import { crmSync } from "../../support/program.ts";
import { serves } from "../../support/serving.ts";
import { health, telling, told } from "../../support/telling.ts";
import { company } from "../../support/world/crm.ts";
import { openSandbox } from "../../support/world/start.ts";

const keysTold = (w: World): string[] => told(w).map(({ event, key }) => `${event} ${key}`);

/** A daemon has fired here before, and everything is done. */
async function fired(customers: number): Promise<World> {
  const w = await telling({ records: company(customers, 1) });
  w.extra +=
    "jobs: { everything: { kind: sync, streams: [customers, orders, staff], schedule: '*/15 * * * *' }, copies: { kind: backup, to: copies, keep: 3 }, customers-and-orders: { schedule: null }, staff: { schedule: null }, verify: { schedule: null }, monthly-report: { schedule: null } }\n";
  w.write();
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  expect((await health(w)).healthy).toBe(true);
  return w;
}

async function killedIn(w: World, job: string, at: "M5" | "E5"): Promise<void> {
  const stop = new AbortController();
  const gate = w.stopsAt(at);
  const running = crmSync({ ...w.place, clock: w.clock, signal: stop.signal }, "run", job);
  await gate.reached;
  asKilledNow(w);
  stop.abort();
  gate.goOn();
  await running;
}

it("a scheduled job that is refused before its run begins is told as a failed run", async () => {
  const w = await fired(1);
  const other = await openSandbox({ clock: w.clock });
  w.later(48);
  const moved = { ...w, clock: w.clock, environment: w.environment, place: { ...w.place, sandbox: other.url } };
  const serving = await serves(moved);
  await serving.says("schedule.run-failed");
  expect((await serving.health()).body.wrong).toContain("run.run-failed:everything:1");
  expect((await serving.ends()).stderr).toContain("ledger.other-platform");
  const [run] = await runsOf(w);
  expect(run).toMatchObject({ job: "everything", state: "failed", exitCode: 65 });
  expect(keysTold(w)).toEqual(["started run-failed:everything"]);
  expect((await w.run("status")).stdout).toContain(`the last run of everything (${run.id}) failed`);
  expect((await w.run("run", "show", run.id)).stdout).toContain("Nothing was sent");

  expect((await crmSync({ ...moved.place, clock: w.clock }, "run", "everything")).exitCode).toBe(65);
  expect(await runsOf(w), "who runs it by hand sees the refusal").toHaveLength(2);
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  expect(keysTold(w)).toEqual(["ended run-failed:everything"]);
});

it("an older copy of the ledger is told when a schedule finds it, and stays refused", async () => {
  const w = await fired(1);
  w.extra += "audit: { heads: [{ kind: file, path: kept.heads }] }\n";
  w.write();
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  for (const suffix of ["", "-wal", ".heads"])
    if (existsSync(w.path(`ledger.db${suffix}`)))
      copyFileSync(w.path(`ledger.db${suffix}`), w.path(`older.db${suffix}`));
  w.orders.push({ id: "N1", customer: "C1", assets: ["N1-A1"] });
  w.write();
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  const kept = readFileSync(w.path("kept.heads"), "utf8");
  w.losesItsLedger("older.db");
  w.later(48);
  const serving = await serves(w);
  await serving.says("schedule.run-failed");
  expect((await serving.health()).body.wrong).toContain("run.run-failed:everything:1");
  expect((await serving.ends()).stderr).toContain("ledger.behind-outside");
  expect(keysTold(w)).toEqual(["started run-failed:everything"]);
  expect(readFileSync(w.path("kept.heads"), "utf8")).toBe(kept);
  expect(await w.does("run", "everything")).toMatchObject({ exitCode: 65, calls: {} });
});

it("a program that was killed a day ago while it sent an order is not said to be on, with nothing to do", async () => {
  const w = await fired(1);
  w.orders.push({ id: "N1", customer: "C1", assets: ["N1-A1"] });
  w.write();
  await killedIn(w, "everything", "E5");
  w.later(24);
  const { stdout } = await w.run("status");
  expect(stdout).toContain("the last run of everything");
  expect(stdout).toContain("was interrupted");
  expect(stdout).toContain("is sending");
  expect(stdout).toContain("everything should have fired");
  const [run] = await runsOf(w);
  expect(run.state).toBe("interrupted");
  expect((await health(w)).wrong).toContain("run.run-failed:everything:1");
});

it("a backup does not tell the end of the trouble of a job whose next run was killed", async () => {
  const w = await fired(2);
  w.sandbox.faults.add({ operation: "M5", fault: "http502" });
  expect((await w.run("run", "verify")).exitCode).toBe(7);
  w.sandbox.faults.clear();
  expect(keysTold(w)).toEqual(["started service-down:verify"]);
  await killedIn(w, "verify", "M5");
  expect((await w.run("run", "copies")).exitCode).toBe(0);
  expect(keysTold(w)).toEqual(["started run-failed:verify"]);
  expect((await health(w)).wrong).toEqual(["run.run-failed:verify:1", "alert.service-down:verify"]);
});
