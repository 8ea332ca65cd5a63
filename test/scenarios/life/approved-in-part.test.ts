import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { z } from "zod";
import { document, world } from "../../support/cli.ts";
import type { World } from "../../support/cli.ts";
import { company } from "../../support/world/crm.ts";
import { amend, line, numberOf, openHold, placedOrders, rule } from "./placed-orders.ts";

const savedLine = z.object({ operations: z.array(z.object({ hash: z.string() })).default([]) });

/** The hashes of the operations of a saved plan, in its order. */
function savedIn(path: string): string[] {
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  return lines.flatMap((text) => savedLine.parse(JSON.parse(text)).operations.map(({ hash }) => hash));
}

/** Eight revokes that a limit held; one was approved by itself and carried out, the rest by its hold. */
async function restApproved(): Promise<World> {
  const w = await world({ records: company(1, 8) });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  for (const person of w.staff) person.holds = [];
  w.write();
  expect((await w.does("run", "everything")).exitCode).toBe(4);
  const [op] = w.rows<{ id: string }>("select id from operation where state = 'held' order by id");
  expect((await w.run("approve", op?.id ?? "", "--reason", "this one")).exitCode).toBe(0);
  const next = await w.does("run", "everything");
  expect([next.exitCode, next.calls]).toEqual([4, { M9: 1 }]);
  const [hold] = w.rows<{ id: string }>("select id from hold where state = 'open'");
  expect((await w.run("approve", hold?.id ?? "", "--reason", "the rest too")).exitCode).toBe(0);
  return w;
}

it(
  "what is left of a hold after one of it was approved and carried out is released by its own approval",
  { tags: "long" },
  async () => {
    const w = await restApproved();
    const runs = [];
    for (const _ of [1, 2, 3]) {
      const { exitCode, calls } = await w.does("run", "everything");
      runs.push([exitCode, calls]);
    }
    expect.soft(runs[0], JSON.stringify(runs)).toEqual([0, { M9: 7 }]);
    expect(w.sandbox.state().assignments).toBe(0);
  },
);

it("meanwhile everything else of the customer goes on", { tags: "long" }, async () => {
  const w = await restApproved();
  w.orders.push({ id: "O2", customer: "C1", assets: ["O2-A1"] });
  w.write();
  const { calls, stdout } = await w.does("run", "everything");
  expect(calls["E5"], stdout).toBe(1);
});

it.each(["open", "approved"])(
  "a hold of an old ledger (%s) whose operations its last run had dropped is released by its approval",
  { tags: "long" },
  async (state) => {
    const w = await world({ records: company(1, 8) });
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    for (const person of w.staff) person.holds = [];
    w.write();
    expect((await w.does("run", "everything")).exitCode).toBe(4);
    const [hold] = w.rows<{ id: string }>("select id from hold where state = 'open'");
    if (state === "approved") expect((await w.run("approve", hold?.id ?? "", "--reason", "ok")).exitCode).toBe(0);
    // The last run before the update: the platform could not be read. What was held is dropped, "planned anew".
    w.sandbox.faults.add({ operation: "M6", fault: "resetBefore" });
    await w.does("resync", "--customer", "C1");
    w.sandbox.faults.clear();
    // What migration 0016 makes of such a ledger, statement by statement.
    w.tamper("delete from hold_operation");
    w.tamper("delete from approved_operation");
    w.tamper(`insert into hold_operation (hold_id, hash, kind, scope, reason)
     select h.id, o.hash, o.kind, h.scope, h.explanation from hold h
     join operation o on o.hold_id = h.id and o.state = 'held' and o.takes_away > 0
     where h.state in ('open', 'approved') group by h.id, o.hash`);
    w.tamper(`insert into approved_operation (kind, hash, hold_id, at, by)
     select i.kind, i.hash, h.id, coalesce(h.decided_at, h.created_at), coalesce(h.decided_by, '') from hold h
     join hold_operation i on i.hold_id = h.id where h.state = 'approved' group by i.kind, i.hash`);
    if (state === "open") {
      expect((await w.does("run", "everything")).exitCode).toBe(4);
      expect((await w.run("approve", hold?.id ?? "", "--reason", "ok")).exitCode).toBe(0);
    }
    for (let i = 0; i < 3; i += 1) await w.does("run", "everything");
    expect(w.sandbox.state().assignments).toBe(0);
  },
);

it("one operation that is approved of what a limit holds is carried out alone: the rest stays held", async () => {
  const w = await world({ records: company(1, 8) });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  for (const person of w.staff.slice(0, 6)) person.holds = [];
  w.write();
  expect((await w.does("run", "everything")).exitCode).toBe(4);
  const [op] = w.rows<{ id: string }>("select id from operation where state = 'held' order by id");
  const approved = await w.run("approve", op?.id ?? "", "--reason", "this one");
  expect(approved.stdout).toContain("carries out exactly this one");
  const run = await w.does("run", "everything");
  expect([run.exitCode, run.calls]).toEqual([4, { M9: 1 }]);
});

it(
  "approving what one customer loses releases nothing of another, where the sum of a run held both",
  { tags: "long" },
  async () => {
    const w = await world({ records: company(5, 5) });
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    for (const person of w.staff) person.holds = [];
    w.write();
    expect((await w.does("run", "everything")).exitCode).toBe(4);
    const [hold] = w.rows<{ id: string }>("select id from hold where state = 'open' and customer_id = 'C1'");
    const approved = await w.run("approve", hold?.id ?? "", "--reason", "asked C1");
    expect(approved.stdout).toContain("carries out exactly this set");
    const run = await w.does("run", "everything");
    expect([run.exitCode, run.calls]).toEqual([4, { M9: 5 }]);
  },
);

