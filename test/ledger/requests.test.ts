import { describe, expect, it } from "vitest";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { type NewRequest, type RequestName, theCrm, only, subjectOf } from "../../src/engine/model/requests.ts";
import { operation } from "../../src/engine/model/operation.ts";
import { applyChanges, type StateChange } from "../../src/engine/model/state.ts";
import { customerRecord, key, readRecord } from "../support/world/records.ts";
import { changeFile, openLedger, rowsOf } from "../support/world/start.ts";
import { intend } from "./opened.ts";

const [ours, theirs] = [key("1"), key("2")];
const whose = { by: "tester", reason: "lost" };

function lock(about: string): NewRequest {
  const details = { licenseType: "normal_recover_usbkey" as const, largeCustomer: false };
  return { of: "lock", about, wanted: "locked", details, ...whose };
}

function named(about: string, wanted: "locked" | "unlocked" = "locked"): RequestName {
  return { of: "lock", about, wanted };
}

/** Has E6 on its way for what is already requested for the first customer. */
async function send(ledger: Ledger): Promise<string> {
  const requests = only((await ledger.state.known(ours)).requests, "lock");
  const planned = operation("lock-assets", {
    customer: ours,
    subject: subjectOf(ours, lock("")),
    records: [{ stream: "customers", ...ours }],
    target: {},
    payload: { assetNums: requests.map(({ about }) => about), operatorIdentity: "licence desk" },
    reason: "a test",
    before: Object.fromEntries(requests.map(({ about, askedAt }) => [about, askedAt])),
    after: requests.map(({ about: assetNum, details }) => ({ assetNum, ...details })),
  });
  return await intend(ledger, planned, { assetNums: requests.map(({ about }) => about) });
}

describe("what a person takes back", () => {
  it("is refused whole from its intent until its outcome is known, and where it is done, and changes nothing then", async () => {
    const { ledger, path } = await openLedger();
    await ledger.requests.ask(ours, [lock("A"), lock("B")], whose);
    await ledger.requests.ask(theirs, [lock("C")], whose);
    const id = await send(ledger);
    const standing = () => rowsOf(path, "select * from manual_request order by about");
    const before = standing();
    const inDoubt = { code: "request.in-doubt", message: expect.stringContaining(id) };
    for (const state of ["unknown", "parked"] as const) {
      await expect(ledger.requests.withdraw(ours, [named("A")], whose)).rejects.toMatchObject(inDoubt);
      await ledger.journal.conclude(id, { state, changes: [], audit: { kind: state, body: {} } });
    }
    await expect(ledger.requests.withdraw(ours, [named("A")], whose)).rejects.toMatchObject(inDoubt);
    expect(standing()).toEqual(before);

    const answered = (about: string, status: 1 | 4) =>
      ({ type: "request-answered", of: "lock", about, wanted: "locked", answer: { status }, operationId: id }) as const;
    await ledger.journal.conclude(id, {
      state: "done",
      changes: [answered("A", 1), answered("B", 4)],
      audit: { kind: "lock-assets", body: {} },
    });
    const done = standing();
    const nothing = { code: "request.nothing-to-withdraw", exitCode: 64 };
    for (const names of [[named("B"), named("A")], [named("B", "unlocked")], [named("C")]])
      await expect(ledger.requests.withdraw(ours, names, whose)).rejects.toMatchObject(nothing);
    expect(standing()).toEqual(done);
    await ledger.requests.withdraw(ours, [named("B")], whose);
    await ledger.requests.withdraw(theirs, [named("C")], whose);
    expect((await ledger.state.known(ours)).requests).toMatchObject([{ about: "A", answer: { status: 1 } }]);
    expect((await ledger.state.known(theirs)).requests).toEqual([]);
    const taken = rowsOf(path, "select subject from audit where kind = 'request-withdrawn' order by sequence");
    expect(taken).toEqual([{ subject: "locks:crm/1" }, { subject: "locks:crm/2" }]);
    ledger.close();
  });

  it("stands in the way of another customer's request for the same until it is done", async () => {
    const { ledger, path } = await openLedger();
    await ledger.requests.ask(ours, [lock("A"), lock("B")], whose);
    const operationId = await send(ledger);
    const taken = { code: "request.of-another-customer", message: expect.stringContaining("crm/1"), exitCode: 64 };
    const before = rowsOf(path, "select * from manual_request order by about");
    for (const status of [undefined, 3, 4, 1] as const) {
      if (status !== undefined) {
        const answer = { of: "lock", about: "A", wanted: "locked", answer: { status }, operationId } as const;
        await ledger.state.record(ours, [{ type: "request-answered", ...answer }]);
      }
      const asked = ledger.requests.ask(theirs, [lock("C"), lock("A")], whose);
      if (status === 1) await asked;
      else await expect(asked, `status ${status}`).rejects.toMatchObject(taken);
      if (status === undefined) expect(rowsOf(path, "select * from manual_request order by about")).toEqual(before);
    }
    expect((await ledger.state.known(ours)).requests.map(({ about }) => about)).toEqual(["B"]);
    expect((await ledger.state.known(theirs)).requests.map(({ about }) => about)).toEqual(["A", "C"]);
    ledger.close();
  });

  it("is told as damage where a column of it is not what was written", async () => {
    const { ledger, path } = await openLedger();
    await ledger.requests.ask(ours, [lock("A")], whose);
    changeFile(path, "update manual_request set details = '{}'");
    await expect(ledger.state.known(ours)).rejects.toMatchObject({ code: "ledger.damaged", exitCode: 65 });
    ledger.close();
  });
});

