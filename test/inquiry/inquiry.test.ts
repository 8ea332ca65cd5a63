import { describe, expect, it } from "vitest";
import { openInquiry } from "../../src/inquiry/inquiry.ts";
import { explainText } from "../../src/report/explain-text.ts";
import { verdictOf } from "../../src/report/explain-verdict.ts";
import { runsText, runText } from "../../src/report/runs.ts";
import { statusText } from "../../src/report/status-text.ts";
import { waitingOf } from "../../src/report/today.ts";
import { operationText, quarantineListText, quarantineText, unsettledText } from "../../src/report/waiting.ts";
import { ask } from "../support/world/asked.ts";
import { canaries, canary, customerRecord, key, orderRecord, staffRecord } from "../support/world/records.ts";
import { collect, LedgerWorld, shownOf } from "../support/world/ledger-world.ts";

const now = "2026-10-05T08:00:00.000Z";

/**
 * A customer with a placed order, one whose outcome is unknown, one that is deferred, staff with an asset, and a record
 * in quarantine.
 */
async function livelyWorld(): Promise<LedgerWorld> {
  const world = await LedgerWorld.open();
  await world.read("customers", [{ customers: customerRecord("C1") }]);
  await world.link(key("C1"), "E1");
  await world.read("orders", [
    { orders: orderRecord("O1", "C1") },
    { orders: orderRecord("O2", "C1") },
    { orders: orderRecord("O3", "C1") },
  ]);
  await world.read("staff", [{ staff: staffRecord("S1", "C1", { assets: [{ instanceId: "A-O1" }] }) }]);
  await world.addStaff(key("C1"), key("S1"), "M1");
  const operation = await world.orderOperation(key("C1"), key("O1"));
  await world.place(key("C1"), key("O1"));
  await world.grant(key("C1"), key("S1"), "M1", "8000000001");
  await world.observe(key("C1"), shownOf(operation, "8000000001", "L-O1"));
  world.now += 3_600_000;
  const unknown = await world.intend(await world.orderOperation(key("C1"), key("O2")));
  await world.ledger.journal.conclude(unknown, {
    state: "unknown",
    attempt: { outcome: "unknown", detail: "the connection was reset" },
    settleAfter: "2026-10-01T09:02:00.000Z",
    message: "the connection was reset",
    changes: [],
    audit: { kind: "unknown", body: {} },
  });
  await world.ledger.journal.noteEvidence(unknown, {
    readings: [
      { at: "2026-10-01T09:01:00.000Z", seen: false, detail: { call: "(M6 ∪ E8) → M7", products: [[1, 0, 3]] } },
    ],
  });
  await world.ledger.records.setOutcomes(world.run, [
    {
      stream: "orders",
      key: key("O3"),
      outcome: "deferred",
      code: "operation.open",
      reason: `waits until the outcome of E5 on order:crm/O2 (${unknown}) is known`,
      again: true,
    },
  ]);
  await world.reject("customers", key("C9"), { customer: key("C9") });
  // Its run is on.
  world.ledger.runs.takeLock();
  return world;
}

describe("status", () => {
  it("counts what there is, and names what waits for a person with what to type", async () => {
    const world = await livelyWorld();
    const inquiry = await world.inquiry();
    const facts = await inquiry.status();
    expect(facts.records).toEqual([
      { stream: "customers", state: "current", count: 1, pending: 0 },
      { stream: "orders", state: "current", count: 3, pending: 2 },
      { stream: "staff", state: "current", count: 1, pending: 1 },
    ]);
    expect(facts.known).toEqual({ enterprises: 1, orders: 1, removed: 0, staff: 1, assignments: 1 });
    expect(facts.operations).toEqual([{ state: "unknown", count: 1 }]);
    expect(facts.open).toMatchObject([
      {
        standing: "deferred",
        stream: "orders",
        code: "operation.open",
        owner: "platform",
        count: 1,
        examples: [{ record: "crm/O3" }],
      },
      {
        standing: "quarantined",
        stream: "customers",
        code: "missing",
        owner: "crm",
        count: 1,
        since: "2026-10-01T09:00:00.000Z",
      },
    ]);
    expect(facts.pool).toEqual({ free: 1, inUse: 2 });
    expect(facts.running).toHaveLength(1);
    expect(facts.audit?.sequence).toBeGreaterThan(3);
    const today = { status: facts, assumptions: [], jobs: [], notFired: [] };
    expect(waitingOf(today, now).items.map(({ what, owner }) => `${what}, ${owner}`)).toEqual(
      expect.arrayContaining([
        "1 order waits (operation.open): crm/O3, platform",
        "1 customer is in quarantine (missing): crm/C9, CRM",
      ]),
    );
    const text = statusText(today, now, { all: true });
    expect(text).toContain("1 enterprise, 1 order placed, 1 staff member, 1 assignment");
    expect(text).toContain("operation.open");
    expect(text).toContain("→ crm-sync quarantine list");
    expect(text).not.toMatch(canaries);
  });

  it("asks for a decision on a hold and on a parked operation, before anything else", async () => {
    const world = await livelyWorld();
    const inquiry = await world.inquiry();
    const [open] = await collect(inquiry.unsettled());
    await world.ledger.journal.conclude(open?.id ?? "", {
      state: "parked",
      verdict: "waits for a person",
      message: "the platform does not show the order",
      changes: [],
      audit: { kind: "parked", body: {} },
    });
    const { hold } = await ask(world.ledger, "C1", { scope: "enterprise" });
    const facts = await inquiry.status();
    const today = { status: facts, assumptions: [], jobs: [], notFired: [] };
    expect(statusText(today, now)).toContain(`! hold ${hold} on crm/C1 (`);
    expect(waitingOf(today, now).items.map(({ cure }) => cure)).toEqual([
      expect.stringContaining(`crm-sync settle ${open?.id ?? ""} --applied`),
      `crm-sync approve ${hold} --reason TEXT, or crm-sync reject ${hold} --reason TEXT`,
      "crm-sync quarantine list",
      "decide the outcome of the operation: crm-sync settle list",
    ]);
  });
});

