import { describe, expect, it } from "vitest";
import { numberOf } from "../../support/asking.ts";
import { world, type Parsed, type World } from "../../support/cli.ts";
import { crmSync } from "../../support/program.ts";
import { company } from "../../support/world/crm.ts";

/** Reading back a customer with two assets takes E3, M5, M6, E8, M8, and M7 of both. */
const callsOfOne = 7;
const week = 7 * 24;

async function synchronised(customers = 2): Promise<World> {
  const w = await world({ records: company(customers, 2) });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  return w;
}

interface Verified {
  exit: number | null;
  customers: number;
  calls: number;
}

/** Reads back what the platform shows, with a budget of calls. */
async function verifies(w: World, budget?: number): Promise<Verified> {
  const made = (): number =>
    ["E3", "M5", "M6", "M7", "M8", "E8"].reduce((sum, name) => sum + (w.sandbox.counts().calls[name] ?? 0), 0);
  const before = made();
  const words = budget === undefined ? [] : ["--calls", String(budget)];
  const { exitCode, stdout } = await w.run("--json", "run", "verify", ...words);
  return { exit: exitCode, customers: JSON.parse(stdout).customers, calls: made() - before };
}

/** Who was read back, the oldest reading first. */
async function readBack(w: World): Promise<string[]> {
  const found: { id: string; at: string }[] = [];
  for (const { id } of w.customers) {
    const { observationRead: read } = await w.ask("explain", "customer", id);
    if (read !== null && read !== undefined) found.push({ id, at: read.seenAt });
  }
  return found.toSorted((a, b) => (a.at < b.at ? -1 : 1)).map(({ id }) => id);
}

/** What differs from how it was left, by its class. */
async function differs(w: World): Promise<Record<string, number>> {
  const { differences } = await w.ask("status");
  return Object.fromEntries(differences.map((one: Parsed) => [one.class, one.count]));
}

describe("reading back", () => {
  it("finds what the platform shows otherwise, and what M5 and M6 contradict, and does nothing on it", async () => {
    const w = await synchronised();
    expect((await verifies(w)).exit).toBe(0);
    expect(w.sandbox.dropOrders("O2")).toBeGreaterThan(0);
    const { staffLinks } = await w.ask("explain", "staff", "S1-2");
    const { links } = await w.ask("explain", "customer", "C1");
    w.sandbox.faults.add({
      operation: "M6",
      fault: "oddField",
      field: "cloudAccountGlobalId",
      row: 1,
      value: staffLinks[0].memberGlobalId,
      about: links[0].enterpriseGlobalId,
    });
    const { exitCode, calls } = await w.does("run", "verify");
    expect([exitCode, calls]).toEqual([3, {}]);
    const found = await differs(w);
    expect(found["missing"]).toBeGreaterThan(0);
    expect(found["different"]).toBeGreaterThan(0);
  });

  it("keeps what it found until a whole reading shows it no more", { tags: "long" }, async () => {
    const w = await synchronised(3);
    expect((await verifies(w)).exit).toBe(0);
    w.sandbox.dropOrders("O2");
    expect(await verifies(w, 1), "C1 is the oldest").toMatchObject({ customers: 1, exit: 0 });
    expect(await verifies(w, 1), "C2").toMatchObject({ customers: 1, exit: 3 });
    const found = await differs(w);
    expect(Object.keys(found)).toEqual(["missing"]);
    expect(await verifies(w, 1), "C3 is read, and C2 is as it was").toMatchObject({ customers: 1, exit: 3 });
    w.sandbox.faults.add({ operation: "M6", fault: "code500" });
    await w.run("run", "verify");
    w.sandbox.faults.clear();
    expect(await differs(w)).toEqual(found);
  });

  it("tells of what was taken from one person and waits for another, until it is given", { tags: "long" }, async () => {
    const w = await synchronised();
    const [one, two] = w.staff;
    Object.assign(one ?? {}, { holds: [] });
    Object.assign(two ?? {}, { holds: ["O1-A1", "O1-A2"] });
    w.write();
    w.sandbox.faults.add({ operation: "M9", fault: "status299", code: "60025", nth: 2 });
    expect((await w.run("run", "everything")).exitCode, "the grant is refused").toBe(3);
    await verifies(w);
    expect(await differs(w)).toEqual({ "in-transit": 1 });
    expect((await w.run("resync", "--customer", "C1")).exitCode).toBe(0);
    expect((await verifies(w)).exit).toBe(0);
    expect(await differs(w)).toEqual({});
  });

  it(
    "does not miss what was placed after a reading, also where a verification broke off",
    { tags: "long" },
    async () => {
      const w = await synchronised();
      expect((await verifies(w)).exit).toBe(0);
      w.orders.push({ id: "O9", customer: "C2", assets: ["O9-A1"] });
      w.write();
      expect((await w.run("run", "everything")).exitCode).toBe(0);
      const stop = w.stopsAt("M6");
      const signal = new AbortController();
      w.later(1);
      const broken = crmSync({ ...w.place, clock: w.clock, signal: signal.signal }, "run", "verify");
      await stop.reached;
      signal.abort();
      stop.goOn();
      expect((await broken).exitCode).not.toBe(0);
      expect((await verifies(w, 1)).exit).toBe(0);
      expect(await differs(w)).toEqual({});
    },
  );

  it("keeps a lock that is lent as M8 shows it", { tags: "long" }, async () => {
    const w = await synchronised();
    const type = "normal_recover_usbkey" as const;
    w.orders.push({ id: "L1", customer: "C1", assets: [{ id: "L1-A1", type, forLending: true }] });
    w.write();
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    const [lock, asset] = [numberOf(w, "L1-A1"), numberOf(w, "O1-A1")];
    const words = ["--staff", "S1-1", "--lock", lock, "--asset", asset, "--reason", "travels"];
    expect((await w.run("borrow", "C1", ...words)).exitCode).toBe(0);
    expect((await verifies(w)).exit).toBe(0);
    expect((await w.run("explain", "customer", "C1")).stdout).toMatch(new RegExp(`loan ${lock}: .*true`, "u"));
  });
});

