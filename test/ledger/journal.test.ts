import { describe, expect, it } from "vitest";
import { Sequence } from "../../src/ledger/database/sequence.ts";
import type { StateChange } from "../../src/engine/model/state.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { count, doneWith, intend, update } from "./opened.ts";
import { ask } from "../support/world/asked.ts";
import { key } from "../support/world/records.ts";
import { openLedger, sqlite } from "../support/world/start.ts";
import { trustedAt } from "../support/trusted.ts";

async function reopened(path: string): Promise<Ledger> {
  return (await openLedger({ path })).ledger;
}

const of = (customer: string, ofUndo = false) => ({ customer: key(customer), ofUndo });

const linked = (customer: string, enterpriseGlobalId: string): StateChange => ({
  type: "linked",
  customer: key(customer),
  link: { enterpriseGlobalId, channelCode: "crm", channelCustomerId: customer, origin: "created", examined: true },
});

describe("intents", () => {
  it("are one at a time for a customer and subject, whatever state the open one is in", async () => {
    const { ledger, path } = await openLedger();
    const id = await intend(ledger, update("1"));
    for (const state of ["unknown", "parked"] as const) {
      await expect(intend(ledger, update("1"))).rejects.toThrow("UNIQUE");
      await ledger.journal.conclude(id, { state, changes: [], audit: { kind: state, body: {} } });
    }
    await expect(intend(ledger, update("1"))).rejects.toThrow("UNIQUE");
    await intend(ledger, update("2"));
    await intend(ledger, update("1", { subject: "order:crm/1" }));
    await ledger.journal.conclude(id, { state: "dropped", changes: [], audit: { kind: "not-applied", body: {} } });
    await intend(ledger, update("1"));
    expect(count(path, "attempt")).toBe(4);
  });

  it("come back as they were written, with nonce and time of each attempt", async () => {
    const { ledger, path, time } = await openLedger();
    const acknowledged = { name: "x", branchName: "b", address: null };
    const planned = { ...update("1", { before: acknowledged }), takesAway: 3 };
    const id = await intend(ledger, planned, { acknowledged });
    ledger.close();
    const again = await reopened(path);
    const row = await again.journal.byId(id);
    expect(row).toMatchObject({ id, state: "sending", context: { acknowledged }, attempts: 1 });
    expect(row?.operation).toEqual({ ...planned, policy: undefined });
    const [attempt] = await again.journal.attempts(id);
    expect(attempt).toMatchObject({
      number: 1,
      startedAt: new Date(time.at).toISOString(),
      finishedAt: null,
      outcome: null,
    });
  });

  it("of a form that this version does not know are kept as they are, and named with their column", async () => {
    const columns = {
      kind: "of-a-later-version",
      payload: '{"crmCustomerId":7}',
      target: "[]",
      before: '{"name":1}',
      after: "null",
      context: '{"acknowledged":"x"}',
    };
    for (const [column, text] of Object.entries(columns)) {
      const { ledger, path } = await openLedger();
      const id = await intend(ledger, update(column));
      const database = sqlite(path);
      database.prepare(`update operation set ${column} = ? where id = ?`).run(text, id);
      await expect(ledger.journal.byId(id), column).rejects.toMatchObject({
        code: "ledger.damaged",
        exitCode: 65,
        message: `the ledger is damaged: column ${column} of operation ${id} cannot be read`,
      });
      expect(database.prepare(`select ${column} from operation where id = ?`).pluck().get(id)).toBe(text);
    }
  });

  it("are sent again only from unknown, with an attempt of its own", async () => {
    const { ledger } = await openLedger();
    const planned = update("1");
    const id = await intend(ledger, planned);
    const again = () =>
      ledger.journal.intend({ operation: planned, id, runId: null, wireHash: "w", nonce: "n", context: {} });
    await expect(again()).rejects.toMatchObject({ code: "journal.moved-on" });
    await ledger.journal.conclude(id, {
      state: "unknown",
      attempt: { outcome: "unknown" },
      changes: [],
      audit: { kind: "unknown", body: {} },
    });
    await again();
    expect((await ledger.journal.attempts(id)).map((attempt) => [attempt.number, attempt.outcome])).toEqual([
      [1, "unknown"],
      [2, null],
    ]);
    await ledger.journal.conclude(id, doneWith());
    await expect(again()).rejects.toMatchObject({ code: "journal.moved-on" });
    expect(await ledger.journal.attempts(id)).toHaveLength(2);
  });

  it("that were planned before begin with their own row; what waits for a person is not sent", async () => {
    const { ledger } = await openLedger();
    await ledger.journal.plan({ runId: "r", operations: [update("1")] });
    const [planned] = await ledger.journal.plannedOf(of("1"));
    const { ids } = await ask(ledger, "2", { operations: [update("2")] });
    expect(await intend(ledger, update("1"), {}, planned?.id)).toBe(planned?.id);
    for (const id of [ids[0], undefined])
      await expect(intend(ledger, update("2"), {}, id)).rejects.toMatchObject({ code: "operation.not-approved" });
    expect((await ledger.journal.open()).map((row) => row.id)).toEqual([planned?.id]);
  });
});

