/** @module-tag long */
import { expect, it } from "vitest";
import { auditEntries, enterpriseOf, heldBy, memberOf, numberOf, openHolds, waitsFor } from "../../support/asking.ts";
import { document, promptRetries, world, type Parsed, type World } from "../../support/cli.ts";
import { statementRows } from "../../support/statement-rows.ts";
import { canary, company, type GivenOrder } from "../../support/world/crm.ts";
import { outcome, personOf } from "../../support/world/members.ts";
import { amend, line, placedOrders, rule, standing } from "../../support/world/placed-orders.ts";

const because = ["--reason", "the service desk did it", "--by", "anna"];
const named = (name: string): string => `${canary.person} ${name}`;

async function synchronised(): Promise<World> {
  const w = await world({ records: company(2, 2) });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  return w;
}

/** The CRM has another name for a person. It is reported and not sent. */
async function married(): Promise<World> {
  const w = await synchronised();
  rule(w, "staff.edited", "report");
  personOf(w, "S1-1").name = named("married");
  w.write();
  expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
  return w;
}

/** A person says that something was done by hand: the exit code, and whether it counts. No writing call is made. */
async function says(w: World, record: string): Promise<[number | null, boolean]> {
  const said = await w.does("--json", "resolve", record, "--done", ...because);
  expect(said.calls).toEqual({});
  return [said.exitCode, said.exitCode === 64 ? false : document(said).counts];
}

/** What the audit log says about what people did, and whether reading confirmed it. */
async function notes(w: World): Promise<unknown[]> {
  const entries = (await auditEntries(w)).filter(({ kind }) => ["done-by-hand", "by-hand-read-back"].includes(kind));
  return entries.map(({ kind, subject, body }) => [kind, subject, JSON.parse(body).counted]);
}

async function noteOf(w: World, kind: string, id: string): Promise<Parsed> {
  return (await w.ask("explain", kind, id)).byHand;
}

it("accepts a new name that somebody set on the platform when M5 shows it, and not before", async () => {
  const w = await married();
  expect(await says(w, "staff:S1-1")).toEqual([3, false]);
  expect(await notes(w)).toEqual([
    ["done-by-hand", "staff:crm/S1-1", undefined],
    ["by-hand-read-back", "staff:crm/S1-1", false],
  ]);
  expect(await noteOf(w, "staff", "S1-1")).toBeNull();
  await w.run("run", "everything");
  expect(await waitsFor(w, "S1-1", "staff")).toBe("policy.reported");

  w.sandbox.hand({ action: "rename-person", memberGlobalId: await memberOf(w, "S1-1"), name: named("married") });
  expect(await says(w, "staff:S1-1")).toEqual([0, true]);
  expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
  expect(await waitsFor(w, "S1-1", "staff")).toBeUndefined();
  expect(await noteOf(w, "staff", "S1-1")).toMatchObject({ by: "anna", unseen: [] });
  personOf(w, "S1-1").name = named("again");
  w.write();
  await w.run("run", "everything");
  expect(await noteOf(w, "staff", "S1-1"), "a note is of one form").toBeNull();
});

it("ends a seat that somebody removed when M6 shows it, and not while nothing shows it", async () => {
  const { orders, ...records } = company(2, 2);
  const keys = orders.map((order) => ({
    ...order,
    assets: [1, 2].map((asset) => ({ id: `${order.id}-A${asset}`, type: "normal_recover_usbkey" as const })),
  }));
  const w = await world({ records: { ...records, orders: keys } });
  w.extra = "limits: { removals: { enterprise: { floor: 0, share: 0 } } }\n";
  w.write();
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  personOf(w, "S1-2").holds = [];
  w.write();
  expect(outcome(await w.does("run", "everything"))).toEqual([4, {}]);
  const shortM6 = (): void => void w.sandbox.faults.add({ operation: "M6", fault: "shortPage", drop: 2 });
  expect(await says(w, "staff:S1-2"), "it is still held").toEqual([3, false]);
  shortM6();
  expect(await says(w, "staff:S1-2"), "M5 shows it still").toEqual([3, false]);
  w.sandbox.hand({ action: "move-holder", assetNum: numberOf(w, "O1-A2"), memberGlobalId: null });
  expect(await says(w, "staff:S1-2"), "nothing shows it").toEqual([0, true]);
  expect((await noteOf(w, "staff", "S1-2")).unseen).toHaveLength(1);
  expect(await heldBy(w, "S1-2")).toHaveLength(1);
  w.sandbox.faults.clear();
  await w.run("resync", "--customer", "C1");
  expect([await heldBy(w, "S1-2"), await heldBy(w, "S1-1")]).toMatchObject([[], { length: 1 }]);
  expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
  expect(await openHolds(w)).toEqual([]);
});

