import { describe, expect, it } from "vitest";
import type { LicenseType } from "../../../src/crm/model.ts";
import { numberOf, openHold, openHolds, waitsFor } from "../../support/asking.ts";
import { world, type Parsed, type World } from "../../support/cli.ts";
import { assetRow, company, type AssetRow } from "../../support/world/crm.ts";
import { outcome } from "../../support/world/members.ts";
import { rule } from "../../support/world/placed-orders.ts";

const why = ["--reason", "reported stolen", "--by", "anna"];
const given = "8000009999";

/** Two customers with two locks each, the first as given. What the CRM wants is done at once. */
async function synchronised(
  first: Partial<AssetRow> = {},
  type: LicenseType = "normal_recover_usbkey",
): Promise<World> {
  const { orders, customers, staff } = company(2, 2);
  const w = await world({ records: { customers, orders, staff: staff.map((row) => ({ ...row, holds: [] })) } });
  w.orders = orders.map((order) => ({ ...order, assets: order.assets.map((asset) => ({ ...assetRow(asset), type })) }));
  for (const name of ["locks.locked", "orders.ended"]) rule(w, name, "apply");
  says(w, "O1-A1", first);
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  return w;
}

/** What the CRM says of an asset from now on. */
function says(w: World, instance: string, more: Partial<AssetRow>): void {
  w.orders = w.orders.map((order) => ({
    ...order,
    assets: order.assets.map((asset) => (assetRow(asset).id === instance ? { ...assetRow(asset), ...more } : asset)),
  }));
  w.write();
}

/** The CRM removes the first lock from its order. */
function loseFirst(w: World): void {
  w.orders = w.orders.map((order) => ({
    ...order,
    assets: order.assets.filter((asset) => assetRow(asset).id !== "O1-A1"),
  }));
  w.write();
}

/** The first lock is removed, and the CRM adds it again. */
async function goAndComeBack(w: World, back: Partial<AssetRow> = {}): Promise<void> {
  const before = w.orders;
  loseFirst(w);
  expect((await w.does("run", "everything")).calls["E5"]).toBe(1);
  w.orders = before;
  says(w, "O1-A1", back);
}

function answers(w: World, status: number, more: { times?: number } = {}): void {
  w.sandbox.faults.add({ operation: "E6", fault: "oddField", field: "status", value: status, ...more });
}

async function run(w: World): Promise<unknown> {
  return outcome(await w.does("run", "everything"));
}

/** A person asks for a lock: the exit code and the calls. */
async function asks(w: World, command: "lock" | "unlock", number: string, ...more: string[]): Promise<unknown> {
  return outcome(
    await w.does(command, number === numberOf(w, "O2-A1") ? "C2" : "C1", "--asset", number, ...why, ...more),
  );
}

/** Whether `status` reports a lock. */
async function isTold(w: World, number: string): Promise<boolean> {
  const { open } = await w.ask("status");
  return JSON.stringify(open).includes(number);
}

/** The locks that anybody asked for. */
async function asked(w: World): Promise<string[]> {
  const { requests } = await w.ask("explain", "customer", "C1");
  return requests.map(({ about }: Parsed) => about);
}

const lockedIn = (w: World): number => w.sandbox.state().lockedAssets;

it("locks an asset in the run that places its order", async () => {
  const w = await synchronised();
  w.orders.push({
    id: "O3",
    customer: "C1",
    assets: [{ id: "O3-A1", type: "normal_recover_usbkey", quantity: 2, locked: true }],
  });
  w.write();
  expect(await run(w)).toEqual([0, { E5: 1, E6: 1 }]);
  expect(lockedIn(w)).toBe(2);
});

