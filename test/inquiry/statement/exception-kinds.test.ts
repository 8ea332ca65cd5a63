import { describe, expect, it } from "vitest";
import { operation } from "../../../src/engine/model/operation.ts";
import type { Row } from "../../../src/report/statement/shape.ts";
import { ask } from "../../support/world/asked.ts";
import type { LedgerWorld } from "../../support/world/ledger-world.ts";
import { canaries, key, orderRecord, staffRecord } from "../../support/world/records.ts";
import { agreedWorld } from "../agreed-world.ts";
import { october, stated } from "./stated.ts";

const told = async (world: LedgerWorld, fields: Parameters<typeof stated>[2] = {}): Promise<Row[]> =>
  (await stated(world.path, "exceptions", fields))["exceptions"] ?? [];

/** How many there are of each kind. */
function counts(rows: readonly Row[]): Record<string, number> {
  const groups = Object.groupBy(rows, ({ kind }) => String(kind));
  return Object.fromEntries(Object.entries(groups).map(([kind, found = []]) => [kind, found.length]));
}

describe("the statement of exceptions", () => {
  it("names everything that did not go its way, with what to do", async () => {
    const { world } = await agreedWorld();
    await world.read("orders", [
      { orders: orderRecord("O2", "C1") },
      { orders: orderRecord("O3", "C1") },
      { orders: orderRecord("O4", "C1") },
    ]);
    const rejected = await world.intend(await world.orderOperation(key("C1"), key("O2")));
    await world.ledger.journal.conclude(rejected, {
      state: "rejected",
      attempt: { outcome: "rejected", httpStatus: 299, code: "13004" },
      code: "13004",
      message: "the service does not accept the value of a field",
      changes: [],
      audit: { kind: "rejected", body: {} },
    });
    const parked = await world.intend(await world.orderOperation(key("C1"), key("O3")));
    await world.ledger.journal.conclude(parked, {
      state: "parked",
      attempt: { outcome: "unknown", detail: "time-out" },
      message: "the platform does not show the order",
      changes: [],
      audit: { kind: "parked", body: {} },
    });
    await world.ledger.records.setOutcomes(world.run, [
      {
        stream: "orders",
        key: key("O4"),
        outcome: "deferred",
        code: "customer.stale",
        reason: "amendment not enabled: lines changed",
      },
    ]);
    const { hold } = await ask(world.ledger, "C1");
    await world.reject("customers", undefined);
    await world.read("staff", [], { complete: false });
    await world.ledger.runs.finish(world.run, { state: "failed", exitCode: 1, balance: null, summary: null });
    const rows = await told(world);
    expect(counts(rows)).toEqual({
      deferred: 1,
      held: 1,
      parked: 1,
      quarantined: 1,
      rejected: 1,
      run: 1,
      "source-incomplete": 1,
    });
    const row = (kind: string) => rows.find((item) => item["kind"] === kind);
    expect(row("quarantined")).toMatchObject({
      place: "customers.csv:99",
      code: "missing",
      reason: "the row cannot be used",
    });
    expect(row("deferred")).toMatchObject({
      record: "order crm/O4",
      reason: "the record waits for what its code names",
    });
    expect(row("rejected")).toMatchObject({ operation: rejected, code: "13004", record: "order:crm/O2", attempts: 1 });
    expect(row("parked")).toMatchObject({
      next:
        `look on the platform. If it was done: crm-sync settle ${parked} --applied --reason TEXT. If it was not done: ` +
        `crm-sync settle ${parked} --not-applied --reason TEXT (the operator runs crm-sync)`,
    });
    expect(row("held")).toMatchObject({ hold, count: 1 });
    expect(row("source-incomplete")).toMatchObject({ source: "erp", record: "staff" });
    expect(row("run")).toMatchObject({ run: world.run, reason: "the run is failed" });
    expect(JSON.stringify(rows)).not.toMatch(canaries);
  });

  it("forgets what was over before the period, and what began after it", async () => {
    const { world } = await agreedWorld();
    await world.reject("staff", key("S9"), { customer: key("C1") });
    const kinds = async (from: string, to: string): Promise<unknown[]> =>
      (await told(world, { period: { label: "x", zone: "UTC", from, to } })).map((row) => row["kind"]);
    expect(await kinds("2026-09-01T00:00:00.000Z", october.from)).toEqual([]);
    expect(await kinds(october.from, october.to)).toEqual(["quarantined"]);
    expect(await kinds(october.to, "2026-12-01T00:00:00.000Z")).toEqual(["quarantined"]);
    world.now = Date.UTC(2026, 9, 20);
    await world.read("staff", [{ staff: staffRecord("S9", "C1") }], { close: true });
    expect(await kinds(october.from, october.to)).toEqual(["quarantined"]);
    expect(await kinds(october.to, "2026-12-01T00:00:00.000Z")).toEqual([]);
  });

  it("counts asset numbers that were lost, and operations that were in doubt and are settled", async () => {
    const { world } = await agreedWorld();
    const take = operation("take-asset-numbers", {
      customer: { namespace: "", id: "" },
      subject: "pool",
      records: [],
      target: {},
      payload: { size: 40 },
      reason: "the pool of asset numbers is empty",
      before: null,
      after: null,
    });
    const lost = await world.intend(take);
    await world.ledger.journal.conclude(lost, {
      state: "dropped",
      verdict: "the numbers are spent and lost",
      changes: [],
      audit: { kind: "numbers-lost", body: { asked: 40 } },
    });
    await world.read("orders", [{ orders: orderRecord("O2", "C1") }]);
    const doubtful = await world.intend(await world.orderOperation(key("C1"), key("O2")));
    const conclude = async (state: "unknown" | "done") =>
      await world.ledger.journal.conclude(doubtful, {
        state,
        ...(state === "unknown" ? { attempt: { outcome: "unknown" as const } } : { verdict: "applied" }),
        changes: [],
        audit: { kind: state, body: {} },
      });
    await conclude("unknown");
    expect(counts(await told(world))).toEqual({ "numbers-lost": 1, unknown: 1 });
    await conclude("done");
    const rows = await told(world);
    expect(counts(rows)).toEqual({ "numbers-lost": 1, settled: 1 });
    expect(rows.find((row) => row["kind"] === "numbers-lost")).toMatchObject({ count: 40, customer: null });
  });
});