describe("what is planned", () => {
  const waiting = update("1", { subject: "order:crm/1" });
  const by = { runId: "r", planId: null };

  it("is given up when it is planned anew, and what waits for a person or with that is not", async () => {
    const { ledger } = await openLedger();
    const { hold, ids } = await ask(ledger, "1", { operations: [update("1")] });
    expect(await ledger.journal.waitWith(of("1"), by, [{ operation: waiting, question: hold }])).toEqual([waiting]);
    await ledger.journal.plan({ ...by, operations: [update("1", { subject: "order:crm/2" })] });
    expect(await ledger.journal.drop(key("1"), "planned anew")).toBe(1);
    const rows = await ledger.journal.plannedOf(of("1"));
    expect(rows.map(({ operation, state, questionId }) => [operation.subject, state, questionId])).toEqual([
      ["customer:crm/1", "held", hold],
      ["order:crm/1", "held", hold],
    ]);
    expect((await ledger.journal.held()).length).toBe(2);

    // The same again keeps its row; what waits no more is given up, and what a person is asked about is not.
    const still = [{ operation: waiting, question: hold }];
    expect(await ledger.journal.waitWith(of("1"), by, still)).toEqual([]);
    expect((await ledger.journal.plannedOf(of("1"))).map(({ id }) => id)).toEqual(rows.map(({ id }) => id));
    expect(await ledger.journal.waitWith(of("1"), by, [])).toEqual([]);
    expect((await ledger.journal.plannedOf(of("1"))).map(({ id }) => id)).toEqual(ids);
  });

  it("of what takes a run back is another than that of runs", async () => {
    const { ledger } = await openLedger();
    await ask(ledger, "1", { operations: [update("1")], planId: "plan_1" });
    expect(await ledger.journal.plannedOf(of("1"))).toEqual([]);
    expect(await ledger.journal.plannedOf(of("1", true))).toHaveLength(1);
    await ledger.journal.waitWith(of("1"), by, []);
    expect(await ledger.journal.plannedOf(of("1", true))).toHaveLength(1);
    await intend(ledger, update("1"));
  });
});