describe("a lock that the CRM wants", { tags: "long" }, () => {
  it("is switched once for each change of the flag, also from a saved plan", async () => {
    const w = await synchronised();
    says(w, "O1-A1", { locked: true });
    expect((await w.run("plan", "--out", w.path("plan.ndjson"))).exitCode).toBe(2);
    expect(outcome(await w.does("apply", w.path("plan.ndjson")))).toEqual([0, { E6: 1 }]);
    const { requests } = await w.ask("explain", "customer", "C1");
    expect(requests).toMatchObject([{ about: numberOf(w, "O1-A1"), wanted: "locked" }]);
    expect(await run(w)).toEqual([0, {}]);
    says(w, "O1-A1", { locked: undefined });
    expect(await run(w), "the CRM says nothing of it").toEqual([0, {}]);
    for (const [locked, calls] of [
      [false, { E7: 1 }],
      [true, { E6: 1 }],
    ] as const) {
      says(w, "O1-A1", { locked });
      expect([await run(w), lockedIn(w)]).toEqual([[0, calls], locked ? 1 : 0]);
    }
  });

  it("stays as a person set it until the flag changes again", async () => {
    const w = await synchronised({ locked: true });
    says(w, "O2-A1", { locked: true });
    expect(await run(w)).toEqual([0, { E6: 1 }]);
    expect(await asks(w, "unlock", numberOf(w, "O1-A1"))).toEqual([0, { E7: 1 }]);
    says(w, "O1-A2", { locked: true });
    expect([await run(w), lockedIn(w)], "another asset of the same order").toEqual([[0, { E6: 1 }], 2]);
    says(w, "O1-A1", { locked: false });
    expect(await run(w), "it is unlocked already, and harmless").toEqual([0, { E7: 1 }]);
    says(w, "O1-A1", { locked: true });
    expect([await run(w), lockedIn(w)]).toEqual([[0, { E6: 1 }], 3]);
  });

  it("is not requested again after it was refused and a person withdrew it", async () => {
    const w = await synchronised();
    answers(w, 4, { times: 1 });
    says(w, "O1-A1", { locked: true });
    expect(await run(w)).toEqual([3, { E6: 1 }]);
    expect([await run(w), await isTold(w, numberOf(w, "O1-A1"))], "it waits for a person").toEqual([[3, {}], true]);
    await asks(w, "lock", numberOf(w, "O1-A1"), "--withdraw");
    await run(w);
    expect(await run(w)).toEqual([0, {}]);
  });

  it("is not set on an asset of another customer, or on one that is not bought", async () => {
    const w = await synchronised();
    rule(w, "orders.added", "ask");
    const unbought = "8000000000000000055";
    const added = (id: string, number: string): AssetRow => ({
      id,
      type: "normal_recover_usbkey",
      numbers: [number],
      locked: true,
    });
    const before = w.orders;
    const adds = (...assets: AssetRow[]): void => {
      w.orders = before.map((row) => (row.id === "O1" ? { ...row, assets: [...row.assets, ...assets] } : row));
      w.write();
    };
    adds(added("A8", numberOf(w, "O2-A1")), added("A9", unbought));
    expect((await w.does("run", "everything")).calls).toEqual({});
    expect([lockedIn(w), await asked(w)]).toEqual([0, []]);
    adds(added("A9", unbought));
    await run(w);
    await w.run("approve", await openHold(w), ...why);
    expect([await run(w), lockedIn(w)]).toEqual([[0, { E5: 1, E6: 1 }], 1]);
    expect(await asked(w)).toEqual([unbought]);
  });

  it("is not set on an asset of a cancelled order", async () => {
    const w = await synchronised();
    rule(w, "orders.cancelled", "report");
    w.orders = w.orders.map((row) => (row.id === "O1" ? { ...row, cancelled: true } : row));
    says(w, "O1-A1", { locked: true });
    await run(w);
    expect([lockedIn(w), await asked(w)]).toEqual([0, []]);
  });

  it.each<[string, string, LicenseType?]>([
    ["apply", "asset.wrong-type", "cloud_account"],
    ["report", "policy.reported"],
    ["ignore", ""],
  ])("is only reported, or not even that, with policy %s (%s)", async (word, code, type) => {
    const w = await synchronised({}, type);
    rule(w, "locks.locked", word);
    says(w, "O1-A1", { locked: true });
    expect(await run(w)).toEqual([code === "asset.wrong-type" ? 3 : 0, {}]);
    expect([(await waitsFor(w, "O1")) ?? "", await asked(w)]).toEqual([code, []]);
  });

  it("waits for a person by default, while requests of people and unlocking go on", async () => {
    const w = await synchronised();
    delete w.environment["CRM_SYNC__policies__locks__locked"];
    for (const id of ["O1-A1", "O2-A1"]) says(w, id, { locked: true });
    for (const _ of [1, 2]) expect([await run(w), lockedIn(w)]).toEqual([[4, {}], 0]);
    expect([await asks(w, "lock", numberOf(w, "O1-A2")), lockedIn(w)]).toEqual([[0, { E6: 1 }], 1]);
    const hold = (await openHolds(w)).find(({ customer }) => customer.id === "C1");
    await w.run("approve", hold.id, ...why);
    expect([await run(w), lockedIn(w)], "the other customer's still waits").toEqual([[4, { E6: 1 }], 2]);
    says(w, "O2-A1", { locked: false });
    expect([await run(w), lockedIn(w)], "it was never locked").toEqual([[0, { E7: 1 }], 2]);
    // If a person withdraws what waits, no hold is left.
    says(w, "O2-A2", { locked: true });
    expect(await run(w)).toEqual([4, {}]);
    await w.run("lock", "C2", "--asset", numberOf(w, "O2-A1", 0), ...why, "--withdraw");
    await w.run("lock", "C2", "--asset", numberOf(w, "O2-A2"), ...why, "--withdraw");
    await run(w);
    expect([await run(w), await openHolds(w)]).toEqual([[0, {}], []]);
  });

  it("is removed and not set while a source of the customer has lost rows", async () => {
    const w = await synchronised();
    says(w, "O1-A2", { locked: true });
    expect(await run(w)).toEqual([0, { E6: 1 }]);
    w.staff = w.staff.slice(0, 1);
    says(w, "O1-A1", { locked: true });
    says(w, "O1-A2", { locked: false });
    expect([(await w.does("run", "everything")).calls, lockedIn(w)]).toEqual([{ E7: 1 }, 0]);
    expect(await waitsFor(w, "O1")).toBe("revokes.blocked");
  });

  it("is set on the asset that replaced another one, when the policy allows it", async () => {
    const w = await synchronised();
    for (const number of [given, "8000009998"]) {
      says(w, "O1-A1", { numbers: [number] });
      expect((await w.does("run", "everything")).calls).toEqual({ E5: 2 });
    }
    rule(w, "locks.locked", "report");
    says(w, "O1-A1", { locked: true });
    expect(await run(w)).toEqual([0, {}]);
    rule(w, "locks.locked", "apply");
    expect((await w.does("resync", "--customer", "C1")).calls).toEqual({ E6: 1 });
    expect(await asked(w)).toEqual(["8000009998"]);
  });

  it("is set on the bought unit, and not on the refused one", async () => {
    const w = await synchronised();
    w.sandbox.faults.add({ operation: "E5", fault: "status299", code: "13004", nth: 1 });
    says(w, "O1-A1", { quantity: 2 });
    expect(await run(w)).toEqual([3, { E5: 1 }]);
    rule(w, "locks.locked", "report");
    says(w, "O1-A1", { quantity: 1, locked: true });
    expect((await w.does("run", "everything")).calls).toEqual({});
    rule(w, "locks.locked", "apply");
    expect((await w.does("resync", "--customer", "C1")).calls).toEqual({ E6: 1 });
    expect(lockedIn(w)).toBe(1);
  });
});

