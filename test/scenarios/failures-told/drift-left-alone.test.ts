import { expect, it } from "vitest";
import { enterpriseOf, heldBy, memberOf, numberOf, openHolds, placedOf, waitsFor } from "../../support/asking.ts";
import { PlatformView } from "../../support/platform-view.ts";
import { document, world, type World } from "../../support/cli.ts";
import { canary } from "../../support/world/crm.ts";
import { membersOf, outcome, personOf } from "../../support/world/members.ts";
import { amend, line, placedOrders, rule, standing } from "../../support/world/placed-orders.ts";

const login = `${canary.login}1x1`;

/** Reads back twice, longer than a settle time apart; no writing call is made. */
async function twoReadings(w: World): Promise<void> {
  for (const _ of [1, 2]) expect(outcome(await w.does("run", "verify"))).toEqual([3, {}]);
}

/** Two customers with two people each; an administrator takes the seat of S1-1 away on the platform. */
async function seatRemoved(): Promise<World> {
  const w = await world();
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  expect((await w.run("run", "verify")).exitCode).toBe(0);
  const [assetNum = ""] = await heldBy(w, "S1-1");
  w.sandbox.hand({ action: "move-holder", assetNum, memberGlobalId: null });
  await twoReadings(w);
  return w;
}

/** The CRM changes something else of the customer. */
function otherName(w: World, id: string, name: string): void {
  personOf(w, id).name = `${canary.person} ${name}`;
  w.write();
}

it("no road gives a removed seat back but the CRM, which takes it away and gives it again", async () => {
  const w = await seatRemoved();
  expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
  otherName(w, "S1-2", "married");
  await w.does("run", "everything");
  w.orders.push({ id: "N1", customer: "C1", assets: ["N1-A1"] });
  w.write();
  expect((await w.does("run", "everything")).calls, "a new order").toEqual({ E5: 1 });
  expect((await w.does("resync", "--customer", "C1")).calls, "resync").toEqual({});
  otherName(w, "S1-1", "married too");
  expect(outcome(await w.does("run", "everything")), "a change of this person").toEqual([3, { M2: 1 }]);
  expect(await waitsFor(w, "S1-1", "staff")).toBe("asset.taken-away");
  const { holds = [] } = personOf(w, "S1-1");
  personOf(w, "S1-1").holds = [];
  w.write();
  expect(outcome(await w.does("run", "everything")), "the CRM takes it away").toEqual([0, {}]);
  personOf(w, "S1-1").holds = holds;
  w.write();
  expect(outcome(await w.does("run", "everything")), "the CRM gives it again").toEqual([0, { M9: 1 }]);
  expect((await w.run("run", "verify")).exitCode).toBe(0);
});

it("tells of a removed seat also in a run that gives the same person another asset", async () => {
  const w = await seatRemoved();
  w.orders.push({ id: "N1", customer: "C1", assets: ["N1-A1"] });
  personOf(w, "S1-1").holds = [...(personOf(w, "S1-1").holds ?? []), "N1-A1"];
  w.write();
  expect(outcome(await w.does("run", "everything"))).toEqual([3, { E5: 1, M9: 1 }]);
  expect(await waitsFor(w, "S1-1", "staff")).toBe("asset.taken-away");
});

it("tells of a removed seat no more once the platform shows it again", async () => {
  const w = await seatRemoved();
  otherName(w, "S1-1", "married");
  expect(outcome(await w.does("run", "everything"))).toEqual([3, { M2: 1 }]);
  expect(outcome(await w.does("run", "everything"))).toEqual([3, {}]);
  expect(await waitsFor(w, "S1-1", "staff")).toBe("asset.taken-away");
  const [assetNum] = (await w.ask("explain", "staff", "S1-1")).assignments.map(
    (one: { assetNumber: string }) => one.assetNumber,
  );
  w.sandbox.hand({ action: "move-holder", assetNum, memberGlobalId: await memberOf(w, "S1-1") });
  expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
  expect(await waitsFor(w, "S1-1", "staff")).toBeUndefined();
  expect((await w.run("run", "verify")).exitCode).toBe(0);
});

const mobileOf = async (w: World): Promise<string | undefined> => (await membersOf(w, "C1")).get(login)?.passwordMobile;

