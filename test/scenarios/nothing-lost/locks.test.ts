/** @module-tag long */
import { expect, it } from "vitest";
import { unsettled } from "../../support/asking.ts";
import { world, type Parsed, type World } from "../../support/cli.ts";
import { base, orderOf } from "../../support/world/small.ts";
import { assetRow, type Crm } from "../../support/world/crm.ts";

const others: Crm = {
  ...base,
  customers: [...base.customers, { id: "C2", branch: "South" }],
  orders: [...base.orders, orderOf("O2", { B1: "normal_recover_usbkey" }, "C2")],
};

/** Two customers that have all that the CRM gives them; then the CRM gives `next`, and these settings hold. */
async function synchronised(next: Partial<Crm> = {}, settings: Record<string, string> = {}): Promise<World> {
  const w = await world({ records: others });
  expect(await run(w)).toBe(0);
  Object.assign(w, next);
  w.write();
  Object.assign(w.environment, { CRM_SYNC__settle__maxWaitMs: "0" }, settings);
  return w;
}

const run = async (w: World): Promise<number | null> => (await w.run("run", "everything")).exitCode;
const calls = (w: World, operation: string): number => w.sandbox.counts().calls[operation] ?? 0;

/** What was asked for, of each customer, with what was answered last. */
async function wishes(w: World): Promise<[customer: string, about: string, status: unknown][]> {
  const found: [string, string, unknown][] = [];
  for (const customer of ["C1", "C2"])
    for (const { about, answer } of (await w.ask("explain", "customer", customer)).requests)
      found.push([customer, about, answer?.status ?? null]);
  return found;
}

/** The numbers of an asset, by its id. */
async function numbersOf(w: World, asset: string): Promise<string[]> {
  const order = w.orders.find(({ assets }) => assets.some((line) => assetRow(line).id === asset));
  const { numbers } = await w.ask("explain", "order", order?.id ?? "");
  return numbers.filter((one: Parsed) => one.instanceId === asset).map((one: Parsed) => one.number);
}

/** How a command that switches assets ended. */
async function switches(w: World, word: "lock" | "unlock", customer: string, ...assets: string[]) {
  const numbers = [];
  for (const asset of assets) numbers.push(...(await numbersOf(w, asset)));
  return await switchesNumbers(w, word, customer, numbers);
}

async function switchesNumbers(w: World, word: "lock" | "unlock", customer: string, numbers: string[]) {
  const why = ["--reason", "stolen", "--by", "me"];
  return (await w.run("--json", word, customer, "--asset", ...numbers, ...why)).exitCode;
}

it("a number of the other customer refuses all of them, and nothing is asked for or sent", async () => {
  const w = await synchronised();
  expect(await switches(w, "lock", "C1", "A2", "B1")).toBe(64);
  expect(await switches(w, "lock", "C1", "A1"), "of a type that cannot be disabled").toBe(64);
  expect([await wishes(w), calls(w, "E6")]).toEqual([[], 0]);
});

it("a customer whose order may have been placed unseen waits with its locks too, and no other does", async () => {
  const orders = [...others.orders, orderOf("O3", { A9: "cloud_account" })];
  const w = await synchronised({ orders }, { CRM_SYNC__orders__unseen: "ask" });
  w.sandbox.faults.add({ operation: "E5", fault: "resetBefore", times: 1 });
  expect(await run(w)).toBe(5);
  expect(await switches(w, "lock", "C1", "A2")).toBe(5);
  expect(await switches(w, "lock", "C2", "B1")).toBe(0);
  expect((await wishes(w)).map(([customer, , status]) => [customer, status])).toEqual([
    ["C1", null],
    ["C2", 1],
  ]);
  expect(calls(w, "E6")).toBe(1);
});

it("a lock that is refused keeps no change of its customer from being sent", async () => {
  const w = await synchronised({
    customers: [
      { id: "C1", branch: "East" },
      { id: "C2", branch: "South" },
    ],
  });
  await w.sandbox.refuseConnections();
  expect(await switches(w, "lock", "C2", "B1"), "asked for, and not sent").toBe(7);
  expect(await run(w)).toBe(7);
  await w.sandbox.acceptConnections();
  w.sandbox.faults.add({ operation: "E6", fault: "oddField", field: "status", value: 4, times: 1 });
  expect(await switches(w, "lock", "C1", "A2")).toBe(3);
  await run(w);
  expect(calls(w, "E4")).toBe(1);
});