it("of locks that are gone, what was done or refused ends and what the CRM asked for is of none that is bought, in memory as in the rows", async () => {
  const { ledger } = await openLedger();
  const asked = ["A", "B", "C", "D", "E"];
  await ledger.requests.ask(ours, asked.map(lock), whose);
  await ledger.requests.ask(theirs, [lock("F"), lock("G")], whose);
  const answered = (about: string, status: 1 | 2 | 3 | 4): StateChange => ({
    type: "request-answered",
    of: "lock",
    about,
    wanted: "locked",
    answer: { status },
    operationId: "op",
  });
  const answers = [answered("A", 1), answered("B", 2), answered("C", 3), answered("D", 4), answered("F", 4)];
  const ofCrm: StateChange = { type: "request-made", customer: ours, request: { ...lock("D"), by: theCrm } };
  const first = [...answers.slice(0, 3), ofCrm, ...answers.slice(3)];
  const gone: StateChange[] = [{ type: "numbers-ended", numbers: ["A", "B", "C", "D", "E", "F"] }];
  let known = await ledger.state.known(ours);
  for (const [changes, left] of [
    [[...first, answered("G", 4)], asked],
    [gone, ["C", "E"]],
  ] as const) {
    const at = await ledger.state.record(ours, changes);
    known = applyChanges(known, changes, { customer: ours, at });
    const { requests, crmAsked } = await ledger.state.known(ours);
    expect([known.requests, known.crmAsked]).toEqual([requests, crmAsked]);
    expect(crmAsked.map(({ about, gone: isGone }) => [about, isGone])).toEqual([["D", changes === gone || undefined]]);
    expect(known.requests.map(({ about }) => about)).toEqual(left);
  }
  expect((await ledger.state.known(theirs)).requests.map(({ about }) => about)).toEqual(["G"]);
});

it("of two wishes of the CRM for one number that of a lock that is gone is the older one, whichever order is newer", async () => {
  const { ledger } = await openLedger();
  const [older, newer] = ["2026-09-01T08:00:00.000Z", "2026-09-02T08:00:00.000Z"];
  const asks = (askedAt: string, reason: string): StateChange => ({
    type: "request-made",
    customer: ours,
    request: { ...lock("A"), by: theCrm, askedAt, reason },
  });
  let known = await ledger.state.known(ours);
  const steps = [
    asks(newer, "order crm/O1"),
    { type: "numbers-ended" as const, numbers: ["A"] },
    asks(older, "order crm/O2"),
  ];
  for (const change of steps) {
    const at = await ledger.state.record(ours, [change]);
    known = applyChanges(known, [change], { customer: ours, at });
  }
  const { crmAsked } = await ledger.state.known(ours);
  expect(crmAsked).toEqual(known.crmAsked);
  expect(crmAsked.map(({ reason, gone }) => [reason, gone])).toEqual([["order crm/O2", undefined]]);
});

it("a refused answer has its customer looked at, so that a run tells it also if the process ends before the attempt does", async () => {
  const { ledger } = await openLedger();
  const read = await ledger.records.startRead("run-1", "crm", "customers");
  await read.ingest([readRecord("customers", customerRecord("1"), "customers.csv:1")]);
  await read.finish({ complete: true, whole: true, rows: 1, bad: 0 });
  const planned = { stream: "customers", key: ours, outcome: "planned" } as const;
  for (const [status, waiting] of [
    [1, []],
    [2, [ours]],
  ] as const) {
    await ledger.requests.ask(ours, [lock("A")], whose);
    const operationId = await send(ledger);
    await ledger.records.setOutcomes("run-1", [planned]);
    const answered = { of: "lock", about: "A", wanted: "locked", answer: { status }, operationId } as const;
    const changes = [{ type: "request-answered", ...answered } as const];
    await ledger.journal.conclude(operationId, { state: "done", changes, audit: { kind: "lock-assets", body: {} } });
    expect(await ledger.records.pendingCustomers(undefined, 10), `status ${status}`).toEqual(waiting);
  }
  ledger.close();
});