it("a change of the CRM sets no other field back that an administrator changed", async () => {
  const w = await world({ sandbox: { settings: { fieldsLeftOutInM2: "kept" } } });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  w.sandbox.hand({ action: "rename-person", memberGlobalId: await memberOf(w, "S1-1"), mobile: "13900000000" });
  await twoReadings(w);
  expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
  otherName(w, "S1-1", "married");
  expect(outcome(await w.does("run", "everything"))).toEqual([3, {}]);
  expect(await waitsFor(w, "S1-1", "staff")).toBe("staff.would-set-back");
  w.environment["CRM_SYNC__assumptions__leftOutStaffFields"] = "kept";
  expect(outcome(await w.does("run", "everything")), "M2 keeps what is left out").toEqual([0, { M2: 1 }]);
  expect([await mobileOf(w), (await membersOf(w, "C1")).get(login)?.name]).toEqual([
    "13900000000",
    `${canary.person} married`,
  ]);
  personOf(w, "S1-1").mobile = "13911111111";
  w.write();
  expect(outcome(await w.does("run", "everything")), "the CRM changes the field itself").toEqual([0, { M2: 1 }]);
  expect(await mobileOf(w)).toBe("13911111111");
});

/** Two customers, synchronised and read back once. */
async function placedAndRead(): Promise<World> {
  const w = await placedOrders();
  expect((await w.run("run", "verify")).exitCode).toBe(0);
  return w;
}

/** No run and no resync sends anything or asks anybody, and readings go on telling of it. */
async function isOnlyTold(w: World, exitCode = 0): Promise<void> {
  await twoReadings(w);
  expect(outcome(await w.does("run", "everything"))).toEqual([exitCode, {}]);
  expect((await w.does("resync", "--customer", "C1")).calls).toEqual({});
  expect(await openHolds(w)).toEqual([]);
  await twoReadings(w);
}

it("a product or an asset that somebody removed is bought again only if the CRM takes it away and adds it again", async () => {
  const w = await placedAndRead();
  const before = standing(w);
  w.sandbox.hand({ action: "drop-product", assetNum: numberOf(w, "A1"), crmProductId: "P1" });
  w.sandbox.hand({ action: "drop-asset", assetNum: numberOf(w, "A2") });
  await isOnlyTold(w);
  expect((await w.ask("run", "verify")).differences.missing).toBeGreaterThan(1);
  amend(w, "1", { products: [line("Q1", "A1")] });
  expect(outcome(await w.does("run", "everything")), "the CRM takes it away").toEqual([0, {}]);
  amend(w, "1", { products: [line("P1", "A1"), line("Q1", "A1")] });
  expect(outcome(await w.does("run", "everything")), "the CRM adds it again").toEqual([0, { E5: 1 }]);
  expect(standing(w)).not.toEqual(before);
  expect(await placedOf(w, "1")).toMatchObject({ products: 2 });
});

it("a product that M7 shows again after its removal stays, and is told of", async () => {
  const w = await placedAndRead();
  rule(w, "orders.ended", "apply");
  const view = new PlatformView(w.sandbox.url);
  const assets = await view.assets(await enterpriseOf(w, "C1"));
  const about = assets.find(({ assetNum }) => assetNum === numberOf(w, "A1"))?.assetId ?? "";
  const value = (await view.products(about)).filter(({ crmProductId }) => crmProductId !== "Q1");
  w.sandbox.faults.add({ operation: "M7", about, fault: "oddField", field: "productInstanceList", value });
  amend(w, "1", { products: [line("P1", "A1")] });
  expect((await w.does("run", "everything")).calls, "M7 leaves it out").toEqual({});
  w.sandbox.faults.clear();
  await isOnlyTold(w, 3);
  expect(document(await w.run("--json", "run", "verify")).differences).toMatchObject({ extra: 1 });
});

it("an account that somebody deleted is made again by nothing, and counts again once a person has made it", async () => {
  const w = await world();
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  expect((await w.run("run", "verify")).exitCode).toBe(0);
  const [assetNum = ""] = await heldBy(w, "S1-1");
  w.sandbox.hand({ action: "delete-person", memberGlobalId: await memberOf(w, "S1-1") });
  await twoReadings(w);
  expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
  expect(outcome(await w.does("resync", "--customer", "C1"))).toEqual([3, {}]);
  expect(await waitsFor(w, "S1-1", "staff")).toBe("staff.not-shown");
  const enterpriseGlobalId = await enterpriseOf(w, "C1");
  const own = { userName: login, name: personOf(w, "S1-1").name, mobile: canary.mobile };
  const { memberGlobalId = "" } = w.sandbox.hand({ action: "add-person", enterpriseGlobalId, ...own });
  w.sandbox.hand({ action: "move-holder", assetNum, memberGlobalId });
  const resolved = await w.does("resolve", "staff:S1-1", "--done", "--reason", "made again");
  expect(outcome(resolved), resolved.stdout + resolved.stderr).toEqual([0, {}]);
  await w.does("run", "everything");
  expect(await waitsFor(w, "S1-1", "staff")).toBeUndefined();
  expect((await w.ask("run", "verify")).differences).toMatchObject({ missing: 0 });
});