describe("explain", () => {
  it("tells the whole story of an order that was placed", async () => {
    const world = await livelyWorld();
    const inquiry = await world.inquiry();
    const facts = await inquiry.explain("orders", key("O1"));
    expect(facts.placed).toMatchObject([
      {
        channelOrderId: "CO-O1",
        origin: "placed",
        version: 1,
        licenceOrders: [{ licenseOrderId: "L-O1", licenseType: "cloud_account" }],
      },
    ]);
    expect(facts.numbers).toMatchObject([{ number: "8000000001", instanceId: "A-O1", origin: "pool" }]);
    expect(facts.operations.total).toBe(1);
    expect(facts.operations.newest[0]?.attempts).toHaveLength(1);
    expect(facts.audit.newest.map((entry) => entry.kind)).toEqual(["place-order"]);
    expect(facts.observations.map((item) => item.kind)).toEqual(["asset", "package", "product", "product", "product"]);
    expect(facts.assignments).toMatchObject([{ assetNumber: "8000000001", staff: { id: "S1" } }]);
    const text = explainText(facts, now);
    expect(text).toContain("order crm/O1: is placed as CO-O1");
    expect(text).toContain("licence order L-O1");
    expect(text).toContain("(private)");
    expect(text).not.toMatch(canaries);
  });

  it("says that an order waits for another one's outcome, and which", async () => {
    const world = await livelyWorld();
    const inquiry = await world.inquiry();
    const facts = await inquiry.explain("orders", key("O3"));
    const verdict = verdictOf(facts);
    expect(verdict.headline).toBe("order crm/O3: is not placed; it waits");
    expect(verdict.because[0]).toMatch(/^E5 on order:crm\/O2 \(op_\w+\) is unknown: the connection was reset/);
    expect(verdict.because.join("\n")).toContain("(operation.open)");
    expect(verdict.next).toEqual([
      "nothing: a run settles it by reading the platform, not before 2026-10-01T09:02:00.000Z",
    ]);
  });

  it("tells what a person should hold, holds, and held before", async () => {
    const world = await livelyWorld();
    world.now += 3_600_000;
    await world.ledger.state.record(key("C1"), [
      { type: "asset-revoked", assetNumber: "8000000001", operationId: null },
    ]);
    const inquiry = await world.inquiry();
    const facts = await inquiry.explain("staff", key("S1"));
    expect(facts.claims).toEqual([{ claim: "asset instance A-O1", numbers: ["8000000001"], isEnded: false }]);
    expect(facts.assignments).toMatchObject([
      { assetNumber: "8000000001", to: "2026-10-01T10:00:00.000Z", endedBy: null },
    ]);
    expect(facts.staffLinks).toMatchObject([{ memberGlobalId: "M1", to: null }]);
    expect(facts.audit.newest.map((entry) => entry.kind)).toEqual(["add-staff"]);
    const text = explainText(facts, now);
    expect(text).toContain("2026-10-01 10:00:00 UTC  crm-sync: asset 8000000001 found gone");
    expect(text).not.toMatch(canaries);
  });

  it("shows of a changed private field that it changed, and not what it was", async () => {
    const world = await livelyWorld();
    world.now += 3_600_000;
    await world.read("customers", [
      { customers: customerRecord("C1", { name: `${canary} new name`, branchName: "Branch 2" }) },
    ]);
    const inquiry = await world.inquiry();
    const facts = await inquiry.explain("customers", key("C1"));
    expect(facts.versions.map((version) => version.changed)).toEqual([["branchName", "name"], []]);
    expect(facts.dependents).toContainEqual({ stream: "orders", state: "current", code: "operation.open", count: 1 });
    const text = explainText(facts, now);
    expect(text).toMatch(/CRM: version 2; branchName: .+ → Branch 2; name: \(hidden\) → \(hidden\)/u);
    expect(text).toContain("branchName: Branch 2");
    expect(text).toContain("→ crm-sync explain order crm/O3");
    expect(JSON.stringify(facts)).not.toMatch(canaries);
    expect(text).not.toMatch(canaries);
  });

  it("names a change in one of several features with the same code", async () => {
    const world = await livelyWorld();
    const features = (value: string) =>
      ["P1-O1", "P2-O1"].map((parentId) => ({
        kind: "feature" as const,
        parentId,
        code: "F",
        name: "Feature",
        value: parentId === "P1-O1" ? value : "on",
        valueType: "switch",
        trial: false,
      }));
    const order = orderRecord("O1", "C1");
    for (const value of ["on", "off"]) {
      world.now += 1_000;
      await world.read("orders", [{ orders: { ...order, instances: [...order.instances, ...features(value)] } }]);
    }
    const inquiry = await world.inquiry();
    const facts = await inquiry.explain("orders", key("O1"));
    expect(facts.versions[0]?.changed).toEqual(["instances[P1-O1/F].value"]);
    expect(explainText(facts, now)).toContain("instances[P1-O1/F]: code F, kind feature, name Feature");
  });

  it("leads from a record in quarantine to its entry, and from an unknown id to what may be meant", async () => {
    const world = await livelyWorld();
    const inquiry = await world.inquiry();
    const quarantined = verdictOf(await inquiry.explain("customers", key("C9")));
    expect(quarantined.headline).toBe("customer crm/C9 was read and cannot be used");
    expect(quarantined.next[0]).toBe(
      "correct the field that the message names, in the CRM or in the mapping; the next run maps the record again",
    );
    const wrong = verdictOf(await inquiry.explain("customers", key("CO-O1")));
    expect(wrong.headline).toBe("the CRM has not given customer crm/CO-O1");
    expect(wrong.next[0]).toBe("crm-sync explain order crm/O1, if you meant that one");
    const nobody = verdictOf(await inquiry.explain("orders", key("none")));
    expect(nobody.next).toHaveLength(1);
  });

  it("says since when a record is missing from its source, and that its last reading failed", async () => {
    const world = await livelyWorld();
    await world.read("orders", [{ orders: orderRecord("O1", "C1") }], { close: true });
    await world.read("orders", [{ orders: orderRecord("O1", "C1") }], { complete: false });
    const inquiry = await world.inquiry();
    const missed = verdictOf(await inquiry.explain("orders", key("O3")));
    expect(missed.because.join("\n")).toContain("the last 1 complete reading of erp lacked it");
    expect(missed.because.join("\n")).toContain("the last reading of erp was not complete");
    await world.read("orders", [{ orders: orderRecord("O1", "C1") }], { close: true });
    const gone = verdictOf(await inquiry.explain("orders", key("O3")));
    expect(gone.headline).toContain("the CRM no longer has it");
  });
});

