import { describe, expect, it } from "vitest";
import { auditEntries, enterpriseOf, heldBy, waitsFor } from "../../support/asking.ts";
import { world, type World } from "../../support/cli.ts";
import { statementRows } from "../../support/statement-rows.ts";
import { company } from "../../support/world/crm.ts";
import { outcome, personOf } from "../../support/world/members.ts";
import { callerOf, createEnterprise } from "../../sandbox/caller.ts";

const because = ["--reason", "the service desk said so", "--by", "anna"];

/** Two customers with some people each, all synchronised. */
async function inPlace(people = 1): Promise<World> {
  const w = await world({ records: company(2, people) });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  return w;
}

async function unlink(w: World): Promise<void> {
  expect((await w.run("unlink", "C1", "--keep-orders", ...because)).exitCode).toBe(0);
}

async function link(w: World, enterprise: string, ...more: string[]): Promise<number | null> {
  return (await w.run("link", "C1", enterprise, ...more, ...because)).exitCode;
}

function orders(w: World, id: string): void {
  w.orders.push({ id, customer: "C1", assets: [`${id}-A1`] });
  w.write();
}

it("does not create the enterprise of an unlinked customer again, and a new link places no order twice", async () => {
  const w = await inPlace();
  const enterprise = await enterpriseOf(w, "C1");
  await unlink(w);
  orders(w, "O9");
  const before = w.sandbox.counts().calls;
  expect((await w.run("run", "everything")).exitCode, "the new order waits").toBe(3);
  expect(w.sandbox.counts().calls, "not a single call").toEqual(before);
  expect(await waitsFor(w, "C1", "customer")).toBe("enterprise.unlinked");
  expect(await link(w, enterprise)).toBe(0);
  expect(outcome(await w.does("run", "everything")), "the first order is not placed again").toEqual([
    0,
    { E4: 1, E5: 1 },
  ]);
  expect(w.sandbox.state()).toMatchObject({ enterprises: 2, assignments: 2 });
});

describe("a customer that a person links", { tags: "long" }, () => {
  it("is linked and unlinked once, only with a reason, and the audit log says so", async () => {
    const w = await inPlace();
    const enterprise = await enterpriseOf(w, "C1");
    expect((await w.run("unlink", "C1", ...because)).exitCode, "while orders exist there").toBe(64);
    expect((await w.run("unlink", "C1", "--keep-orders")).exitCode, "without a reason").toBe(64);
    await unlink(w);
    expect((await w.run("unlink", "C1", "--keep-orders", ...because)).exitCode).toBe(64);
    expect(await link(w, "7100000000000000999")).toBe(64);
    expect(await link(w, enterprise, "--dry-run")).toBe(0);
    expect(await enterpriseOf(w, "C1")).toBe("");
    expect([await link(w, enterprise), await link(w, enterprise)]).toEqual([0, 64]);
    const kinds = (await auditEntries(w)).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind.endsWith("by-hand"))).toEqual(["unlinked-by-hand", "linked-by-hand"]);
  });

  it("gets no enterprise of another customer, and no other one while an outcome is unknown", async () => {
    const w = await inPlace();
    const [own, others] = [await enterpriseOf(w, "C1"), await enterpriseOf(w, "C2")];
    const third = await createEnterprise(callerOf(w.sandbox.url), "C1");
    expect(await link(w, others, "--channel-customer-id", "C2")).toBe(64);
    expect((await w.run("link", "C7", others, ...because)).exitCode).toBe(64);
    expect(await link(w, third.enterpriseGlobalId), "it is linked already").toBe(64);
    orders(w, "O9");
    w.sandbox.faults.add({ operation: "E5", fault: "resetBefore" });
    expect((await w.run("run", "everything")).exitCode).toBe(5);
    expect((await w.run("unlink", "C1", "--keep-orders", ...because)).exitCode).toBe(64);
    expect([await enterpriseOf(w, "C1"), await enterpriseOf(w, "C2")]).toEqual([own, others]);
  });

  it("has its new orders wait if the CRM gives another number than the link has", async () => {
    const w = await inPlace();
    const enterpriseGlobalId = await enterpriseOf(w, "C1");
    w.sandbox.hand({ action: "copy-customer", enterpriseGlobalId, channelCustomerId: "C1-new" });
    const linked = await w.run("link", "C1", enterpriseGlobalId, "--channel-customer-id", "C1-new", ...because);
    expect([linked.exitCode, linked.stdout]).toEqual([0, expect.stringContaining("enterprise.renumbered")]);
    orders(w, "O9");
    expect((await w.does("run", "everything")).calls).toEqual({});
    expect(await waitsFor(w, "O9")).toBe("enterprise.renumbered");
  });

  it("does not mix up the seats of two enterprises that it was linked with", async () => {
    const w = await inPlace(2);
    const first = await enterpriseOf(w, "C1");
    expect((await w.run("run", "verify")).exitCode).toBe(0);
    const other = await createEnterprise(callerOf(w.sandbox.url), "C1");
    await unlink(w);
    expect(await link(w, other.enterpriseGlobalId)).toBe(0);
    const matched = (await statementRows(w, "reconciliation", "items")).filter(({ verdict }) => verdict === "matched");
    expect(new Set(matched.map(({ customer }) => customer)), "nobody has read the other one yet").toEqual(
      new Set(["crm/C2"]),
    );
    const ran = await w.does("run", "everything");
    expect([ran.exitCode, ran.calls["M1"], ran.calls["M9"]], ran.stdout).toEqual([3, 1, undefined]);
    personOf(w, "S1-2").holds = [];
    w.write();
    expect((await w.does("run", "everything")).calls).toEqual({});
    expect([await heldBy(w, "S1-2"), w.sandbox.state().assignments]).toMatchObject([{ length: 1 }, 4]);

    await unlink(w);
    expect(await link(w, first)).toBe(0);
    expect((await w.does("run", "everything")).calls["M9"]).toBe(1);
    expect([await heldBy(w, "S1-2"), w.sandbox.state().assignments]).toEqual([[], 3]);
  });

  it("has no order of the first enterprise amended or removed in the second one", async () => {
    const w = await inPlace();
    const first = await enterpriseOf(w, "C1");
    const other = await createEnterprise(callerOf(w.sandbox.url), "C1");
    await unlink(w);
    expect(await link(w, other.enterpriseGlobalId)).toBe(0);
    w.orders = w.orders.map((row) => (row.id === "O1" ? { ...row, assets: [{ id: "O1-A1", quantity: 3 }] } : row));
    orders(w, "O9");
    const before = w.sandbox.state().products;
    expect((await w.does("run", "everything")).calls["E5"], "a new order goes where the customer is now").toBe(1);
    expect((await w.does("run", "everything")).calls).toEqual({});
    expect([await waitsFor(w, "O1"), w.sandbox.state().products]).toEqual(["order.elsewhere", before + 1]);
    await unlink(w);
    expect(await link(w, first)).toBe(0);
    expect((await w.does("run", "everything")).calls["E5"]).toBe(1);
    expect(await waitsFor(w, "O1")).not.toBe("order.elsewhere");
  });
});