describe("a lock whose asset is removed", { tags: "long" }, () => {
  it.each([2, 4])(
    "is reported until then if it was refused (status %i), and others go on being reported",
    async (status) => {
      const w = await synchronised();
      const [gone, left, other] = [numberOf(w, "O1-A1"), numberOf(w, "O1-A2"), numberOf(w, "O2-A1")];
      answers(w, status);
      for (const number of [gone, other]) expect(await asks(w, "lock", number)).toEqual([3, { E6: 1 }]);
      expect([await isTold(w, gone), await isTold(w, other)]).toEqual([true, true]);
      loseFirst(w);
      const ran = await w.does("run", "everything");
      expect([ran.exitCode, ran.calls["E5"]], ran.stdout).toEqual([3, 1]);
      expect([await isTold(w, gone), await isTold(w, other), await run(w)]).toEqual([false, true, [3, {}]]);
      w.sandbox.faults.clear();
      expect(await asks(w, "lock", left), "another lock can be requested").toEqual([0, { E6: 1 }]);
      await asks(w, "lock", other, "--withdraw");
      await run(w);
      expect(await run(w)).toEqual([0, {}]);
    },
  );

  it("leaves nothing to report after the run that deletes it", async () => {
    const w = await synchronised();
    answers(w, 4);
    await asks(w, "lock", numberOf(w, "O1-A1"));
    expect(await run(w)).toEqual([3, {}]);
    loseFirst(w);
    for (const calls of [{ E5: 1 }, {}]) expect(await run(w)).toEqual([0, calls]);
  });

  it("is set when the asset comes back, if a person's request had failed", async () => {
    const w = await synchronised({ numbers: [given] });
    answers(w, 3);
    expect(await asks(w, "lock", given)).toEqual([3, { E6: 1 }]);
    await goAndComeBack(w);
    w.sandbox.faults.clear();
    for (const _ of [1, 2]) await run(w);
    expect([lockedIn(w), await run(w)]).toEqual([1, [0, {}]]);
  });

  it("is reported when the asset comes back, if the CRM's request was refused", async () => {
    const w = await synchronised({ numbers: [given] });
    answers(w, 4);
    says(w, "O1-A1", { locked: true });
    expect(await run(w)).toEqual([3, { E6: 1 }]);
    await goAndComeBack(w);
    for (const _ of [1, 2]) expect((await w.run("run", "everything")).exitCode).toBe(3);
    expect(await isTold(w, given)).toBe(true);
  });

  it.each([
    [true, "E6"],
    [false, "E7"],
  ])("is switched once more when the asset comes back, locked in the CRM: %s", async (locked, operation) => {
    const w = await synchronised({ numbers: [given], locked: true });
    says(w, "O1-A2", { locked: true });
    expect([await run(w), lockedIn(w)]).toEqual([[0, { E6: 1 }], 2]);
    await goAndComeBack(w, { locked });
    let switched = 0;
    for (const _ of [1, 2, 3]) switched += (await w.does("run", "everything")).calls[operation] ?? 0;
    expect([switched, lockedIn(w)]).toEqual([1, locked ? 2 : 1]);
    expect(await run(w)).toEqual([0, {}]);
  });

  it("is not set on the asset bought again, until somebody requests it again", async () => {
    const w = await synchronised({ numbers: [given] });
    expect(await asks(w, "lock", given)).toEqual([0, { E6: 1 }]);
    await goAndComeBack(w);
    for (const _ of [1, 2]) await run(w);
    expect([lockedIn(w), await asked(w)]).toEqual([0, []]);
    expect([await asks(w, "lock", given), lockedIn(w)]).toEqual([[0, { E6: 1 }], 1]);
  });

  it("is set again when the run that bought the asset is undone and repeated", async () => {
    const w = await synchronised({ numbers: [given], locked: true });
    const file = w.path("undo.ndjson");
    await w.run("undo", "last", "--out", file);
    const undone = await w.does("apply", file);
    expect([undone.calls["E5"], lockedIn(w)], undone.stdout).toEqual([2, 0]);
    for (const _ of [1, 2, 3]) await run(w);
    expect([lockedIn(w), await run(w)]).toEqual([1, [0, {}]]);
  });
});
