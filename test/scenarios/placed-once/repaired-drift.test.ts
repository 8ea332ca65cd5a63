/** @module-tag long */
import { expect, it } from "vitest";
import { enterpriseOf, numberOf, numbersOf, openHold, openHolds, placedOf, waitsFor } from "../../support/asking.ts";
import { document, type World } from "../../support/cli.ts";
import { PlatformView } from "../../support/platform-view.ts";
import { outcome } from "../../support/world/members.ts";
import { amend, line, placedOrders, rule, standing } from "../../support/world/placed-orders.ts";

/** Two customers, synchronised and read back once, with these policies. */
async function readBack(policies: Record<string, string>, given = {}): Promise<World> {
  const w = await placedOrders(given);
  for (const [name, word] of Object.entries(policies)) rule(w, name, word);
  expect((await w.run("run", "verify")).exitCode).toBe(0);
  return w;
}

/** Reads back twice, longer than a settle time apart; no writing call is made. */
async function twoReadings(w: World): Promise<void> {
  for (const _ of [1, 2]) expect((await w.does("run", "verify")).calls).toEqual({});
}

/** The repair is held, a person approves it, and the next run sends it. */
async function repair(w: World): Promise<unknown> {
  const held = await w.does("run", "everything");
  expect([held.exitCode, held.calls["E5"]], held.stdout).toEqual([4, undefined]);
  await w.run("approve", await openHold(w), "--reason", "looked on the platform");
  return outcome(await w.does("run", "everything"));
}

/** A run sends nothing and holds nothing. */
async function nothing(w: World): Promise<void> {
  expect([(await w.does("run", "everything")).calls, await openHolds(w)]).toEqual([{}, []]);
}

const drop = (w: World, product: string, asset: string): void =>
  void w.sandbox.hand({ action: "drop-product", assetNum: numberOf(w, asset), crmProductId: product });

/** M7 of the first asset leaves a product out, whatever is there, until the faults are cleared. */
async function hide(w: World, product: string): Promise<void> {
  const view = new PlatformView(w.sandbox.url);
  const assets = await view.assets(await enterpriseOf(w, "C1"));
  const about = assets.find(({ assetNum }) => assetNum === numberOf(w, "A1"))?.assetId ?? "";
  const value = (await view.products(about)).filter(({ crmProductId }) => crmProductId !== product);
  w.sandbox.faults.add({ operation: "M7", about, fault: "oddField", field: "productInstanceList", value });
}

it.each(["apply", "ask"])(
  "buys a product that somebody removed again, once, after two readings and an approval (%s)",
  async (word) => {
    const w = await readBack({ "drift.missing": word });
    const before = standing(w);
    drop(w, "P1", "A1");
    expect((await w.run("run", "verify")).exitCode).toBe(3);
    await nothing(w);
    expect((await w.does("resync", "--customer", "C1")).calls, "one reading is not enough").toEqual({});
    expect((await w.run("run", "verify")).exitCode).toBe(3);
    expect(await repair(w)).toEqual([0, { E5: 1 }]);
    expect(standing(w)).toEqual(before);
    expect((await w.run("run", "verify")).exitCode).toBe(0);
    await nothing(w);
    expect(await placedOf(w, "1")).toMatchObject({
      products: 2,
      steps: [
        { kind: "removed", origin: "found" },
        { kind: "bought", origin: "sent" },
      ],
    });
  },
);

it("never buys a product twice because M7 left it out for a while", async () => {
  const w = await readBack({ "drift.missing": "apply" });
  const before = [standing(w), w.sandbox.counts().calls["E5"]];
  await hide(w, "P1");
  await twoReadings(w);
  w.sandbox.faults.clear();
  await nothing(w);
  await hide(w, "P1");
  expect((await w.run("run", "verify")).exitCode).toBe(3);
  w.sandbox.faults.clear();
  expect((await w.run("run", "verify")).exitCode, "a whole reading ends it").toBe(0);
  await hide(w, "P1");
  expect((await w.run("run", "verify")).exitCode, "a single reading again").toBe(3);
  await nothing(w);
  expect([standing(w), w.sandbox.counts().calls["E5"]]).toEqual(before);
});

it("does not buy a product a third time that M7 never shows", async () => {
  const w = await readBack({ "drift.missing": "apply" });
  drop(w, "P1", "A1");
  await twoReadings(w);
  // From here on M7 never shows P1 again, bought or not.
  await hide(w, "P1");
  expect(await repair(w)).toEqual([0, { E5: 1 }]);
  for (const _ of [1, 2]) {
    await twoReadings(w);
    await nothing(w);
  }
});