it.each(["policy", "limit"])(
  "an approved hold (%s) of which one is applied from a saved plan stays approved for the rest",
  { tags: "long" },
  async (what) => {
    const w = await world({ records: company(1, 8) });
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    if (what === "policy") w.extra = "policies: { seats: { revoked: hold } }\n";
    for (const person of w.staff) person.holds = [];
    w.write();
    expect((await w.does("run", "everything")).exitCode).toBe(4);
    const [hold] = w.rows<{ id: string }>("select id from hold where state = 'open'");
    expect((await w.run("approve", hold?.id ?? "", "--reason", "all of them")).exitCode).toBe(0);
    await w.run("plan", "--out", w.path("plan.ndjson"));
    const [first = ""] = savedIn(w.path("plan.ndjson"));
    const one = await w.does("apply", w.path("plan.ndjson"), "--only", first.slice(0, 8));
    expect([one.exitCode, one.calls], one.stdout).toEqual([3, { M9: 1 }]);
    const rest = await w.does("run", "everything");
    expect([rest.exitCode, rest.calls]).toEqual([0, { M9: 7 }]);
  },
);

it(
  "what a person rejected stands in no plan, and a plan of the rest of the customer is applied",
  { tags: "long" },
  async () => {
    const w = await world({ records: company(1, 8) });
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    for (const person of w.staff.slice(0, 6)) person.holds = [];
    w.write();
    expect((await w.does("run", "everything")).exitCode).toBe(4);
    const [hold] = w.rows<{ id: string }>("select id from hold where state = 'open'");
    expect((await w.run("reject", hold?.id ?? "", "--reason", "a mistake in the CRM")).exitCode).toBe(0);
    // Something else of the customer changes.
    w.orders.push({ id: "O2", customer: "C1", assets: ["O2-A1"] });
    w.staff.at(-1)?.holds?.push("O2-A1");
    w.write();
    await w.run("plan", "--out", w.path("plan.ndjson"));
    expect(savedIn(w.path("plan.ndjson"))).toHaveLength(2);
    const applied = await w.does("apply", w.path("plan.ndjson"));
    expect(applied.calls).toEqual({ E5: 1, M9: 1 });
  },
);

it(
  "approving a hold says what of it has to be approved alone, and that goes on being held",
  { tags: "long" },
  async () => {
    const w = await placedOrders({
      first: {
        assets: [{ id: "A1", type: "normal_recover_usbkey" }],
        products: [line("P1", "A1"), line("Q1", "A1"), line("R1", "A1")],
      },
      staff: [],
    });
    rule(w, "orders.ended", "hold");
    w.tamper("delete from licence_order");
    const assetNum = numberOf(w, "A1");
    w.sandbox.hand({ action: "show-product", assetNum, crmProductId: "Q1", fields: { licenseOrderId: "" } });
    amend(w, "1", { products: [line("P1", "A1")] });
    expect((await w.does("run", "everything")).exitCode).toBe(4);
    const approved = await w.run("approve", openHold(w), "--reason", "both");
    expect.soft(approved.stdout).not.toContain("exactly this set");
    const run = await w.does("run", "everything");
    expect(run.calls).toEqual({ E5: 1 });
    // The run says that something waits for approval, and `status` lists it as it says.
    expect.soft(run.exitCode, run.stdout).toBe(4);
    expect
      .soft(w.rows("select state from operation where kind = 'delete-everywhere' and state = 'held'"))
      .toHaveLength(1);
  },
);

it(
  "a hold of which each operation was approved by itself asks nobody: a platform that is down is told of as that",
  { tags: "long" },
  async () => {
    const w = await world({ records: company(2, 8) });
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    for (const person of w.staff) person.holds = [];
    w.write();
    expect((await w.does("run", "everything")).exitCode).toBe(4);
    const holdOf = (customer: string): string =>
      w.rows<{ id: string }>("select id from hold where state = 'open' and customer_id = ?", customer)[0]?.id ?? "";
    const [first, second] = [holdOf("C1"), holdOf("C2")];
    const held = w.rows<{ id: string }>("select id from operation where hold_id = ? and state = 'held'", first);
    expect(held).toHaveLength(8);
    const states = async (): Promise<unknown> =>
      document(await w.run("--json", "status")).holds.map((hold: { id: string; state: string }) => [
        hold.id,
        hold.state,
      ]);
    for (const [index, { id }] of held.entries()) {
      expect(await states()).toContainEqual([first, "open"]);
      expect((await w.run("approve", id, "--reason", `number ${index}`)).exitCode).toBe(0);
    }
    expect(await states()).toEqual(
      expect.arrayContaining([
        [first, "approved"],
        [second, "open"],
      ]),
    );
    const status = (await w.run("status")).stdout;
    expect(status).not.toContain(`hold ${first} on crm/C1`);
    expect(status).toContain(`hold ${second} on crm/C2`);
    expect((await w.run("reject", second, "--reason", "they keep them")).exitCode).toBe(0);

    await w.sandbox.refuseConnections();
    const down = await w.run("run", "everything");
    expect([down.exitCode, down.stdout], down.stdout).toEqual([7, expect.not.stringContaining("held:")]);
    await w.sandbox.acceptConnections();
    const run = await w.does("run", "everything");
    expect([run.exitCode, run.calls], run.stdout).toEqual([0, { M9: 8 }]);
  },
);
