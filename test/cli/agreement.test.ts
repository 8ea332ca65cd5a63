import { rmSync, writeFileSync } from "node:fs";
import { expect, it, onTestFinished } from "vitest";
import { crmSync } from "../support/program.ts";
import { lines } from "../support/world/crm-files.ts";
import { company, staffRow } from "../support/world/crm.ts";
import { health, telling, told } from "../support/telling.ts";

const jobs =
  "jobs: { everything: { kind: sync, streams: [customers, orders, staff] }, customers-and-orders: { schedule: null }, staff: { schedule: null }, verify: { schedule: null }, monthly-report: { schedule: null } }\n";

it(
  "what verify found stands in exit code, status, health and alerts until a whole verify finds it no more",
  { tags: "long" },
  async () => {
    const w = await telling({ records: company(3, 1), sandbox: { latencyMs: 5 } });
    w.extra += jobs;
    w.write();
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    expect(w.sandbox.dropOrders("O2")).toBeGreaterThan(0);
    expect((await w.run("run", "verify")).exitCode).toBe(3);
    expect(told(w).map((message) => `${message.event} ${message.key}`)).toEqual(["started not-as-placed:verify"]);

    const status = await w.run("status");
    expect(status.stdout).toContain("the last run of verify found what the platform does not show as it was placed: 2");
    expect(status.stdout).not.toContain("nothing waits for a person");
    expect(await health(w)).toMatchObject({ status: 200, healthy: false, wrong: ["run.not-as-placed:verify:2"] });

    // A verify that a person stops has looked at nothing.
    const stop = new AbortController();
    stop.abort();
    expect((await crmSync({ ...w.place, signal: stop.signal }, "run", "verify")).exitCode).not.toBe(0);
    w.tamper(
      "update run set state = 'interrupted', exit_code = 1, summary = '{\"inDoubt\":[]}' where id = (select max(id) from run)",
    );
    await w.run("run", "everything");
    expect(told(w).map((message) => `${message.event} ${message.kind} ${message.key}`)).toEqual([
      "started run-failed run-failed:verify",
    ]);
    expect((await w.run("status")).stdout).toMatch(/the last run of verify \(run_\w+\) was interrupted/u);
    expect(await health(w)).toMatchObject({ healthy: false, wrong: ["run.run-failed:verify:1"] });
  },
);

it("a job that ends by an error stands in `runs` as failed, with its exit code, and is told of at once", async () => {
  const w = await telling({ records: company(1, 1) });
  w.extra += jobs;
  w.write();
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  writeFileSync(w.path("reports"), "a file, and no folder");
  expect((await w.run("run", "monthly-report")).exitCode).toBe(1);
  expect(told(w).map((message) => `${message.event} ${message.key}`)).toEqual(["started run-failed:monthly-report"]);
  rmSync(w.path("reports"));
  w.tamper("update record_version set body = '{' where stream = 'orders'");
  expect((await w.run("run", "verify")).exitCode).toBe(65);
  expect(told(w).map((message) => `${message.event} ${message.key}`)).toEqual(["started run-failed:verify"]);
  expect(w.rows("select job, state, exit_code from run order by id")).toEqual([
    { job: "everything", state: "done", exit_code: 0 },
    { job: "monthly-report", state: "failed", exit_code: 1 },
    { job: "verify", state: "failed", exit_code: 65 },
  ]);
});

it(
  "an unknown outcome is one for a plan too: the same exit code as the run's, and no talk of a service that is down",
  { tags: "long" },
  async () => {
    const w = await telling({ records: company(2, 1) });
    w.sandbox.faults.add({ operation: "E5", fault: "resetBefore", nth: [1] });
    w.environment["CRM_SYNC__orders__unseen"] = "ask";
    const run = await w.run("run", "everything");
    expect(run.exitCode, run.stdout).toBe(5);
    const plan = await w.run("plan");
    expect(plan.exitCode, plan.stdout).toBe(5);
    expect(plan.last).not.toContain("was down");
  },
);

it(
  "a run that is stopped takes no age, no alert and no place in status from what was not done before it",
  { tags: "long" },
  async () => {
    const w = await telling({ records: company(2, 1), sandbox: { latencyMs: 40 } });
    w.extra += jobs;
    w.customers = w.customers.map((row) => (row.id === "C1" ? { ...row, address: null } : row));
    w.write();
    expect((await w.run("run", "customers-and-orders")).exitCode).toBe(3);
    const before = told(w).map((message) => `${message.event} ${message.kind}`);
    expect(before).toEqual(["started deferred"]);
    const [since] = w.rows<{ since: string }>("select deferred_since as since from record where id = 'O1'");

    // The order comes changed in the run that is stopped, while its customer is worked on.
    const stop = new AbortController();
    const watch = setInterval(() => {
      if ((w.sandbox.counts().calls["M5"] ?? 0) > 0) stop.abort();
    }, 5);
    onTestFinished(() => clearInterval(watch));
    writeFileSync(w.path("data/staff.ndjson"), lines(w.staff.map(staffRow)));
    const stopped = await crmSync({ ...w.place, signal: stop.signal }, "run", "everything");
    clearInterval(watch);
    expect(stopped.exitCode).toBe(1);
    expect(told(w)).toEqual([]);
    expect(w.rows("select deferred_since as since, deferred_code as code from record where id = 'O1'")).toEqual([
      { since: since?.since, code: "customer.not-orderable" },
    ]);
    expect((await w.run("status")).stdout).toContain("1 order is deferred (customer.not-orderable)");
  },
);
