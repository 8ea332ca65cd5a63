import { describe, expect, it } from "vitest";
import { heldBy, memberOf, numberOf, openHold, openHolds, runsOf } from "../../support/asking.ts";
import { document, world, type World } from "../../support/cli.ts";
import { statementRows } from "../../support/statement-rows.ts";
import { canary } from "../../support/world/crm.ts";
import { membersOf, outcome, personOf } from "../../support/world/members.ts";
import { rule } from "../../support/world/placed-orders.ts";

const first = `${canary.login}1x1`;
const ofOther = `${canary.login}2x1`;

/** Two customers with two people each, synchronised and read back once, with these policies. */
async function readBack(policies: Record<string, string> = {}): Promise<World> {
  const w = await world();
  for (const person of w.staff) Object.assign(person, { note: `${canary.person} note`, department: "7" });
  w.write();
  for (const [name, word] of Object.entries(policies)) rule(w, `drift.${name}`, word);
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  expect((await w.run("run", "verify")).exitCode).toBe(0);
  return w;
}

type Fields = { name?: string; remark?: string | null; mobile?: string; departmentId?: string | null };

/** Somebody edits a person on the platform's own pages. */
const byHand = async (w: World, fields: Fields, staff = "S1-1"): Promise<void> =>
  void w.sandbox.hand({ action: "rename-person", memberGlobalId: await memberOf(w, staff), ...fields });

/** Reads back twice, longer than a settle time apart; no writing call is made. */
async function twoReadings(w: World): Promise<void> {
  for (const _ of [1, 2]) expect((await w.does("run", "verify")).calls).toEqual({});
}

/** What the reconciliation of a customer shows that does not match. */
async function differs(w: World, customer: string): Promise<unknown[]> {
  const rows = await statementRows(w, "reconciliation", "items");
  return rows.filter((row) => row["customer"] === `crm/${customer}` && row["verdict"] !== "matched");
}

async function run(w: World): Promise<unknown> {
  return outcome(await w.does("run", "everything"));
}

it("reports the field that somebody changed on the platform, and changes nothing by default", async () => {
  const w = await readBack();
  await byHand(w, { remark: "by hand" });
  await twoReadings(w);
  expect([await run(w), outcome(await w.does("resync", "--customer", "C1"))]).toEqual([
    [0, {}],
    [0, {}],
  ]);
  const verified = await w.run("--json", "run", "verify");
  expect([verified.exitCode, document(verified).differences]).toMatchObject([
    3,
    { different: 1, missing: 0, extra: 0 },
  ]);
  expect((await w.ask("status")).differences).toMatchObject([{ class: "different", count: 1 }]);
  for (const words of [["explain", "staff", "S1-1"], ["status"], ["alerts"]])
    expect(JSON.stringify(await w.ask(...words))).not.toContain("by hand");
});

describe("a difference on the platform", { tags: "long" }, () => {
  it("waits for a person if a policy holds it, and is not repaired if it is gone by then", async () => {
    const w = await readBack({ different: "ask" });
    await byHand(w, { mobile: "13900000000" });
    await byHand(w, { name: "by hand" }, "S2-1");
    await twoReadings(w);
    expect(await run(w)).toEqual([4, {}]);
    await byHand(w, { name: personOf(w, "S2-1").name ?? "" }, "S2-1");
    for (const { id } of await openHolds(w)) await w.run("approve", id, "--reason", "asked the customer");
    expect((await w.does("run", "everything")).calls).toEqual({ M2: 1 });
    expect((await membersOf(w, "C1")).get(first)?.passwordMobile).toBe(canary.mobile);
    expect((await w.run("run", "verify")).exitCode).toBe(0);
  });

  it("is none if the CRM has changed the field too", async () => {
    const w = await readBack({ different: "apply" });
    rule(w, "staff.edited", "report");
    personOf(w, "S1-1").name = `${canary.person} married`;
    w.write();
    await run(w);
    await byHand(w, { name: "by hand" });
    await twoReadings(w);
    expect((await w.does("run", "everything")).calls, "the CRM's change is not sent with a repair").toEqual({});
    expect((await w.ask("status")).differences).toEqual([]);
  });

  it("is left to a person if it is there again right after M2", async () => {
    const w = await readBack({ different: "apply" });
    await byHand(w, { name: "by hand" });
    expect((await w.does("run", "everything")).calls, "no reading showed it").toEqual({});
    await twoReadings(w);
    w.sandbox.contradict(["A41"]);
    expect(await run(w)).toEqual([3, { M2: 1 }]);
    await twoReadings(w);
    expect((await w.does("run", "everything")).calls, "not a second time").toEqual({});
  });

  it("waits for a person after five repairs, and is repaired again after the approval", async () => {
    const w = await readBack({ different: "apply" });
    for (let time = 0; time < 5; time += 1) {
      await byHand(w, { name: "by hand" });
      await twoReadings(w);
      expect(await run(w), String(time)).toEqual([0, { M2: 1 }]);
    }
    await byHand(w, { name: "by hand" });
    await byHand(w, { name: "by hand" }, "S2-1");
    await twoReadings(w);
    expect(await run(w), "nobody else waits for it").toEqual([4, { M2: 1 }]);
    expect(await openHolds(w)).toMatchObject([{ scope: "flips", customer: { id: "C1" } }]);
    await w.run("approve", await openHold(w), "--reason", "talked to them");
    expect(await run(w)).toEqual([0, { M2: 1 }]);
    await byHand(w, { name: "by hand" });
    await twoReadings(w);
    expect(await run(w)).toEqual([0, { M2: 1 }]);
  });

  it("is only reported for the terms of a product and for a seat that another person got", async () => {
    const w = await readBack({ different: "apply", missing: "apply", extra: "apply" });
    const [assetNum, crmProductId] = [numberOf(w, "O1-A1"), "O1-A1-P"];
    w.sandbox.hand({ action: "change-product", assetNum, crmProductId, fields: { limitConcurrent: 77 } });
    const [seat = ""] = await heldBy(w, "S2-1");
    w.sandbox.hand({ action: "move-holder", assetNum: seat, memberGlobalId: await memberOf(w, "S2-2") });
    await twoReadings(w);
    expect((await w.does("run", "everything")).calls).toEqual({});
    const levels = async (customer: string) => new Set((await differs(w, customer)).map((row) => Object(row)["level"]));
    expect([await levels("C1"), await levels("C2")]).toEqual([new Set(["product", "order"]), new Set(["assignment"])]);
  });

  it("is not repaired in the account of another person, and a repair cannot be undone", async () => {
    const w = await readBack({ different: "apply" });
    await byHand(w, { name: "by hand" });
    await byHand(w, { name: "by hand" }, "S2-1");
    await twoReadings(w);
    const row = [...(await membersOf(w, "C2")).keys()].indexOf(ofOther) + 1;
    const about = (await w.ask("explain", "customer", "C2")).links[0].enterpriseGlobalId;
    w.sandbox.faults.add({ operation: "M5", about, fault: "oddField", field: "userName", row, value: "otherE00002" });
    expect((await w.does("run", "everything")).calls).toEqual({ M2: 1 });
    expect((await membersOf(w, "C1")).get(first)?.name).toBe(personOf(w, "S1-1").name);
    const [{ id }] = (await runsOf(w)).filter(({ job }) => job === "everything");
    const undo = await w.does("--json", "undo", id);
    expect([undo.calls, document(undo)]).toMatchObject([{}, { operations: 0, exit: 3 }]);
  });
});