describe("quarantine, operations and runs", () => {
  it("shows a record in quarantine without its raw form, until a person asks for it", async () => {
    const world = await livelyWorld();
    const inquiry = await world.inquiry();
    const rows = await collect(inquiry.quarantine());
    expect(rows).toMatchObject([
      { stream: "customers", key: { id: "C9" }, code: "missing", field: "branchCode", state: "open" },
    ]);
    expect(quarantineListText(rows)).toContain("customers.csv:99");
    const [row] = rows;
    if (row === undefined) throw new Error("nothing in quarantine");
    expect(quarantineText(row)).not.toMatch(canaries);
    expect(quarantineText(row)).toContain("the next run maps the record again");
    expect(quarantineText(row, await inquiry.rawForm(row.id))).toContain(canary);
    expect(await collect(inquiry.quarantine({ stream: "orders" }))).toEqual([]);
    expect(await inquiry.quarantineById("q-none")).toBeUndefined();
  });

  it("gives a person everything needed to settle an operation, and no private value", async () => {
    const world = await livelyWorld();
    const inquiry = await world.inquiry();
    const [row, ...more] = await collect(inquiry.unsettled());
    expect(more).toEqual([]);
    if (row === undefined) throw new Error("nothing is open");
    expect(row).toMatchObject({
      endpoint: "E5",
      subject: "order:crm/O2",
      state: "unknown",
      evidence: [{ seen: false }],
      attempts: [{ number: 1, outcome: "unknown", detail: "the connection was reset" }],
      records: [{ stream: "orders", key: { id: "O2" } }],
    });
    const text = operationText(row);
    expect(text).toContain(`nonce ${row.attempts[0]?.nonce}`);
    expect(text).toContain("not seen: call (M6 ∪ E8) → M7");
    expect(text).toContain('"$ref": "assetNumber"');
    expect(text).not.toMatch(canaries);
    expect(unsettledText([row])).toContain("order:crm/O2");
    expect(await inquiry.operation(row.id)).toEqual(row);
  });

  it("shows a run with what it read, its balance and how its operations ended", async () => {
    const world = await livelyWorld();
    const streams = [
      {
        stream: "orders",
        extracted: 3,
        takenUpAgain: 0,
        unchanged: 0,
        workedOn: 2,
        quarantined: 0,
        deferred: 1,
        rejected: 0,
        skipped: 0,
        adds: true,
      },
    ];
    const operations = {
      planned: 4,
      carriedIn: 0,
      done: 3,
      rejected: 0,
      unknown: 1,
      held: 0,
      notAttempted: 0,
      adds: true,
    };
    await world.ledger.runs.finish(world.run, {
      state: "done",
      exitCode: 5,
      balance: { streams, operations, adds: true },
      summary: { customers: { worked: 1, finished: 0 }, openOperations: 1 },
    });
    const inquiry = await world.inquiry();
    const story = await inquiry.run(world.run);
    if (story === undefined) throw new Error("no such run");
    expect(story.reads.map((read) => read.stream)).toEqual(["customers", "orders", "staff", "customers"]);
    expect(story.operations).toContainEqual({ kind: "place-order", state: "unknown", count: 1 });
    expect(story.records).toContainEqual({ stream: "orders", outcome: "deferred", count: 1 });
    const text = runText(story, await inquiry.notAttempted(world.run));
    expect(text).toContain(": the outcome of some operations is not known (exit 5).");
    expect(text).toMatch(/orders +3 += +0 +2 +1 +adds up/);
    expect(text).toContain("openOperations: 1");
    expect(await inquiry.run("run_none")).toBeUndefined();
    world.now += 60_000;
    await world.startRun("staff");
    const list = await inquiry.runs();
    expect(list.map((run) => run.job)).toEqual(["staff", "customers-and-orders"]);
    expect(runsText(list)).toContain("adds up");
    const [newest] = list;
    if (newest === undefined) throw new Error("no runs");
    expect((await inquiry.runs({ before: newest })).map((run) => run.job)).toEqual(["customers-and-orders"]);
  });

  it("answers other questions in the middle of a stream, and sees one state of the ledger meanwhile", async () => {
    const world = await livelyWorld();
    for (let index = 0; index < 5; index += 1) await world.reject("orders", key(`Q${index}`), { customer: key("C1") });
    const inquiry = await world.inquiry();
    const seen: number[] = [];
    for (const row of inquiry.quarantine({ stream: "orders" })) {
      if (seen.length === 0) await world.reject("orders", key("late"), { customer: key("C1") });
      const facts = await inquiry.explain("orders", row.key ?? key(""));
      seen.push(facts.customer?.quarantined ?? 0);
    }
    expect(seen).toEqual([5, 5, 5, 5, 5]);
    expect(await collect(inquiry.quarantine({ stream: "orders" }))).toHaveLength(6);
    for (const row of inquiry.quarantine({ stream: "orders" })) if (row.id !== "") break;
    await world.reject("orders", key("later"), { customer: key("C1") });
    expect((await inquiry.status()).open).toContainEqual(expect.objectContaining({ stream: "orders", count: 7 }));
  });

  it("refuses a ledger that is not there", async () => {
    const world = await LedgerWorld.open();
    expect(() => openInquiry(`${world.path}.none`)).toThrow(
      expect.objectContaining({ code: "ledger.missing", exitCode: 65 }),
    );
  });
});

describe("a damaged ledger", () => {
  it("is refused by name where a row cannot be read, and answers what does not need that row", async () => {
    const world = await livelyWorld();
    const inquiry = await world.inquiry();
    const { default: Database } = await import("better-sqlite3");
    const file = new Database(world.path);
    file.prepare("update record_version set body = '{' where stream = 'orders' and id = 'O1'").run();
    await expect(inquiry.explain("orders", key("O1"))).rejects.toMatchObject({ code: "ledger.damaged", exitCode: 65 });
    const [run, ...others] = await inquiry.runs();
    expect(others).toEqual([]);
    file.prepare("update run set summary = '{'").run();
    file.close();
    const damage = { code: "ledger.damaged", exitCode: 65, place: expect.stringMatching(/^run run_/u) };
    await expect(inquiry.runs()).rejects.toMatchObject(damage);
    await expect(world.ledger.runs.lastOf(run?.job ?? "", 1)).rejects.toMatchObject(damage);
  });
});