describe("conclusions", () => {
  it("commit outcome, what is known by it and the audit entry together", async () => {
    const { ledger, path } = await openLedger();
    const id = await intend(ledger, update("1"));
    await ledger.journal.conclude(id, doneWith([linked("1", "E1")]));
    expect((await ledger.journal.byId(id))?.state).toBe("done");
    expect((await ledger.state.known(key("1"))).link?.enterpriseGlobalId).toBe("E1");
    const body = sqlite(path).prepare<[], string>("select body from audit").pluck().get() ?? "";
    expect(JSON.parse(body)).toMatchObject({
      operation: id,
      endpoint: "E4",
      customer: "crm/1",
      state: "done",
      note: "done",
    });
  });

  it.each(["in the changes", "in the audit entry"])("leave nothing at all when something throws %s", async (where) => {
    const { ledger, path } = await openLedger();
    const first = await intend(ledger, update("1"));
    await ledger.journal.conclude(first, doneWith([linked("1", "E1")]));
    const id = await intend(ledger, update("2"));
    // E1 is linked to the first customer; and an audit entry cannot hold what JSON cannot.
    const conclusion =
      where === "in the changes"
        ? doneWith([{ type: "enterprise-code", enterpriseGlobalId: "E2", code: "c" }, linked("2", "E1")])
        : { ...doneWith([linked("2", "E2")]), audit: { kind: "x", body: { number: Number.NaN } } };
    await expect(ledger.journal.conclude(id, conclusion)).rejects.toThrow();
    expect((await ledger.journal.byId(id))?.state).toBe("sending");
    expect((await ledger.journal.attempts(id))[0]?.finishedAt).toBeNull();
    expect((await ledger.state.known(key("2"))).link).toBeUndefined();
    expect(count(path, "enterprise_code")).toBe(0);
    expect(count(path, "audit")).toBe(1);
    expect(ledger.audit.verify()).toMatchObject({ good: true, entries: 1 });
    await ledger.journal.conclude(id, doneWith([linked("2", "E2")]));
  });

  it("that are handed over with what counts on them come to nothing together", async () => {
    const { ledger, path } = await openLedger();
    const first = await intend(ledger, update("1"));
    await ledger.journal.conclude(first, doneWith([linked("1", "E1")]));
    const id = await intend(ledger, update("2"));
    const after = new Sequence();
    const { committed } = ledger.journal.concludeAhead(id, doneWith([linked("2", "E1")]), after);
    const next = {
      operation: update("2", { subject: "order:crm/2" }),
      runId: null,
      wireHash: "w",
      nonce: "n",
      context: {},
    };
    const riding = [
      committed,
      ledger.journal.intend({ ...next, after }),
      ledger.state.recordAhead([{ type: "enterprise-code", enterpriseGlobalId: "E1", code: "c" }], after).committed,
      intend(ledger, update("3")),
    ];
    const outcomes = await Promise.allSettled(riding);
    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected", "fulfilled"]);
    await expect(committed).rejects.toMatchObject({ code: "ledger.contradiction" });
    expect((await ledger.journal.byId(id))?.state).toBe("sending");
    expect((await ledger.journal.open()).map(({ operation }) => operation.subject)).toEqual([
      "customer:crm/2",
      "customer:crm/3",
    ]);
    expect(count(path, "enterprise_code")).toBe(0);
    expect(ledger.audit.verify()).toMatchObject({ good: true, entries: 1 });
  });

  it("are final", async () => {
    const { ledger } = await openLedger();
    for (const state of ["done", "rejected", "dropped"] as const) {
      const id = await intend(ledger, update(state));
      await ledger.journal.conclude(id, { ...doneWith(), state });
      for (const expected of [undefined, { state, attempts: 1 }])
        await expect(ledger.journal.conclude(id, { ...doneWith(), expected })).rejects.toMatchObject({
          code: "journal.already-concluded",
        });
      expect((await ledger.journal.byId(id))?.state).toBe(state);
    }
  });

  it("that rest on an older look at the operation are refused", async () => {
    const { ledger } = await openLedger();
    const id = await intend(ledger, update("1"));
    const unknown = { ...doneWith(), state: "unknown" as const };
    await ledger.journal.conclude(id, { ...unknown, expected: { state: "sending", attempts: 1 } });
    await expect(
      ledger.journal.conclude(id, { ...doneWith(), expected: { state: "sending", attempts: 1 } }),
    ).rejects.toMatchObject({ code: "journal.moved-on" });
    await ledger.journal.intend({ operation: update("1"), id, runId: null, wireHash: "w", nonce: "n", context: {} });
    await ledger.journal.conclude(id, unknown);
    await expect(
      ledger.journal.conclude(id, { ...doneWith(), expected: { state: "unknown", attempts: 1 } }),
    ).rejects.toMatchObject({ code: "journal.moved-on" });
    expect((await ledger.journal.byId(id))?.state).toBe("unknown");
  });
});

describe("what is open", () => {
  it("is listed in the order in which it was begun, and its customers are to be looked at", async () => {
    const { ledger, time } = await openLedger();
    const ids: string[] = [];
    for (const customer of ["3", "1", "2"]) {
      time.at += 1;
      ids.push(await intend(ledger, update(customer)));
    }
    expect((await ledger.journal.open()).map((row) => row.id)).toEqual(ids);
    expect(await ledger.records.pendingCustomers(undefined, 10)).toEqual([key("1"), key("2"), key("3")]);
    expect(await ledger.records.pendingCustomers(key("1"), 1)).toEqual([key("2")]);
    await ledger.journal.conclude(ids[1] ?? "", { ...doneWith(), state: "parked" });
    expect(await ledger.records.pendingCustomers(undefined, 10)).toEqual([key("2"), key("3")]);
  });

  it("makes a different value of the same subject wait for the settle time", async () => {
    const { ledger, time } = await openLedger();
    expect(await ledger.journal.lastUncertain("customer:crm/1")).toBe(0);
    const id = await intend(ledger, update("1"));
    time.at += 500;
    await ledger.journal.conclude(id, { ...doneWith(), attempt: { outcome: "unknown" }, state: "unknown" });
    expect(await ledger.journal.lastUncertain("customer:crm/1")).toBe(time.at);
    expect(await ledger.journal.lastUncertain("customer:crm/2")).toBe(0);
  });
});