it("an answer about other locks than were sent says nothing: the same locks are sent again", async () => {
  const w = await synchronised();
  w.sandbox.faults.add({ operation: "E6", fault: "oddField", field: "assetNum", value: "9", times: 1 });
  expect(await switches(w, "lock", "C1", "A2")).toBe(5);
  expect(await switches(w, "lock", "C2", "B1"), "the other customer waits for nothing").toBe(0);
  expect(await run(w)).toBe(0);
  expect((await wishes(w)).map(([, , status]) => status)).toEqual([1, 1]);
  expect([calls(w, "E6"), w.sandbox.state().lockedAssets]).toEqual([3, 2]);
  expect((await w.does("run", "everything")).calls).toEqual({});
});

it.each([
  { fault: "oddField", field: "status", value: 4 },
  { fault: "status299", code: "13004" },
] as const)(
  "a lock that was refused ($fault), asked for again and done without an answer is told of no more",
  async (refusal) => {
    const w = await synchronised();
    w.sandbox.faults.add({ operation: "E6", ...refusal, times: 1 });
    expect(await switches(w, "lock", "C1", "A2")).toBe(3);
    expect(await run(w), "it waits for a person").toBe(3);
    const lost = w.sandbox.faults.add({ operation: "E6", fault: "appliedNoReply" });
    expect(await switches(w, "lock", "C1", "A2")).toBe(5);
    w.sandbox.faults.clear(lost);
    expect(await run(w)).toBe(0);
    expect(await switches(w, "lock", "C2", "B1"), "the other customer waits for nothing").toBe(0);
  },
);

it("answers that are always about other locks end after three sendings: a person decides", async () => {
  const w = await synchronised();
  const odd = w.sandbox.faults.add({ operation: "E6", fault: "oddField", field: "assetNum", value: "9" });
  expect(await switches(w, "lock", "C1", "A2")).toBe(5);
  for (let runs = 0; runs < 4; runs += 1) expect(await run(w)).toBe(5);
  expect(calls(w, "E6")).toBe(3);
  expect(await switches(w, "unlock", "C2", "B1"), "the other customer waits for nothing").toBe(0);
  const open = await unsettled(w);
  expect(open).toMatchObject([{ endpoint: "E6", state: "parked" }]);
  w.sandbox.faults.clear(odd);
  const why = ["--reason", "the platform has none", "--by", "tester"];
  expect((await w.run("settle", open[0].id, "--not-applied", ...why)).exitCode).toBe(0);
  w.later(1);
  expect(await run(w)).toBe(0);
  expect((await wishes(w)).map(([customer]) => customer)).toEqual(["C1", "C2"]);
  expect([calls(w, "E6"), w.sandbox.state().lockedAssets]).toEqual([4, 1]);
});

it("more locks than one call takes are asked for in one command and sent in several calls", async () => {
  const order = orderOf("O4", { M1: "normal_recover_usbkey" }, "C2");
  const many = { ...order, assets: order.assets.map((asset) => ({ ...assetRow(asset), quantity: 130 })) };
  const w = await synchronised({ orders: [...others.orders, many] });
  expect(await run(w)).toBe(0);
  const numbers = await numbersOf(w, "M1");
  expect(await switchesNumbers(w, "lock", "C2", numbers)).toBe(0);
  expect([calls(w, "E6"), w.sandbox.state().lockedAssets]).toEqual([2, 130]);
  await w.sandbox.refuseConnections();
  expect(await switchesNumbers(w, "unlock", "C2", numbers.slice(0, 70))).toBe(7);
  expect(await switchesNumbers(w, "unlock", "C2", numbers.slice(70))).toBe(7);
  await w.sandbox.acceptConnections();
  expect(await run(w)).toBe(0);
  expect([calls(w, "E7"), w.sandbox.state().lockedAssets]).toEqual([2, 0]);
});

it("an answer that is cut off says nothing, however often: the same locks are sent again until one comes", async () => {
  const w = await synchronised();
  const cut = w.sandbox.faults.add({ operation: "E6", fault: "resetMidReply" });
  expect(await switches(w, "lock", "C1", "A2")).toBe(5);
  for (let runs = 0; runs < 4; runs += 1) expect(await run(w)).toBe(5);
  expect(await switches(w, "unlock", "C2", "B1"), "the other customer waits for nothing").toBe(0);
  w.sandbox.faults.clear(cut);
  expect(await run(w)).toBe(0);
  expect([calls(w, "E6"), w.sandbox.state().lockedAssets]).toEqual([6, 1]);
});
