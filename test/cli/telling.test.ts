import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import { lines } from "../support/world/crm-files.ts";
import { company, customerRow, orderRow, staffRow } from "../support/world/crm.ts";
import { promptRetries } from "../support/cli.ts";
import type { World } from "../support/cli.ts";
import { crmSync } from "../support/program.ts";
import { health, telling, told } from "../support/telling.ts";

/** Job, kind and exit code of every run, oldest first. */
function recorded(w: World): string[] {
  return w
    .rows<{ said: string }>("select job || ' ' || coalesce(exit_code, '-') as said from run order by id")
    .map((row) => row.said);
}

describe("what is not done", () => {
  it(
    "counts in every run, plan, status, health and alert until it is done, whichever run met it first",
    { tags: "long" },
    async () => {
      const w = await telling({ records: company(3, 1) });
      w.extra +=
        "jobs: { customers-and-orders: { schedule: null }, staff: { schedule: null }, verify: { schedule: null }, monthly-report: { schedule: null } }\n";
      const good = { customers: w.customers, orders: w.orders };
      w.customers = w.customers.map((row) => (row.id === "C1" ? { ...row, address: null } : row));
      w.write();
      const people = w.staff.map(staffRow);
      const spoiled = people.map((line) => ("id" in line && line.id === "S3-1" ? { ...line, name: undefined } : line));
      writeFileSync(w.path("data/staff.ndjson"), lines(spoiled));

      // One job meets the order that waits; the other meets the person in quarantine, and decides on the order again.
      const orders = "1 order is deferred (customer.not-orderable)";
      const person = "1 staff member is in quarantine (missing)";
      const first = await w.run("run", "customers-and-orders");
      expect([first.exitCode, first.last]).toEqual([
        3,
        `exit 3: 1 record is not done: ${orders}; \`crm-sync status\` says since when, why and what to do`,
      ]);
      expect(told(w)).toMatchObject([
        { event: "started", kind: "deferred", count: 1, summary: expect.stringContaining("crm/O1") },
      ]);
      expect((await w.run("run", "customers-and-orders")).last).toBe(first.last);
      const staff = await w.run("run", "staff");
      expect(staff.exitCode).toBe(3);
      expect(staff.last).toContain(
        `3 records are not done: ${orders}, 1 staff member is deferred (asset.not-ordered), ${person};`,
      );
      expect(told(w).map((message) => [message.event, message.kind, message.instance])).toEqual([
        ["started", "deferred", expect.stringMatching(/^north \(.+\)$/u)],
        ["started", "quarantine", expect.stringMatching(/^north \(.+\)$/u)],
      ]);

      const planned = await w.run("plan");
      expect(planned.exitCode).toBe(3);
      expect(planned.last).toContain("exit 3: 3 records are not done: ");
      const status = await w.run("status");
      expect(status.stdout).toMatch(/orders +customer\.not-orderable +1 +\d+ s +crm +crm\/O1/u);
      expect(status.stdout).toContain(`${orders}, owner: the CRM: crm/O1; the oldest for`);
      expect(status.stdout).toContain(`${person}, owner: the CRM: crm/S3-1; the oldest for`);
      expect(status.stdout).not.toContain("nothing waits for a person");
      expect(await health(w)).toMatchObject({
        status: 200,
        healthy: false,
        wrong: [
          "records.deferred:orders:customer.not-orderable:1",
          "records.deferred:staff:asset.not-ordered:1",
          "records.quarantined:staff:missing:1",
        ],
      });
      expect((await w.run("run", "verify")).exitCode).toBe(3);
      expect(told(w)).toEqual([]);

      Object.assign(w, good);
      w.write();
      expect((await w.run("run", "customers-and-orders")).last).toBe("exit 0: all is well");
      const ended = told(w);
      expect((await w.run("run", "staff")).last).toBe("exit 0: all is well");
      ended.push(...told(w));
      expect(ended.map((message) => `${message.event} ${message.key}`).sort()).toEqual([
        "ended deferred",
        "ended quarantine:staff:missing",
      ]);
      expect((await w.run("status")).last).toBe("nothing waits for a person");
      expect(await health(w)).toMatchObject({ status: 200, healthy: true, wrong: [] });

      // A placed order that is cancelled is never "all is well": not in this run, and not in the next one without a
      // change.
      w.orders = w.orders.map((row) => (row.id === "O2" ? { ...row, cancelled: true } : row));
      w.write();
      for (let run = 0; run < 2; run += 1) {
        const cancelled = await w.run("run", "customers-and-orders");
        expect(cancelled.last).toContain("exit 4: something waits for approval");
      }
      expect((await w.run("run", "staff")).exitCode).toBe(4);
      expect(recorded(w)).toEqual([
        "customers-and-orders 3",
        "customers-and-orders 3",
        "staff 3",
        "plan 3",
        "verify 3",
        "customers-and-orders 0",
        "staff 0",
        "customers-and-orders 4",
        "customers-and-orders 4",
        "staff 4",
      ]);
    },
  );

  it("is told of a rejected person in every run, not only in the one that asked", { tags: "long" }, async () => {
    const w = await telling({ records: company(2, 1) });
    w.sandbox.faults.add({ operation: "M1", fault: "status299", code: "40000", nth: [1] });
    expect((await w.run("run", "everything")).exitCode).toBe(3);
    const again = await w.run("run", "everything");
    expect(again.last).toMatch(/^exit 3: 1 record is not done: 1 staff member is rejected /u);
    const messages = told(w);
    expect(messages.map((message) => `${message.event} ${message.kind} ${message.count}`)).toEqual([
      "started rejected 1",
    ]);
    expect(messages[0]?.cure).toMatch(/do what the reason names; .+; `crm-sync status` has the reason$/u);
  });

  it(
    "is nothing of a customer in quarantine that is as the CRM wants it: only what has something left to do waits for it",
    { tags: "long" },
    async () => {
      const w = await telling({ records: company(2, 2) });
      const people = w.staff;
      expect((await w.run("run", "everything")).exitCode).toBe(0);
      const spoil = (rows: readonly object[], id: string): object[] =>
        rows.map((line) => ("id" in line && line.id === id ? { ...line, name: undefined } : line));
      w.write();
      writeFileSync(w.path("data/customers.ndjson"), lines(spoil(w.customers.map(customerRow), "C1")));
      writeFileSync(w.path("data/staff.ndjson"), lines(spoil(people.map(staffRow), "S1-1")));
      const customer = "1 customer is in quarantine (missing)";
      expect((await w.run("run", "everything")).last).toContain(
        `exit 3: 2 records are not done: ${customer}, 1 staff member is in quarantine (missing);`,
      );

      // The first person is as before; the second is to lose what they hold, which waits.
      const fewer = people.map((row) => (row.id === "S1-2" ? { ...row, holds: [] } : row));
      writeFileSync(w.path("data/staff.ndjson"), lines(fewer.map(staffRow)));
      const waits = `exit 3: 2 records are not done: 1 staff member is deferred (customer.blocked by customer.quarantined), ${customer};`;
      expect((await w.run("run", "everything")).last).toContain(waits);
      expect((await w.run("resync", "--customer", "C1")).last).toContain(waits);
      expect((await w.run("run", "everything")).last).toContain(waits);
      expect((await w.run("status")).stdout).toContain(
        "1 staff member is deferred (customer.blocked by customer.quarantined), owner: the CRM: crm/S1-2;",
      );
      expect(w.sandbox.counts().calls["M9"]).toBe(4);

      writeFileSync(w.path("data/customers.ndjson"), lines(w.customers.map(customerRow)));
      expect((await w.run("run", "everything")).last).toBe("exit 0: all is well");
      expect(w.sandbox.counts().calls["M9"]).toBe(5);
    },
  );

  it("is one record where two sources claim it", async () => {
    const w = await telling({ records: company(2, 1) });
    const settings = readFileSync(w.path("crm-sync.yaml"), "utf8");
    const [, hr = ""] = /^ {2}hr:\n([^]*?)^jobs:/mu.exec(settings) ?? [];
    writeFileSync(w.path("crm-sync.yaml"), settings.replace(/^jobs:/mu, `  agency:\n${hr}jobs:`));
    for (let run = 0; run < 2; run += 1) {
      const ended = await w.run("run", "everything");
      expect(ended.last).toContain("exit 3: 2 records are not done: 2 staff members are in quarantine (claimed-twice)");
    }
    expect(told(w).map((message) => `${message.kind} ${message.count}`)).toEqual(["quarantine 2"]);
    expect((await w.run("status")).stdout).toContain(
      "2 staff members are in quarantine (claimed-twice), owner: the configuration",
    );
  });
});

