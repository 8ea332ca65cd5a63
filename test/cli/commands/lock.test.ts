import { describe, expect, it } from "vitest";
import { numberOf, operationsOf, runsOf, unsettled } from "../../support/asking.ts";
import { document, world, type Parsed, type World } from "../../support/cli.ts";
import { assetRow, company } from "../../support/world/crm.ts";

interface Locks {
  w: World;
  /** The numbers of the locks of C1 and C2. */
  first: string;
  second: string;
  others: string;
}

/** Two customers whose orders brought two re-issuable locks each. */
async function withLocks(): Promise<Locks> {
  const { orders, ...records } = company(2, 2);
  const reissuable = orders.map((order) => ({
    ...order,
    assets: order.assets.map((asset) => ({ ...assetRow(asset), type: "normal_recover_usbkey" as const })),
  }));
  const w = await world({ records: { ...records, orders: reissuable } });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  return { w, first: numberOf(w, "O1-A1"), second: numberOf(w, "O1-A2"), others: numberOf(w, "O2-A1") };
}

const why = ["--reason", "reported stolen", "--by", "anna.lee"];

/** The exit code of a command, and the calls that it made. */
async function ends(w: World, ...words: string[]): Promise<[number | null, Record<string, number>]> {
  const { exitCode, calls } = await w.does(...words);
  return [exitCode, calls];
}

const lock = (w: World, customer: string, ...numbers: string[]): ReturnType<typeof ends> =>
  ends(w, "lock", customer, "--asset", ...numbers, ...why);
const withdraw = (w: World, customer: string, number: string): ReturnType<typeof ends> =>
  ends(w, "lock", customer, "--asset", number, ...why, "--withdraw");
const runs = (w: World): ReturnType<typeof ends> => ends(w, "run", "everything");

/** What waits for a person or the next run, by its code. */
async function open(w: World): Promise<string[]> {
  return (await w.ask("status")).open.map(({ code }: Parsed) => code);
}

/** What was answered for each lock of a customer, by its number. */
async function statusOf(w: World, customer: string): Promise<Record<string, Parsed>> {
  const { requests } = await w.ask("explain", "customer", customer);
  return Object.fromEntries(requests.map(({ about, answer }: Parsed) => [about, answer?.status]));
}

