import { describe, expect, it } from "vitest";
import { heldBy, memberOf, numberOf } from "../../support/asking.ts";
import { document, world, type World } from "../../support/cli.ts";
import { statementRows } from "../../support/statement-rows.ts";
import { canary } from "../../support/world/crm.ts";
import { outcome, personOf } from "../../support/world/members.ts";
import { rule } from "../../support/world/placed-orders.ts";

/** Two customers with two people each, synchronised and read back once. */
async function readBack(): Promise<World> {
  const w = await world();
  for (const person of w.staff) Object.assign(person, { note: `${canary.person} note`, department: "7" });
  w.write();
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

it("reports the field that somebody changed on the platform, and changes nothing", async () => {
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
  it("is none if the CRM has changed the field too", async () => {
    const w = await readBack();
    rule(w, "staff.edited", "report");
    personOf(w, "S1-1").name = `${canary.person} married`;
    w.write();
    await run(w);
    await byHand(w, { name: "by hand" });
    await twoReadings(w);
    expect((await w.does("run", "everything")).calls).toEqual({});
    expect((await w.ask("status")).differences).toEqual([]);
  });

  it("is only reported for the terms of a product and for a seat that another person got", async () => {
    const w = await readBack();
    const [assetNum, crmProductId] = [numberOf(w, "O1-A1"), "O1-A1-P"];
    w.sandbox.hand({ action: "change-product", assetNum, crmProductId, fields: { limitConcurrent: 77 } });
    const [seat = ""] = await heldBy(w, "S2-1");
    w.sandbox.hand({ action: "move-holder", assetNum: seat, memberGlobalId: await memberOf(w, "S2-2") });
    await twoReadings(w);
    expect((await w.does("run", "everything")).calls).toEqual({});
    const levels = async (customer: string) => new Set((await differs(w, customer)).map((row) => Object(row)["level"]));
    expect([await levels("C1"), await levels("C2")]).toEqual([new Set(["product", "order"]), new Set(["assignment"])]);
  });
});
