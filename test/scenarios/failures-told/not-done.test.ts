import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { runsOf } from "../../support/asking.ts";
import { promptRetries, type Parsed, type World } from "../../support/cli.ts";
import { crmSync } from "../../support/program.ts";
import { health, telling, told } from "../../support/telling.ts";
import { lines } from "../../support/world/crm-files.ts";
import { company, customerRow, staffRow } from "../../support/world/crm.ts";

/** Job and exit code of every run, the oldest first. */
const recorded = async (w: World): Promise<string[]> =>
  (await runsOf(w)).map(({ job, exitCode }) => `${job} ${exitCode}`).toReversed();

/** What is not done, as `status` groups it. */
async function open(w: World): Promise<string[]> {
  const { open: groups } = await w.ask("status");
  return groups.map((group: Parsed) => `${group.standing} ${group.stream} ${group.code} ${group.count}`);
}

const messages = (w: World): string[] => told(w).map(({ event, kind, count }) => `${event} ${kind} ${count}`);

/** The rows, with one of them without a name. */
const spoil = (rows: readonly object[], id: string): object[] =>
  rows.map((row) => ("id" in row && row.id === id ? { ...row, name: undefined } : row));

async function runs(w: World, job: string, exitCode: number): Promise<void> {
  const ended = await w.run("run", job);
  expect(ended.exitCode, ended.stdout + ended.stderr).toBe(exitCode);
}

describe("what is not done", () => {
  it("counts in every run, plan, status, health and alert until it is done", { tags: "long" }, async () => {
    const w = await telling({ records: company(3, 1) });
    const good = w.customers;
    w.customers = good.map((row) => (row.id === "C1" ? { ...row, address: null } : row));
    w.write();
    writeFileSync(w.path("data/staff.ndjson"), lines(spoil(w.staff.map(staffRow), "S3-1")));
    // One job meets the order that waits; the other meets the person in quarantine.
    await runs(w, "customers-and-orders", 3);
    expect(messages(w)).toEqual(["started deferred 1"]);
    await runs(w, "customers-and-orders", 3);
    await runs(w, "staff", 3);
    expect(messages(w)).toEqual(["started deferred 1", "started quarantine 1"]);
    expect((await w.run("plan")).exitCode).toBe(3);
    await runs(w, "verify", 3);
    expect(messages(w)).toEqual([]);
    expect(await open(w)).toEqual([
      "deferred orders customer.not-orderable 1",
      "deferred staff asset.not-ordered 1",
      "quarantined staff missing 1",
    ]);
    expect(await health(w)).toMatchObject({
      status: 200,
      healthy: false,
      wrong: [
        "records.deferred:orders:customer.not-orderable:1",
        "records.deferred:staff:asset.not-ordered:1",
        "records.quarantined:staff:missing:1",
      ],
    });
    w.customers = good;
    w.write();
    await runs(w, "customers-and-orders", 0);
    await runs(w, "staff", 0);
    expect(messages(w).toSorted()).toEqual(["ended deferred 2", "ended quarantine 1"]);
    expect(await open(w)).toEqual([]);
    expect(await health(w)).toMatchObject({ status: 200, healthy: true, wrong: [] });

    // A placed order that is cancelled waits for a person: in this run, in the next one, and in that of another job.
    w.orders = w.orders.map((row) => (row.id === "O2" ? { ...row, cancelled: true } : row));
    w.write();
    for (const job of ["customers-and-orders", "customers-and-orders", "staff"]) await runs(w, job, 4);
    const first = ["customers-and-orders 3", "customers-and-orders 3", "staff 3", "plan 3", "verify 3"];
    const then = ["customers-and-orders 0", "staff 0", "customers-and-orders 4", "customers-and-orders 4", "staff 4"];
    expect(await recorded(w)).toEqual([...first, ...then]);
  });

  it("is told of a rejected person in every run, and once to people", async () => {
    const w = await telling({ records: company(2, 1) });
    w.sandbox.faults.add({ operation: "M1", fault: "status299", code: "40000", nth: [1] });
    await runs(w, "everything", 3);
    await runs(w, "everything", 3);
    expect(await open(w)).toMatchObject([expect.stringMatching(/^rejected staff .* 1$/u)]);
    expect(messages(w)).toEqual(["started rejected 1"]);
  });

  it("is nothing of a customer in quarantine that is as the CRM wants it", { tags: "long" }, async () => {
    const w = await telling({ records: company(2, 2) });
    const people = w.staff.map(staffRow);
    await runs(w, "everything", 0);
    const lists = (customers: readonly object[], staff: readonly object[]): void => {
      writeFileSync(w.path("data/customers.ndjson"), lines(customers));
      writeFileSync(w.path("data/staff.ndjson"), lines(staff));
    };
    lists(spoil(w.customers.map(customerRow), "C1"), spoil(people, "S1-1"));
    await runs(w, "everything", 3);
    expect(await open(w)).toEqual(["quarantined customers missing 1", "quarantined staff missing 1"]);
    // The first person is as before; the second is to lose what they hold, which waits.
    const fewer = people.map((row) => (row.id === "S1-2" ? { ...row, holds: [] } : row));
    lists(spoil(w.customers.map(customerRow), "C1"), fewer);
    await runs(w, "everything", 3);
    expect((await w.run("resync", "--customer", "C1")).exitCode).toBe(3);
    expect(await open(w)).toEqual(["deferred staff customer.blocked 1", "quarantined customers missing 1"]);
    expect(w.sandbox.counts().calls["M9"]).toBe(4);
    lists(w.customers.map(customerRow), fewer);
    await runs(w, "everything", 0);
    expect(w.sandbox.counts().calls["M9"]).toBe(5);
  });

  it("is one record where two sources claim it", { tags: "long" }, async () => {
    const w = await telling({ records: company(2, 1) });
    const settings = readFileSync(w.path("crm-sync.yaml"), "utf8");
    const [, hr = ""] = /^ {2}hr:\n([^]*?)^jobs:/mu.exec(settings) ?? [];
    writeFileSync(w.path("crm-sync.yaml"), settings.replace(/^jobs:/mu, `  agency:\n${hr}jobs:`));
    for (let run = 0; run < 2; run += 1) await runs(w, "everything", 3);
    expect(await open(w)).toEqual(["quarantined staff claimed-twice 2"]);
    expect(messages(w)).toEqual(["started quarantine 2"]);
  });
});