describe("locks that a person disables and enables", () => {
  it("are disabled and enabled, unless they are another customer's or asked for without a reason", async () => {
    const { w, first, others } = await withLocks();
    for (const words of [
      ["lock", "C1", "--asset", first, others, ...why],
      ["lock", "C9", "--asset", first, ...why],
      ["lock", "C1", "--asset", first],
      ["unlock", "C1", "--asset", first, ...why, "--withdraw"],
    ])
      expect(await ends(w, ...words), words.join(" ")).toEqual([64, {}]);
    const done = await w.run("--json", "lock", "C1", "--asset", first, ...why);
    expect([done.exitCode, document(done)]).toMatchObject([
      0,
      {
        customer: "crm/C1",
        open: [],
        requests: [{ of: "lock", about: first, wanted: "locked", answer: { status: 1 } }],
      },
    ]);
    expect(w.sandbox.state().lockedAssets).toBe(1);
    expect(await ends(w, "unlock", "C1", "--asset", ` ${first} `, ...why)).toEqual([0, { E7: 1 }]);
    expect(w.sandbox.state().lockedAssets).toBe(0);
    w.environment["CRM_SYNC__assumptions__operatorIdentity"] = "+49 151 12345678";
    expect((await lock(w, "C1", first))[0], "an operator that is a phone number").toBe(78);
  });

  it(
    "are tried again by the next run when they failed, and wait for a person when they are wrong",
    { tags: "long" },
    async () => {
      const { w, first, second, others } = await withLocks();
      w.sandbox.faults.add({ operation: "E6", fault: "oddField", field: "status", row: 1, value: 3, times: 2 });
      expect(await lock(w, "C1", first, second)).toEqual([3, { E6: 1 }]);
      expect(await statusOf(w, "C1")).toEqual({ [first]: 3, [second]: 1 });
      expect(await open(w)).toEqual(["request.failed"]);
      w.sandbox.dropOrders("O2");
      w.sandbox.faults.add({ operation: "E7", fault: "oddField", field: "status", value: 4 });
      expect((await ends(w, "unlock", "C2", "--asset", others, ...why))[0]).toBe(3);
      expect(await runs(w)).toEqual([3, { E6: 1 }]);
      expect(await runs(w)).toEqual([3, { E6: 1 }]);
      expect((await statusOf(w, "C1"))[first]).toBe(1);
      expect(await open(w)).toEqual(["request.refused"]);
      expect((await ends(w, "unlock", "C2", "--asset", others, ...why, "--withdraw"))[0]).toBe(0);
      expect(await runs(w)).toEqual([0, {}]);
    },
  );

  it(
    "are sent again with the same locks when the answer was lost, before the opposite is sent",
    { tags: "long" },
    async () => {
      const { w, first } = await withLocks();
      const patient = w.environment;
      w.environment = { ...patient, CRM_SYNC__settle__maxWaitMs: "0", CRM_SYNC__settle__timeMs: "600000" };
      w.sandbox.faults.add({ operation: "E6", fault: "appliedNoReply" });
      expect((await lock(w, "C1", first))[0]).toBe(5);
      w.sandbox.faults.clear();
      expect(await unsettled(w)).toHaveLength(1);
      const unlock = (): ReturnType<typeof ends> => ends(w, "unlock", "C1", "--asset", first, ...why);
      expect(await unlock()).toEqual([3, { E6: 1 }]);
      expect((await runsOf(w))[0]).toMatchObject({ job: "unlock", exitCode: 3 });
      w.environment = patient;
      w.later(1);
      expect(await unlock()).toEqual([0, { E7: 1 }]);
      expect(w.sandbox.state().lockedAssets).toBe(0);
      const sent = (await operationsOf(w, "customer", "C1")).filter(
        ({ stage, state }) => stage === "requests" && state !== "dropped",
      );
      expect(sent.map(({ kind, state }) => [kind, state])).toEqual([
        ["unlock-assets", "done"],
        ["lock-assets", "done"],
      ]);
    },
  );

  it("stay asked for while another run is in progress, and the next run does them", { tags: "long" }, async () => {
    const { w, others } = await withLocks();
    w.orders.push({ id: "O3", customer: "C1", assets: ["O3-A1"] });
    w.write();
    const gate = w.stopsAt("E5");
    const running = w.run("run", "everything");
    await gate.reached;
    expect(await lock(w, "C2", others)).toEqual([75, {}]);
    gate.goOn();
    expect((await running).exitCode).toBe(3);
    expect(await open(w)).toEqual(["request.open"]);
    expect((await w.run("plan")).exitCode).toBe(2);
    expect(await ends(w, "resync", "--customer", "C1")).toEqual([3, {}]);
    expect(await runs(w)).toEqual([0, { E6: 1 }]);
    expect(await open(w)).toEqual([]);
  });

  it(
    "of another customer are told beside what is rejected of the customer that was asked for",
    { tags: "long" },
    async () => {
      const { w, others } = await withLocks();
      w.customers = w.customers.map((one) => (one.id === "C1" ? { ...one, name: "Refused Ltd" } : one));
      w.write();
      const gate = w.stopsAt("E4");
      w.sandbox.faults.add({ operation: "E4", fault: "status299", code: "13004" });
      const running = w.run("run", "everything");
      await gate.reached;
      expect((await lock(w, "C2", others))[0]).toBe(75);
      gate.goOn();
      expect((await running).exitCode).toBe(3);
      const resync = await w.run("--json", "resync", "--customer", "C1");
      expect(resync.exitCode).toBe(3);
      const told = document(resync).summary.open.map(({ code }: Parsed) => code);
      expect(told).toEqual(["request.open", "rejected.13004"]);
    },
  );

  it(
    "are told as long as one of them is refused, and end neither that rejection nor one of their customer",
    { tags: "long" },
    async () => {
      const { w, first, second } = await withLocks();
      w.sandbox.faults.add({ operation: "E6", fault: "oddField", field: "status", value: 4, times: 1 });
      expect((await lock(w, "C1", first, second))[0]).toBe(3);
      expect((await withdraw(w, "C1", first))[0]).toBe(0);
      expect(await runs(w)).toEqual([3, {}]);
      expect(await statusOf(w, "C1")).toEqual({ [second]: 4 });
      expect(await open(w)).toEqual(["request.refused"]);
      expect((await withdraw(w, "C1", second))[0]).toBe(0);
      expect(await open(w)).toEqual([]);
      w.sandbox.faults.add({ operation: "E6", fault: "status299", code: "13004", times: 2 });
      for (const end of [["--withdraw"], []]) {
        expect((await lock(w, "C1", first))[0]).toBe(3);
        expect((await ends(w, "lock", "C1", "--asset", first, ...why, ...end))[0]).toBe(0);
        expect(await runs(w)).toEqual([0, {}]);
      }
    },
  );

  it("hide no rejection of a change of their customer", { tags: "long" }, async () => {
    const { w, first, second } = await withLocks();
    const isTold = async (): Promise<boolean> => (await open(w)).some((code) => code.startsWith("rejected"));
    w.sandbox.faults.add({ operation: "E4", fault: "status299", code: "13004", times: 1 });
    w.customers = w.customers.map((one) => (one.id === "C1" ? { ...one, branch: "Moved" } : one));
    w.write();
    expect((await runs(w))[0]).toBe(3);
    w.sandbox.faults.add({ operation: "E6", fault: "oddField", field: "status", value: 4, times: 1 });
    expect((await lock(w, "C1", first))[0]).toBe(3);
    expect(await isTold()).toBe(true);
    expect((await withdraw(w, "C1", first))[0]).toBe(0);
    w.sandbox.faults.add({ operation: "E6", fault: "oddField", field: "status", value: 3, times: 3 });
    expect((await lock(w, "C1", second))[0]).toBe(3);
    for (const calls of [{ E6: 1 }, { E6: 1 }, { E6: 1 }, {}]) {
      expect(await runs(w)).toEqual([3, calls]);
      expect(await isTold()).toBe(true);
    }
    expect((await statusOf(w, "C1"))[second]).toBe(1);
  });
});
