import { describe, expect, it, onTestFinished } from "vitest";
import type { HoldScope, Operation } from "../../src/engine/model/operation.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { shownMark } from "../../src/ledger/decisions/what-is-asked.ts";
import { typeOf } from "../../src/engine/model/registry.ts";
import { ask, heldChange } from "../support/world/asked.ts";
import type { RecordKey } from "../../src/crm/model.ts";
import { customerRecord, key } from "../support/world/records.ts";
import { openLedger, rowsOf } from "../support/world/start.ts";
import { LedgerWorld } from "../support/world/ledger-world.ts";
import { doneWith, intend } from "./opened.ts";

const anna = ["asked the customer", "anna.lee"] as const;
const usage = (code: string) => ({ code, exitCode: 64 });

/** How what is held of a customer stands, by subject. */
async function standing(ledger: Ledger, customer: string): Promise<Record<string, string>> {
  const holds = await ledger.decisions.standing({ customer: key(customer), ofUndo: false });
  return Object.fromEntries(
    holds.map(({ subject, state }) => [subject.replace(`customer:crm/${customer}`, ""), state]),
  );
}

async function states(ledger: Ledger): Promise<string[]> {
  return (await ledger.decisions.questions()).map(({ state }) => state);
}

/** An operation is sent and done. */
async function done(ledger: Ledger, operation: Operation, id?: string): Promise<void> {
  await ledger.journal.conclude(await intend(ledger, operation, {}, id), doneWith());
}

describe("a question", () => {
  it("is one for what is held for one reason, and is asked once of each operation", async () => {
    const { ledger, time } = await openLedger();
    const [one, other] = [heldChange("1", "a"), heldChange("1", "b")];
    const first = await ask(ledger, "1", { operations: [one] });
    time.at += 1;
    const second = await ask(ledger, "1", { operations: [one, other], scope: "policy" });
    expect((await ledger.decisions.questions()).map(({ id, scope }) => [id, scope])).toEqual([
      [first.hold, "run"],
      [second.hold, "policy"],
    ]);
    const holds = await ledger.decisions.standing({ customer: key("1"), ofUndo: false });
    expect(holds.map(({ question, operation }) => [question, operation])).toEqual([
      [first.hold, first.ids[0]],
      [second.hold, second.ids[1]],
    ]);
    expect((await ask(ledger, "1", { operations: [one, other] })).hold).toBe("");
  });

  it("is asked anew of what a person is shown otherwise, and not of what they rejected", async () => {
    const { ledger } = await openLedger();
    const operation = heldChange("1");
    const { hold } = await ask(ledger, "1");
    await ledger.decisions.decide(hold, "reject", ...anna);
    expect((await ask(ledger, "1")).hold).toBe("");
    expect((await ask(ledger, "1", { policy: "orders.cancelled" })).hold).not.toBe("");
    expect(await states(ledger)).toEqual(["open"]);
    await ask(ledger, "1", { policy: "orders.cancelled", operations: [{ ...operation, takesAway: 2 }] });
    expect(await standing(ledger, "1")).toEqual({ "": "asked" });
  });

  it("is decided once, and by nobody who saw something else", async () => {
    const { ledger, path } = await openLedger();
    const { decisions } = ledger;
    const { hold } = await ask(ledger, "1");
    await expect(decisions.decide("h-none", "approve", ...anna)).rejects.toMatchObject(usage("hold.unknown"));
    await expect(decisions.decide(hold, "reject", ...anna, "else")).rejects.toMatchObject(usage("approve.not-shown"));
    await expect(decisions.withdraw(hold, ...anna)).rejects.toMatchObject(usage("hold.not-rejected"));
    await decisions.decide(hold, "reject", ...anna, shownMark([heldChange("1")]));
    await expect(decisions.decide(hold, "approve", ...anna)).rejects.toMatchObject(usage("hold.decided"));
    await decisions.withdraw(hold, ...anna);
    expect([await standing(ledger, "1"), await states(ledger)]).toEqual([{ "": "asked" }, ["open"]]);
    const kinds = rowsOf<{ kind: string }>(path, "select kind from audit order by sequence").map(({ kind }) => kind);
    expect(kinds).toEqual(["held", "hold-rejected", "rejection-taken-back"]);
  });
});