it("accepts what no reading shows because a person said so, and lists it until the record changes", async () => {
  const w = await synchronised();
  const rename = (name: string): void => {
    w.customers = w.customers.map((row) => (row.id === "C1" ? { ...row, name: `${canary.name} ${name}` } : row));
    w.write();
  };
  rule(w, "enterprises.update", "report");
  rename("renamed");
  expect((await w.does("run", "everything")).calls).toEqual({});
  expect(await says(w, "customer:C1")).toEqual([0, true]);
  expect((await noteOf(w, "customer", "C1")).unseen).toEqual(["name", "branch", "address"]);
  rule(w, "enterprises.update", "apply");
  expect((await w.does("run", "everything")).calls, "no E4, also where the policy is to send it").toEqual({});
  const open = async (): Promise<unknown[]> =>
    (await statementRows(w, "exceptions", "exceptions")).filter((row) => row["kind"] === "by-hand" && row["open"]);
  expect(await open()).toMatchObject([{ customer: "crm/C1" }]);
  expect((await w.ask("status")).byHand).toMatchObject([{ stream: "customers", count: 1 }]);
  rename("once more");
  expect((await w.does("run", "everything")).calls).toEqual({ E4: 1 });
  expect([await open(), (await w.ask("status")).byHand]).toEqual([[], []]);
});

it("refuses a note on an unknown, finished or open record, and one without a reason", async () => {
  const w = await synchronised();
  for (const words of [
    ["staff:S7", "--done", ...because],
    ["people:S1-1", "--done", ...because],
    ["staff:S1-1", ...because],
    ["staff:S1-1", "--done"],
  ])
    expect((await w.run("resolve", ...words)).exitCode, words.join(" ")).toBe(64);
  for (const record of ["staff:S1-1", "customer:C1", "order:O1"]) expect(await says(w, record)).toEqual([64, false]);
  w.orders.push({ id: "O9", customer: "C1", assets: ["O9-A1"] });
  w.write();
  w.sandbox.faults.add({ operation: "E5", fault: "resetBefore" });
  expect((await w.run("run", "everything")).exitCode).toBe(5);
  expect(await says(w, "staff:S1-1")).toEqual([64, false]);
  expect(await notes(w)).toEqual([]);
});

it("does not link the enterprise of another customer because a person said so", async () => {
  const w = await synchronised();
  const enterpriseGlobalId = await enterpriseOf(w, "C1");
  w.sandbox.hand({ action: "copy-customer", enterpriseGlobalId, channelCustomerId: "C3" });
  w.customers.push({ id: "C3" });
  w.write();
  await w.run("run", "everything");
  const said = await w.does("resolve", "customer:C3", "--done", ...because);
  expect([...outcome(said), said.stderr]).toEqual([64, {}, expect.stringContaining(enterpriseGlobalId)]);
  expect([await enterpriseOf(w, "C1"), await enterpriseOf(w, "C3")]).toEqual([enterpriseGlobalId, ""]);
  expect((await notes(w)).at(-1)).toEqual(["by-hand-read-back", "customer:crm/C3", false]);
});

it("accepts nothing while a service is down, and says so", async () => {
  const w = await married();
  Object.assign(w.environment, promptRetries);
  await w.sandbox.refuseConnections();
  const noted = await w.run("resolve", "staff:S1-1", "--done", ...because);
  const reset = await w.run("staff", "reset-password", "S1-1", ...because);
  expect([noted.exitCode, reset.exitCode]).toEqual([7, 7]);
  await w.sandbox.acceptConnections();
  expect(await notes(w)).toEqual([["done-by-hand", "staff:crm/S1-1", undefined]]);
  expect(await noteOf(w, "staff", "S1-1")).toBeNull();
  expect((await w.does("run", "everything")).calls, "nothing is sent later, either").toEqual({});
});

it.each<[string, Partial<GivenOrder>, (w: World) => void]>([
  [
    "a product",
    { products: [line("P1", "A1"), line("Q1", "A1"), line("R1", "A1")] },
    (w) => {
      const fields = { crmProductId: "R1", productUri: "PID-R1", gmsPid: "PID-R1" };
      w.sandbox.hand({ action: "add-product", like: "Q1", assetNum: numberOf(w, "A1"), fields });
    },
  ],
  [
    "a unit",
    { assets: [{ id: "A1", quantity: 2, numbers: ["8000000001", "8000007777"] }] },
    (w) => void w.sandbox.hand({ action: "add-asset", like: numberOf(w, "A1"), assetNum: "8000007777" }),
  ],
])(
  "does not buy %s again that a person added manually, and accepts it when the person says so",
  async (_, more, hand) => {
    const w = await placedOrders({ first: { assets: [{ id: "A1", numbers: ["8000000001"] }] } });
    rule(w, "orders.added", "report");
    amend(w, "1", more);
    expect((await w.does("run", "everything")).calls).toEqual({});
    expect(await waitsFor(w, "1")).toBe("policy.reported");
    hand(w);
    const made = standing(w);
    rule(w, "orders.added", "apply");
    for (const _again of [1, 2]) {
      expect(outcome(await w.does("resync", "--order", "1"))).toEqual([3, {}]);
      expect(await waitsFor(w, "1")).toBe("order.there-already");
    }
    expect(await says(w, "order:1")).toEqual([0, true]);
    expect([(await w.does("run", "everything")).calls, standing(w)]).toEqual([{}, made]);
  },
);