it("buys a deleted asset again under a new number, and its holder gets it", async () => {
  const w = await readBack({ "drift.missing": "apply" });
  const before = standing(w);
  const old = numberOf(w, "A1");
  w.sandbox.hand({ action: "drop-asset", assetNum: old });
  await twoReadings(w);
  expect(await repair(w)).toMatchObject([0, { E5: 1, M9: 1 }]);
  expect(standing(w)).toEqual(before);
  const live = (await numbersOf(w, "1")).filter(({ endedAt }) => endedAt === null);
  expect([live.length, live[0]?.number === old]).toEqual([1, false]);
  expect((await w.run("run", "verify")).exitCode).toBe(0);
  await nothing(w);
});

it("does not buy an asset again that only M6 leaves out", async () => {
  // M6 shows physical locks, and E8 does not.
  const w = await readBack(
    { "drift.missing": "apply" },
    { first: { assets: [{ id: "A1", type: "normal_recover_usbkey" }] }, staff: [] },
  );
  const before = [standing(w), w.sandbox.counts().calls["E5"]];
  w.sandbox.faults.add({ operation: "M6", about: await enterpriseOf(w, "C1"), fault: "shortPage" });
  await twoReadings(w);
  expect(document(await w.run("--json", "run", "verify")).differences.missing).toBeGreaterThan(0);
  await nothing(w);
  w.sandbox.faults.clear();
  expect((await w.run("run", "verify")).exitCode).toBe(0);
  expect([standing(w), w.sandbox.counts().calls["E5"]]).toEqual(before);
});

it("repairs nothing if somebody put another product in the place of the missing one", async () => {
  const w = await readBack({ "drift.missing": "apply", "drift.extra": "apply" });
  const assetNum = numberOf(w, "A1");
  w.sandbox.hand({ action: "add-product", assetNum, like: "P1", fields: { crmProductId: "X1" } });
  drop(w, "P1", "A1");
  await twoReadings(w);
  expect(outcome(await w.does("run", "everything"))).toEqual([3, {}]);
  expect(await waitsFor(w, "1")).toBe("order.not-repaired");
});

it("assigns no seat again if M5 and M6 disagree about it", async () => {
  const w = await readBack({ "drift.missing": "apply" });
  w.sandbox.faults.add({ operation: "M6", fault: "oddField", field: "cloudAccountGlobalId", row: 1, value: null });
  await twoReadings(w);
  expect(outcome(await w.does("run", "everything"))).toEqual([3, {}]);
});

it("removes a product that M7 shows again after its removal, by its licence order and the policy", async () => {
  const w = await readBack({ "orders.ended": "apply", "drift.extra": "ask" });
  // M7 leaves Q1 out when the CRM removes it, so nothing is sent for it.
  await hide(w, "Q1");
  amend(w, "1", { products: [line("P1", "A1")] });
  await nothing(w);
  w.sandbox.faults.clear();
  const extra = { like: "P2", fields: { crmProductId: "X2" }, channelOrderId: "2" };
  w.sandbox.hand({ action: "add-product", assetNum: numberOf(w, "A2"), ...extra });
  await twoReadings(w);
  // What somebody added to the other order is told of still.
  expect(await repair(w)).toEqual([3, { E5: 1 }]);
  expect(standing(w), "what somebody added to the other order stays").toMatchObject({ products: 4 });
  expect([(await placedOf(w, "1")).products, (await placedOf(w, "2")).products]).toEqual([1, 2]);
  await nothing(w);
  expect(document(await w.run("--json", "run", "verify")).differences).toMatchObject({ extra: 1 });
});

it("is repaired by the run after one to which M5 gave nothing", async () => {
  const w = await readBack({ "drift.missing": "apply" });
  const before = standing(w);
  w.sandbox.hand({ action: "drop-asset", assetNum: numberOf(w, "A1") });
  await twoReadings(w);
  w.sandbox.faults.add({ operation: "M5", fault: "shortPage" });
  expect((await w.does("run", "everything")).exitCode).toBe(7);
  w.sandbox.faults.clear();
  expect(await repair(w)).toEqual([0, { E5: 1, M9: 1 }]);
  expect(standing(w)).toEqual(before);
});