describe("asset numbers", () => {
  const wanted = (instanceId: string, quantity: number, given: string[] = []) => ({
    instanceId,
    quantity,
    given,
    wireNumber: (digits: string) => `A-${digits}`,
  });
  const fixed = (orderId: string, digits: string, unit: number) => ({
    number: `A-${digits}`,
    namespace: "crm",
    orderId,
    instanceId: "I",
    unit,
  });
  const taken = (...numbers: string[]): StateChange => ({ type: "numbers-taken", numbers, operationId: "op" });

  it("are fixed to an instance once and for good", async () => {
    const { ledger, path } = await openLedger();
    await ledger.state.record(key("1"), [taken("8000000001", "8000000002", "8000000003")]);
    expect(
      await ledger.state.write((rows, at) => rows.order.numbers.fixNumbers(key("O"), key("C"), [wanted("I", 2)], at)),
    ).toEqual({
      lacking: 0,
      clashing: [],
      fixed: [fixed("O", "8000000001", 0), fixed("O", "8000000002", 1)],
    });
    expect(
      await ledger.state.write((rows, at) => rows.order.numbers.fixNumbers(key("O"), key("C"), [wanted("I", 2)], at)),
    ).toEqual({
      lacking: 0,
      clashing: [],
      fixed: [],
    });
    expect(await ledger.state.read((rows) => rows.order.numbers.poolSize())).toBe(1);
    expect(
      await ledger.state.write((rows, at) => rows.order.numbers.fixNumbers(key("P"), key("C"), [wanted("I", 3)], at)),
    ).toEqual({
      lacking: 2,
      clashing: [],
      fixed: [fixed("P", "8000000003", 0)],
    });
    const rows = sqlite(path).prepare("select wire_number, order_id, unit from asset_number order by number").all();
    expect(rows).toEqual([
      { wire_number: "A-8000000001", order_id: "O", unit: 0 },
      { wire_number: "A-8000000002", order_id: "O", unit: 1 },
      { wire_number: "A-8000000003", order_id: "P", unit: 0 },
    ]);
  });

  it("are not handed out twice when the service hands them out twice", async () => {
    const { ledger } = await openLedger();
    await ledger.state.record(key("1"), [taken("8000000001")]);
    await ledger.state.write((rows, at) => rows.order.numbers.fixNumbers(key("O"), key("C"), [wanted("I", 1)], at));
    await ledger.state.record(key("1"), [taken("8000000001", "8000000002")]);
    expect(await ledger.state.read((rows) => rows.order.numbers.poolSize())).toBe(1);
    expect(
      await ledger.state.write((rows, at) => rows.order.numbers.fixNumbers(key("P"), key("C"), [wanted("I", 2)], at)),
    ).toEqual({
      lacking: 1,
      clashing: [],
      fixed: [fixed("P", "8000000002", 0)],
    });
  });

  it("that the CRM gives a unit by now take the place of one that it was never bought under, also in turn", async () => {
    const { ledger, path } = await openLedger();
    const fix = async (order: string, given: string[]) =>
      await ledger.state.write((rows, at) =>
        rows.order.numbers.fixNumbers(key(order), key("C"), [wanted("I", given.length, given)], at),
      );
    await ledger.state.record(key("1"), [taken("8000000001")]);
    await ledger.state.write((rows, at) => rows.order.numbers.fixNumbers(key("O"), key("C"), [wanted("I", 1)], at));
    expect((await fix("O", ["A-8000000007"])).fixed).toEqual([fixed("O", "8000000007", 0)]);
    // What one unit was given comes to another one of the same asset.
    expect((await fix("O", ["A-8000000008", "A-8000000007"])).clashing).toEqual([]);
    expect((await fix("P", ["A-8000000007"])).clashing).toEqual(["A-8000000007"]);
    // A number of the pool was sent once: nobody has it again.
    expect((await fix("P", ["A-8000000001"])).clashing).toEqual(["A-8000000001"]);
    const rows = sqlite(path)
      .prepare("select wire_number as number, order_id as o, unit from asset_number where ended_at is null order by 1")
      .all();
    expect(rows).toEqual([
      { number: "A-8000000007", o: "O", unit: 1 },
      { number: "A-8000000008", o: "O", unit: 0 },
    ]);
  });

  it("of a purchase in doubt stay its own, whatever the CRM gives by now", async () => {
    const { ledger } = await openLedger();
    await ledger.state.record(key("1"), [taken("8000000001")]);
    await ledger.state.write((rows, at) => rows.order.numbers.fixNumbers(key("O"), key("1"), [wanted("I", 1)], at));
    const id = await intend(ledger, { ...update("1"), records: [{ stream: "orders", ...key("O") }] });
    const given = [wanted("I", 1, ["A-8000000007"])];
    expect(
      (await ledger.state.write((rows, at) => rows.order.numbers.fixNumbers(key("O"), key("1"), given, at))).fixed,
    ).toEqual([]);
    await ledger.journal.conclude(id, { ...doneWith(), state: "rejected" });
    expect(
      (await ledger.state.write((rows, at) => rows.order.numbers.fixNumbers(key("O"), key("1"), given, at))).fixed,
    ).toHaveLength(1);
  });

  it("that the CRM gave to one asset are given to no other, by the CRM or from the pool", async () => {
    const { ledger, path } = await openLedger();
    expect(
      await ledger.state.write((rows, at) =>
        rows.order.numbers.fixNumbers(key("O"), key("C"), [wanted("I", 1, ["A-8000000001"])], at),
      ),
    ).toEqual({
      lacking: 0,
      clashing: [],
      fixed: [fixed("O", "8000000001", 0)],
    });
    expect(
      await ledger.state.write((rows, at) =>
        rows.order.numbers.fixNumbers(key("P"), key("C"), [wanted("I", 1, ["A-8000000001"])], at),
      ),
    ).toEqual({
      lacking: 0,
      clashing: ["A-8000000001"],
      fixed: [],
    });
    await ledger.state.record(key("1"), [taken("8000000001", "8000000002")]);
    expect(
      await ledger.state.write((rows, at) => rows.order.numbers.fixNumbers(key("Q"), key("C"), [wanted("I", 1)], at)),
    ).toEqual({
      lacking: 0,
      clashing: [],
      fixed: [fixed("Q", "8000000002", 0)],
    });
    const wires = sqlite(path).prepare("select wire_number from asset_number where order_id = 'Q'").pluck().all();
    expect(wires).toEqual(["A-8000000002"]);
    expect(await ledger.state.read((rows) => rows.order.numbers.poolSize())).toBe(0);
  });
});