describe("a run that is stopped on purpose", () => {
  it(
    "raises no alert: neither for itself, nor for a source, a service or the records that it left",
    { tags: "long" },
    async () => {
      const w = await telling({ records: company(4, 1), sandbox: { latencyMs: 40 } });
      for (const job of ["everything", "verify"]) {
        const stop = new AbortController();
        const before = w.sandbox.counts().calls["E2"] ?? 0;
        const watch = setInterval(() => {
          const { calls } = w.sandbox.counts();
          if ((calls["E2"] ?? 0) > before || (job === "verify" && (calls["M5"] ?? 0) > 0)) stop.abort();
        }, 5);
        onTestFinished(() => clearInterval(watch));
        const stopped = await crmSync({ ...w.place, signal: stop.signal }, "run", job);
        clearInterval(watch);
        expect([job, stopped.exitCode]).toEqual([job, 1]);
      }
      expect(told(w)).toEqual([]);
      expect((await w.run("status")).stdout).toContain("wait for the next run");
      expect((await w.run("run", "everything")).exitCode).toBe(0);
      expect(told(w)).toEqual([]);
    },
  );
});

describe("what a command that records a run exits with", () => {
  it("stands in `runs`: changes pending, a service down, a record that nobody knows", { tags: "long" }, async () => {
    const w = await telling({ records: company(1, 1) });
    expect((await w.run("plan")).last).toMatch(/^exit 2: changes are pending/u);
    Object.assign(w.environment, promptRetries);
    await w.sandbox.refuseConnections();
    expect((await w.run("plan")).exitCode).toBe(7);
    expect((await w.run("run", "everything")).exitCode).toBe(7);
    await w.sandbox.acceptConnections();
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    expect((await w.run("resync", "--customer", "none")).exitCode).toBe(64);
    w.orders = [...w.orders, { id: "O9", customer: "C9", assets: ["O9-A1"] }];
    writeFileSync(w.path("data/orders.ndjson"), lines(w.orders.map(orderRow)));
    expect((await w.run("plan")).last).toContain(
      "exit 3: 1 record is not done: 1 order is deferred (customer.blocked by customer.unknown)",
    );
    expect(recorded(w)).toEqual(["plan 2", "plan 7", "everything 7", "everything 0", "resync 64", "plan 3"]);
    expect((await w.run("runs")).exitCode).toBe(0);
  });
});