it.each([
  ["everything", "E2", ["run", "everything"]],
  ["verify", "M5", ["run", "verify"]],
  ["undo", "M5", ["undo", "last"]],
] as const)("raises no alert when %s is stopped on purpose", { tags: "long" }, async (job, operation, words) => {
  const w = await telling({ records: company(3, 1) });
  if (job !== "everything") await runs(w, "everything", 0);
  const stop = w.stopsAt(operation);
  const signal = new AbortController();
  const running = crmSync({ ...w.place, clock: w.clock, signal: signal.signal }, ...words);
  await stop.reached;
  signal.abort();
  stop.goOn();
  expect((await running).exitCode).toBe(1);
  expect((await runsOf(w))[0]).toMatchObject({ job, state: "stopped" });
  await runs(w, "everything", 0);
  expect(messages(w)).toEqual([]);
});

it("records the exit code of every command that is a run", { tags: "long" }, async () => {
  const w = await telling({ records: company(1, 1) });
  Object.assign(w.environment, promptRetries);
  await w.run("plan");
  await w.sandbox.refuseConnections();
  await w.run("plan");
  await runs(w, "everything", 7);
  await w.sandbox.acceptConnections();
  await runs(w, "everything", 0);
  await w.run("resync", "--customer", "none");
  w.orders.push({ id: "O9", customer: "C9", assets: ["O9-A1"] });
  w.write();
  await w.run("plan");
  expect(await recorded(w)).toEqual(["plan 2", "plan 7", "everything 7", "everything 0", "resync 64", "plan 3"]);
});