describe("fire times", () => {
  const fireTime = (minute: number): string => new Date(Date.UTC(2026, 9, 1, 8, minute)).toISOString();

  it("fire once, and only forward", async () => {
    const { ledger } = await openLedger();
    expect(await ledger.schedule.claim("j", fireTime(1))).toBe(true);
    expect(await ledger.schedule.claim("j", fireTime(1))).toBe(false);
    expect(await ledger.schedule.claim("j", fireTime(3))).toBe(true);
    expect(await ledger.schedule.claim("j", fireTime(2))).toBe(false);
    expect(await ledger.schedule.claim("k", fireTime(2))).toBe(true);
    expect(await ledger.schedule.last("j")).toBe(fireTime(3));
  });

  it("that fired stay fired when the clock was set back, and the others may still fire", async () => {
    const { ledger, path } = await openLedger();
    for (const minute of [1, 3, 5]) await ledger.schedule.claim("j", fireTime(minute));
    await ledger.schedule.rewind("j", fireTime(0));
    expect(await ledger.schedule.last("j")).toBe(fireTime(0));
    ledger.close();
    const again = await reopened(path);
    const claims: boolean[] = [];
    for (const minute of [1, 2, 3, 4, 5, 6]) claims.push(await again.schedule.claim("j", fireTime(minute)));
    expect(claims).toEqual([false, true, false, true, false, true]);
  });

  it("are never set forward by a rewinding", async () => {
    const { ledger } = await openLedger();
    await ledger.schedule.claim("j", fireTime(1));
    await ledger.schedule.rewind("j", fireTime(9));
    expect(await ledger.schedule.last("j")).toBe(fireTime(1));
  });

  it("are claimed by one of two programs", async () => {
    const { ledger, path } = await openLedger();
    const other = await reopened(path);
    const claims = await Promise.all([ledger.schedule.claim("j", fireTime(1)), other.schedule.claim("j", fireTime(1))]);
    expect(claims.filter((claimed) => claimed)).toHaveLength(1);
  });

  it("are forgotten one by one after 400 days", async () => {
    const { ledger, path } = await openLedger();
    const later = Date.UTC(2027, 10, 20);
    await ledger.schedule.claim("j", fireTime(1));
    // As long as the clock is not trusted, none is.
    await ledger.schedule.claim("j", new Date(later).toISOString());
    expect(count(path, "fired_time")).toBe(2);
    await ledger.time.keep([], trustedAt(later));
    await ledger.schedule.claim("j", new Date(later + 86_400_000).toISOString());
    expect(count(path, "fired_time")).toBe(2);
  });
});
