import { describe, expect, it, onTestFinished } from "vitest";
import type { HoldScope } from "../../src/operation/hold-scope.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import type { Operation } from "../../src/operation/operation.ts";
import { kindOf } from "../../src/operation/registry.ts";
import { key } from "../support/world/records.ts";
import { openLedger, rowsOf } from "../support/world/start.ts";
import { doneWith, intend, update } from "./opened.ts";

/** An operation that takes something away from a customer, unlike every other of it. */
function taking(customer: string, name: string): Operation {
  return { ...update(customer, { subject: `seat:${name}` }), takesAway: 1 };
}

/** Holds these operations of a customer, as a run does that the limits stop. Answers the hold and each one's id. */
async function held(
  ledger: Ledger,
  customer: string,
  operations: readonly Operation[],
  { scope = "enterprise", run = "r" }: { scope?: HoldScope; run?: string } = {},
): Promise<{ hold: string; ids: string[] }> {
  await ledger.journal.drop(key(customer), "planned anew", { held: true });
  const { id: hold } = await ledger.approvals.open({
    scope,
    customer: key(customer),
    count: operations.length,
    allowed: 0,
    total: 9,
    setHash: operations.map(({ hash }) => hash).join(),
    explanation: "too many",
    operations: operations.map(({ hash, kind, records }) => ({ hash, kind, scope, reason: "too many", records })),
  });
  const ids = await ledger.journal.plan({ runId: run, state: "planned", operations });
  await ledger.journal.hold(
    key(customer),
    hold,
    operations.map(({ hash }) => hash),
  );
  return { hold, ids };
}

/** What was approved by itself under the open hold of a customer, by hash. */
async function approved(ledger: Ledger, customer: string): Promise<string[]> {
  const found = await ledger.approvals.of(key(customer));
  if (found?.hold.state !== "open") return [];
  return found.operations.filter((item) => item.approved).map(({ hash }) => hash);
}