describe("reading back with a budget of calls", { tags: "long" }, () => {
  it("reads those never read first, then the oldest, one in any case, and none twice", async () => {
    const w = await synchronised(4);
    expect(await verifies(w, 1)).toMatchObject({ customers: 1, calls: callsOfOne });
    expect(await readBack(w)).toEqual(["C1"]);
    expect(await verifies(w, 2 * callsOfOne)).toMatchObject({ customers: 2, calls: 2 * callsOfOne });
    expect(new Set((await readBack(w)).slice(1))).toEqual(new Set(["C2", "C3"]));
    expect(await verifies(w, 2 * callsOfOne), "the one that was never read, then the oldest").toMatchObject({
      customers: 2,
    });
    expect(new Set((await readBack(w)).slice(2))).toEqual(new Set(["C1", "C4"]));
    expect(await verifies(w, 3 * callsOfOne - 1), "a part of a customer is not read").toMatchObject({ customers: 2 });
    expect(new Set((await readBack(w)).slice(2))).toEqual(new Set(["C2", "C3"]));
    expect(await verifies(w, 1_000), "each once").toMatchObject({ customers: 4, exit: 0 });
  });

  it("reads each once where the clock was set back, and readings bear times that are still to come", async () => {
    const w = await synchronised(2);
    w.later(10 * week);
    expect(await verifies(w, callsOfOne)).toMatchObject({ customers: 1 });
    w.later(-10 * week);
    expect(await verifies(w, 1_000)).toMatchObject({ customers: 2 });
    const { verified } = await w.ask("status");
    expect(Date.parse(verified.newest)).toBeLessThanOrEqual(w.clock.now());
  });

  it("counts as read back who is linked, by readings of the enterprise that they are linked with", async () => {
    const w = await synchronised(4);
    expect(await verifies(w, 3 * callsOfOne)).toMatchObject({ customers: 3 });
    const { links } = await w.ask("explain", "customer", "C1");
    const because = ["--reason", "it is nobody's", "--by", "anna"];
    for (const id of ["C1", "C2"]) expect((await w.run("unlink", id, "--keep-orders", ...because)).exitCode).toBe(0);
    const covered = async (): Promise<string | undefined> =>
      /^\d+ of \d+/mu.exec((await w.run("run", "verify", "--calls", "1")).stdout)?.[0];
    expect(await covered(), "C4 was never read, C3 was").toBe("2 of 2");
    expect((await w.run("link", "C1", links[0].enterpriseGlobalId, ...because)).exitCode).toBe(0);
    expect(await covered(), "C3 is the oldest but for C1, which was read before its link").toBe("3 of 3");
  });

  it("is not content where the budget is too small for the time within which all are to be read", async () => {
    const w = await synchronised(4);
    expect(await verifies(w, 1), "they were linked just now").toMatchObject({ customers: 1, exit: 0 });
    w.later(week + 1);
    expect(await verifies(w, 1)).toMatchObject({ exit: 3 });
    expect(await verifies(w, 3 * callsOfOne)).toMatchObject({ exit: 0 });
  });

  it("is for reading back alone, and a number that is one", async () => {
    const w = await synchronised();
    for (const words of [
      ["run", "everything", "--calls", "5"],
      ["run", "verify", "--calls", "few"],
      ["run", "verify", "--calls", "0"],
    ])
      expect((await w.run(...words)).exitCode).toBe(64);
    w.extra = "jobs:\n  everything: { kind: sync, streams: [customers], budget: { calls: 5 } }\n";
    w.write();
    expect((await w.run("run", "everything")).exitCode).toBe(78);
  });

  it("keeps to it where lists have pages, whether a customer was read before or not", async () => {
    const { customers, orders, staff } = company(6, 1);
    const many = staff.flatMap((row) => [
      row,
      ...Array.from({ length: 120 }, (_, n) => ({
        ...row,
        id: `${row.id}x${n}`,
        login: `${row.login}y${n}`,
        holds: [],
      })),
    ]);
    const w = await world({ records: { customers, orders, staff: many } });
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    for (let time = 0; time < 4; time += 1) {
      const { exit, customers: read, calls } = await verifies(w, 24);
      expect([exit, read]).toEqual([0, 3]);
      expect(calls).toBeLessThanOrEqual(24);
    }
  });
});
