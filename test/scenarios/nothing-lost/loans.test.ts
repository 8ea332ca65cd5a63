import { expect, it } from "vitest";
import { numberOf } from "../../support/asking.ts";
import { world, type Parsed, type World } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";

/** A company with a lock for lending, and somebody who travels. A command waits for nothing that is in doubt. */
async function travelling(): Promise<World> {
  const { customers, orders, staff } = company(1, 2);
  const lock = { id: "L1-A1", type: "normal_recover_usbkey", forLending: true } as const;
  const w = await world({
    records: { customers, orders: [...orders, { id: "L1", customer: "C1", assets: [lock] }], staff },
  });
  expect(await run(w)).toBe(0);
  w.environment["CRM_SYNC__settle__maxWaitMs"] = "0";
  return w;
}

const run = async (w: World): Promise<number | null> => (await w.run("run", "everything")).exitCode;
const calls = (w: World): number => w.sandbox.counts().calls["M10"] ?? 0;

async function lends(w: World): Promise<number | null> {
  const what = ["--staff", "S1-1", "--lock", numberOf(w, "L1-A1"), "--asset", numberOf(w, "O1-A1")];
  return (await w.run("borrow", "C1", ...what, "--reason", "travels", "--by", "anna")).exitCode;
}

/** What became of each M10, the oldest first. */
async function sent(w: World): Promise<string[]> {
  const { operations } = await w.ask("explain", "customer", "C1");
  const loans = operations.newest.filter(({ endpoint }: Parsed) => endpoint === "M10");
  return loans.map(({ state }: Parsed) => state).toReversed();
}

/** The lock is given to the other member on the platform itself. */
async function giveToAnother(w: World): Promise<void> {
  const { staffLinks } = await w.ask("explain", "staff", "S1-2");
  const { memberGlobalId } = staffLinks[0];
  w.sandbox.hand({ action: "lend", lock: numberOf(w, "L1-A1"), memberGlobalId, assetNums: [numberOf(w, "O1-A1")] });
}

it("a lock that was lent without an answer counts as lent once M8 and M6 show it, and is not sent again", async () => {
  const w = await travelling();
  w.sandbox.faults.add({ operation: "M10", fault: "appliedNoReply", times: 1 });
  expect(await lends(w)).toBe(0);
  expect([await sent(w), calls(w), w.sandbox.state().lentAssets]).toEqual([["done"], 1, 1]);
});

it("it is sent again where both show that nothing of it was done", { tags: "long" }, async () => {
  const w = await travelling();
  w.sandbox.faults.add({ operation: "M10", fault: "resetBefore", times: 1 });
  expect(await lends(w)).toBe(5);
  await run(w);
  expect(await run(w)).toBe(0);
  expect([await sent(w), w.sandbox.counts().effects["M10"]]).toEqual([["dropped", "done"], 1]);
});

it.each([
  ["M6 shows no asset", "resetBefore", { operation: "M6", fault: "oddData", value: [] }],
  [
    "M8 shows it and M6 does not",
    "appliedNoReply",
    { operation: "M6", fault: "oddField", field: "borrowedFlag", value: false },
  ],
] as const)("it waits for a person where %s, which proves nothing", { tags: "long" }, async (_what, fault, odd) => {
  const w = await travelling();
  w.sandbox.faults.add({ operation: "M10", fault, times: 1 });
  if (fault === "appliedNoReply") w.sandbox.faults.add(odd);
  expect(await lends(w)).toBe(5);
  if (fault === "resetBefore") w.sandbox.faults.add(odd);
  expect(await run(w)).toBe(5);
  expect([await sent(w), calls(w)]).toEqual([["parked"], 1]);
});

it("it waits for a person where another member has the lock by then", { tags: "long" }, async () => {
  const w = await travelling();
  w.environment["CRM_SYNC__memberCenter__breakerFailures"] = "1";
  w.sandbox.faults.add({ operation: "M10", fault: "resetBefore", times: 1 });
  expect(await lends(w)).toBe(5);
  await giveToAnother(w);
  expect(await run(w)).toBe(5);
  expect([await sent(w), calls(w)]).toEqual([["parked"], 1]);
});

it("it is not sent where another member had the lock before", { tags: "long" }, async () => {
  const w = await travelling();
  await giveToAnother(w);
  expect(await lends(w)).toBe(64);
  expect([await run(w), calls(w)]).toEqual([0, 0]);
});