describe("an operation that is approved by itself", () => {
  it("is the only one of its hold, until it was carried out; then the same is asked for again", async () => {
    const { ledger, path } = await openLedger();
    const [one, other, elsewhere] = [taking("1", "a"), taking("1", "b"), taking("2", "c")];
    const { ids } = await held(ledger, "1", [one, other]);
    await held(ledger, "2", [elsewhere]);
    await ledger.approvals.approveOperation(ids[0] ?? "", "asked the customer", "anna.lee");
    expect(await approved(ledger, "1")).toEqual([one.hash]);
    expect(await approved(ledger, "2")).toEqual([]);

    // The next run holds what is left, and the approval stays.
    const again = await held(ledger, "1", [other]);
    expect(await approved(ledger, "1")).toEqual([one.hash]);
    const id = await intend(ledger, one);
    expect(rowsOf(path, "select approved, weight from operation where id = ?", id)).toEqual([
      { approved: 1, weight: expect.stringContaining('"seats":0') },
    ]);
    await ledger.journal.conclude(id, doneWith());
    expect(await approved(ledger, "1")).toEqual([]);
    expect(rowsOf(path, "select approved from operation where id = ?", await intend(ledger, one))).toEqual([
      { approved: 0 },
    ]);
    expect((await ledger.approvals.of(key("1")))?.hold.id).toBe(again.hold);
  });

  it("is refused where it is not held any more, is not held by itself, or its hold was decided", async () => {
    const { ledger, path } = await openLedger();
    const [one, other] = [taking("1", "a"), taking("1", "b")];
    const { hold, ids } = await held(ledger, "1", [one, other]);
    const [waits = ""] = await ledger.journal.plan({ runId: "r", state: "planned", operations: [update("1")] });
    await ledger.journal.hold(key("1"), hold, "all");
    const sent = await intend(ledger, taking("3", "x"));
    const approve = (id: string) => ledger.approvals.approveOperation(id, "why", "anna.lee");
    await expect(approve("op_none")).rejects.toMatchObject({ code: "operation.unknown", exitCode: 64 });
    await expect(approve(sent)).rejects.toMatchObject({ code: "approve.not-held", exitCode: 64 });
    await expect(approve(waits)).rejects.toMatchObject({
      code: "approve.not-held",
      message: /it waits for what else/u,
    });
    await ledger.approvals.decide(hold, "rejected", "no", "anna.lee");
    await expect(approve(ids[0] ?? "")).rejects.toMatchObject({ code: "approve.not-held", message: /rejected/u });
    await ledger.journal.drop(key("1"), "planned anew", { held: true });
    await expect(approve(ids[0] ?? "")).rejects.toMatchObject({ code: "approve.not-held", message: /dropped/u });
    expect(await approved(ledger, "1")).toEqual([]);
    expect(rowsOf(path, "select kind from audit where kind = 'operation-approved'")).toEqual([]);
  });

  it("releases nothing else: what was approved in a set counts for that set alone", async () => {
    const { ledger, path } = await openLedger();
    const [one, other, third] = [taking("1", "a"), taking("1", "b"), taking("1", "c")];
    const { hold } = await held(ledger, "1", [one, other]);
    await ledger.approvals.decide(hold, "approved", "all of it", "anna.lee");
    expect(await approved(ledger, "1")).toEqual([]);
    expect(rowsOf(path, "select approved from operation where id = ?", await intend(ledger, one))).toEqual([
      { approved: 1 },
    ]);
    await held(ledger, "1", [other, third]);
    expect(rowsOf(path, "select approved from operation where id = ?", await intend(ledger, other))).toEqual([
      { approved: 0 },
    ]);
  });

  it("is needed at the intent by a kind that is approved one by one, and no other approval will do", async () => {
    const kind = kindOf({ kind: "update-enterprise" });
    Object.assign(kind, { approvedAlone: true });
    onTestFinished(() => void Object.assign(kind, { approvedAlone: false }));
    const { ledger, path } = await openLedger();
    const [one, other] = [taking("1", "a"), taking("1", "b")];
    const { hold, ids } = await held(ledger, "1", [one, other]);
    await expect(ledger.approvals.decide(hold, "approved", "all", "anna.lee")).rejects.toMatchObject({
      code: "approve.alone",
      exitCode: 64,
    });
    await ledger.approvals.approveOperation(ids[0] ?? "", "this one", "anna.lee");
    await expect(intend(ledger, other)).rejects.toMatchObject({ code: "operation.not-approved" });
    const id = await intend(ledger, one);
    await ledger.journal.conclude(id, { ...doneWith(), state: "unknown", attempt: { outcome: "unknown" } });
    await ledger.approvals.decide(hold, "lapsed", "nothing is left");
    // What may have left is sent again as it was approved.
    const again = { operation: one, id, runId: null, wireHash: "w", nonce: "n", context: {} };
    await ledger.journal.intend(again);
    expect(rowsOf(path, "select count(*) as count from attempt")).toEqual([{ count: 2 }]);
    await expect(intend(ledger, taking("1", "c"))).rejects.toMatchObject({ code: "operation.not-approved" });
  });

  it("stands in the chain with who said it and why, and its customer is worked on by the next run", async () => {
    const { ledger, path } = await openLedger();
    const { hold, ids } = await held(ledger, "1", [taking("1", "a")]);
    await ledger.approvals.approveOperation(ids[0] ?? "", "asked the customer", "anna.lee");
    const [entry] = rowsOf<{ subject: string; body: string }>(
      path,
      "select subject, body from audit where kind = 'operation-approved'",
    );
    expect(entry?.subject).toBe("seat:a");
    expect(JSON.parse(entry?.body ?? "")).toMatchObject({
      operation: ids[0],
      hold,
      customer: "crm/1",
      reason: "asked the customer",
      by: "anna.lee",
    });
  });
});

describe("what a person approved", () => {
  it("earns by different operations of a kind: the same one approved twice counts once", async () => {
    const { ledger } = await openLedger();
    const operations = [taking("1", "a"), taking("1", "b")];
    for (let time = 0; time < 3; time += 1) {
      const { hold } = await held(ledger, "1", operations);
      await ledger.approvals.decide(hold, "approved", "again", "anna.lee");
      await ledger.approvals.decide(hold, "used", "carried out");
    }
    const { ids } = await held(ledger, "1", operations);
    await ledger.approvals.approveOperation(ids[0] ?? "", "again", "anna.lee");
    expect([...(await ledger.approvals.earned())]).toEqual([["update-enterprise", 2]]);
  });

  it("of a run is what its own sum or that of days held, and not what an enterprise or a policy did", async () => {
    const { ledger } = await openLedger();
    const scopes: [customer: string, scope: HoldScope, run: string][] = [
      ["1", "run", "r1"],
      ["2", "day", "r1"],
      ["3", "week", "r1"],
      ["4", "enterprise", "r1"],
      ["5", "policy", "r1"],
      ["6", "run", "r2"],
    ];
    for (const [customer, scope, run] of scopes)
      await held(ledger, customer, [taking(customer, "a"), taking(customer, "b")], { scope, run });
    expect(await ledger.approvals.approveRun("r1", "seen", "anna.lee")).toEqual({ customers: 3, operations: 6 });
    const counts = await Promise.all(scopes.map(async ([customer]) => (await approved(ledger, customer)).length));
    expect(counts).toEqual([2, 2, 2, 0, 0, 0]);
    await expect(ledger.approvals.approveRun("r1", "seen", "anna.lee")).rejects.toMatchObject({
      code: "approve.not-held",
      exitCode: 64,
    });
  });
});