describe("an approval", () => {
  it("of one operation is of no other, and is used once", async () => {
    const { ledger, path } = await openLedger();
    const [one, other] = [heldChange("1", "a"), heldChange("1", "b")];
    const { ids } = await ask(ledger, "1", { operations: [one, other] });
    await ledger.decisions.approveOperation(ids[0] ?? "", ...anna);
    await expect(intend(ledger, other, {}, ids[1])).rejects.toMatchObject({ code: "operation.not-approved" });
    await done(ledger, one, ids[0]);
    await done(ledger, one);
    expect(rowsOf(path, "select approved from operation where state = 'done' order by id")).toEqual([
      { approved: 1 },
      { approved: 0 },
    ]);
    expect(await standing(ledger, "1")).toEqual({ b: "asked" });
  });

  it("goes with its operation when that is planned anew", async () => {
    const { ledger } = await openLedger();
    const operation = heldChange("1");
    const { hold, ids } = await ask(ledger, "1");
    await ledger.decisions.decide(hold, "approve", ...anna);
    const [approved] = await ledger.decisions.standing({ customer: key("1"), ofUndo: false });
    if (approved === undefined) throw new Error("nothing is approved");
    await ledger.journal.plan({ runId: "r", operations: [operation], holds: new Map([[operation.hash, approved]]) });
    const [again] = await ledger.decisions.standing({ customer: key("1"), ofUndo: false });
    expect(again?.operation).not.toBe(ids[0]);
    await done(ledger, operation, again?.operation);
    expect(await states(ledger)).toEqual([]);
  });

  it("is refused of what is not held itself, was decided, or has changed since it was shown", async () => {
    const world = await LedgerWorld.open();
    const { ledger } = world;
    await world.read("customers", [{ customers: customerRecord("1") }]);
    const { hold, ids } = await ask(ledger, "1");
    const [id = ""] = ids;
    const approve = async (which: string) => await ledger.decisions.approveOperation(which, ...anna);
    await expect(approve("op_none")).rejects.toMatchObject(usage("approve.not-held"));
    await world.read("customers", [{ customers: customerRecord("1", { branchCode: "B7" }) }]);
    await expect(approve(id)).rejects.toMatchObject(usage("approve.changed"));
    await expect(ledger.decisions.decide(hold, "approve", ...anna)).rejects.toMatchObject(usage("approve.changed"));
    await expect(ledger.decisions.approveRun("r", ...anna)).rejects.toMatchObject(usage("approve.changed"));
    await ledger.decisions.decide(hold, "reject", ...anna);
    await expect(approve(id)).rejects.toMatchObject({ code: "approve.not-held", message: /rejected/u });
    expect(rowsOf(world.path, "select kind from audit where kind = 'operation-approved'")).toEqual([]);
  });

  it("is needed at the intent by a kind that is approved one by one, and not by what is sent again", async () => {
    const { can } = typeOf({ kind: "update-enterprise" });
    const { governed } = can;
    Object.assign(can, { governed: { ...governed, alone: true } });
    onTestFinished(() => void Object.assign(can, { governed }));
    const { ledger, path } = await openLedger();
    const one = heldChange("1", "a");
    const { ids } = await ask(ledger, "1", { operations: [one] });
    await expect(ledger.decisions.approveRun("r", ...anna)).rejects.toMatchObject(usage("approve.not-held"));
    await ledger.decisions.approveOperation(ids[0] ?? "", ...anna);
    await expect(intend(ledger, heldChange("1", "b"))).rejects.toMatchObject({ code: "operation.not-approved" });
    const id = await intend(ledger, one, {}, ids[0]);
    await ledger.journal.conclude(id, { ...doneWith(), state: "unknown", attempt: { outcome: "unknown" } });
    const [hold] = await ledger.decisions.questions();
    const rejected = ledger.decisions.decide(hold?.id ?? "", "reject", ...anna);
    await expect(rejected).rejects.toMatchObject(usage("hold.sent"));
    await intend(ledger, one, {}, id);
    expect(rowsOf(path, "select count(*) as count from attempt")).toEqual([{ count: 2 }]);
  });

  it("stands in the audit log with who said it and why, and its customer is worked on by the next run", async () => {
    const world = await LedgerWorld.open();
    const { ledger, path } = world;
    await world.read("customers", [{ customers: customerRecord("1") }]);
    await world.ledger.records.setOutcomes(world.run, [{ stream: "customers", key: key("1"), outcome: "planned" }]);
    const { hold, ids } = await ask(ledger, "1");
    expect(await ledger.records.pendingCustomers(undefined, 10)).toEqual([]);
    await ledger.decisions.approveOperation(ids[0] ?? "", ...anna);
    expect(await ledger.records.pendingCustomers(undefined, 10)).toEqual([key("1")]);
    const [entry] = rowsOf<{ subject: string; body: string }>(
      path,
      "select subject, body from audit where kind = 'operation-approved'",
    );
    expect(entry?.subject).toBe("customer:crm/1");
    const [reason, by] = anna;
    expect(JSON.parse(entry?.body ?? "")).toMatchObject({ operation: ids[0], hold, customer: "crm/1", reason, by });
  });

  it("earns for its policy alone, the same operation once, and not what was rejected after it", async () => {
    const { ledger } = await openLedger();
    const operations = [heldChange("1", "a"), heldChange("1", "b")];
    for (let time = 0; time < 2; time += 1) {
      const { hold, ids } = await ask(ledger, "1", { policy: "orders.cancelled", operations });
      await ledger.decisions.decide(hold, "approve", ...anna);
      for (const [index, operation] of operations.entries()) await done(ledger, operation, ids[index]);
    }
    const { hold } = await ask(ledger, "2", { policy: "orders.deleted", operations: [heldChange("2", "a")] });
    await ask(ledger, "2", { policy: "orders.moved", operations: [heldChange("2", "b")] });
    await ledger.decisions.decide(hold, "approve", ...anna);
    const earned = async (): Promise<unknown> => Object.fromEntries(await ledger.decisions.earned());
    expect(await earned()).toEqual({ "orders.cancelled": 2, "orders.deleted": 1 });
    await ledger.decisions.decide(hold, "reject", ...anna);
    expect(await earned()).toEqual({ "orders.cancelled": 2 });
  });

  it("of a run is of what its own sum or that of days held, and not of what an enterprise or a policy did", async () => {
    const { ledger, time } = await openLedger();
    const scopes: [customer: string, scope: HoldScope, runId: string][] = [
      ["1", "run", "r1"],
      ["2", "day", "r1"],
      ["3", "week", "r1"],
      ["4", "enterprise", "r1"],
      ["5", "policy", "r1"],
      ["6", "run", "r2"],
    ];
    for (const [customer, scope, runId] of scopes) {
      time.at += 1;
      const operations = [heldChange(customer, "a"), heldChange(customer, "b")];
      await ask(ledger, customer, { scope, runId, operations });
    }
    const approve = async (shown?: string) => await ledger.decisions.approveRun("r1", ...anna, shown);
    await expect(approve("else")).rejects.toMatchObject(usage("approve.not-shown"));
    expect(await approve()).toEqual({ customers: 3, operations: 6, ofUndo: false });
    expect(await states(ledger)).toEqual(["approved", "approved", "approved", "open", "open", "open"]);
    await expect(approve()).rejects.toMatchObject(usage("approve.not-held"));
  });
});

describe("what is held", () => {
  it("counts along with what comes after it while a limit holds it and nobody answered", async () => {
    const { ledger } = await openLedger();
    const { hold } = await ask(ledger, "1", { scope: "day" });
    await ask(ledger, "2", { scope: "enterprise" });
    await ask(ledger, "3", { scope: "policy" });
    const counted = async (): Promise<RecordKey[]> =>
      (await ledger.decisions.askedByLimits()).map(({ customer }) => customer);
    expect(await counted()).toEqual([key("1"), key("2")]);
    await ledger.decisions.decide(hold, "approve", ...anna);
    expect(await counted()).toEqual([key("2")]);
  });

  it("ends where the CRM made it moot, approved or not, and is in the audit log", async () => {
    const { ledger, path } = await openLedger();
    const { ids } = await ask(ledger, "1", { operations: [heldChange("1", "a"), heldChange("1", "b")] });
    await ledger.decisions.approveOperation(ids[0] ?? "", ...anna);
    const holds = await ledger.decisions.standing({ customer: key("1"), ofUndo: false });
    await ledger.decisions.end("unwanted", key("1"), holds);
    expect([await standing(ledger, "1"), await states(ledger)]).toEqual([{}, []]);
    expect(await ledger.journal.plannedOf({ customer: key("1"), ofUndo: false })).toEqual([]);
    const [entry] = rowsOf<{ body: string }>(path, "select body from audit where kind = 'hold-ended'");
    expect(JSON.parse(entry?.body ?? "")).toMatchObject({ operations: [{ state: "approved" }, { state: "asked" }] });
  });
});
