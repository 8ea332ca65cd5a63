import { describe, expect, it } from "vitest";
import type { Row } from "../../../src/report/statement/shape.ts";
import { LedgerWorld } from "../../support/world/ledger-world.ts";
import { customerRecord, key, orderRecord } from "../../support/world/records.ts";
import { cells, month, statementOf } from "./statement-world.ts";

const at = (text: string): number => Date.parse(`2026-${text}Z`);

/** Two customers with an enterprise each, on 2 October, and an order of each. */
async function companies(): Promise<LedgerWorld> {
  const world = await LedgerWorld.open();
  world.now = at("10-02T10:00:00");
  for (const id of ["C1", "C2"]) {
    await world.read("customers", [{ customers: customerRecord(id) }]);
    await world.link(key(id), `E-${id}`);
    const amount = { currency: id === "C1" ? "EUR" : "USD", minor: 10_000 };
    await world.read("orders", [{ orders: orderRecord(`O-${id}`, id, { amount }) }]);
  }
  return world;
}

const rowsOf = async (world: LedgerWorld, label: string): Promise<Row[]> =>
  (await statementOf(world.path, "exceptions", month(label)))["exceptions"] ?? [];

/** An order is refused, as a run keeps it. */
async function refuse(world: LedgerWorld, order: string, customer: string): Promise<string> {
  const refused = await world.intend(await world.orderOperation(key(customer), key(order)));
  const record = { stream: "orders", ...key(order) } as const;
  await world.ledger.journal.conclude(refused, {
    state: "rejected",
    attempt: { outcome: "rejected", httpStatus: 299, code: "40006" },
    code: "40006",
    message: "frozen",
    changes: [],
    rejections: {
      customer: key(customer),
      kind: "place-order",
      settings: "s",
      parts: [{ record, hash: "h", code: "40006", reason: "frozen", shared: false }],
    },
    audit: { kind: "rejected", body: {} },
  });
  return refused;
}

describe("the exceptions of a month", () => {
  it(
    "are what stood at its end, also once it is settled, and what was settled in it says when",
    { tags: "long" },
    async () => {
      const world = await companies();
      world.now = at("10-30T10:00:00");
      const parked = await world.intend(await world.orderOperation(key("C1"), key("O-C1")));
      await world.ledger.journal.conclude(parked, {
        state: "parked",
        attempt: { outcome: "unknown", detail: "time-out" },
        message: "not shown",
        changes: [],
        audit: { kind: "parked", body: {} },
      });
      const waits = { stream: "orders", key: key("O-C2"), code: "assumption.missing", reason: "no answer" } as const;
      await world.ledger.records.setOutcomes(world.run, [{ ...waits, outcome: "deferred" }]);
      await world.reject("staff", key("S1"), { customer: key("C2") });
      const told = ["kind", "open", "owner", "age_hours", "at_stake", "at_stake_currency"] as const;
      world.now = at("11-03T10:00:00");
      await world.ledger.runs.finish(world.run, { state: "done", exitCode: 3, balance: {}, summary: {} });
      await world.startRun();
      const said = async (): Promise<unknown[]> =>
        cells(await rowsOf(world, "2026-10"), "kind", "code", "reason").at(-1) ?? [];
      const parkedThen = await said();
      const before = cells(await rowsOf(world, "2026-10"), ...told);
      expect(before).toEqual([
        ["quarantined", true, "crm", 37, null, null],
        ["deferred", true, "configuration", 37, 10_000, "USD"],
        ["parked", true, "operator", 37, 10_000, "EUR"],
      ]);
      await world.ledger.journal.conclude(parked, {
        state: "dropped",
        verdict: "a person decided: not applied",
        message: "not applied",
        changes: [],
        audit: { kind: "settled", body: {} },
      });
      await world.ledger.records.setOutcomes(world.run, [{ ...waits, outcome: "planned" }]);
      await world.reject("staff", key("S1"), { customer: key("C2"), code: "not-a-date" });
      await world.read("staff", [], { close: true });
      const after = await rowsOf(world, "2026-10");
      expect(cells(after, ...told)).toEqual(before);
      // What was decided since was not known then.
      expect(parkedThen).toEqual(["parked", null, "E5 place-order: parked"]);
      expect(await said()).toEqual(["parked", null, "E5 place-order: parked; it is dropped since"]);
      expect(cells(after, "kind", "code", "until", "next")).toEqual([
        ["quarantined", "missing", "2026-11-03T10:00:00.000Z", "nothing: it has ended since"],
        ["deferred", "assumption.missing", "2026-11-03T10:00:00.000Z", "nothing: it has ended since"],
        ["parked", null, "2026-11-03T10:00:00.000Z", "nothing: it has ended since"],
      ]);
      // The next month tells of it as what was over in it; what came and went in it as well.
      expect(cells(await rowsOf(world, "2026-11"), "kind", "open", "owner", "code")).toEqual([
        ["quarantined", false, null, "missing"],
        ["quarantined", false, null, "not-a-date"],
        ["deferred", false, null, "assumption.missing"],
        ["settled", false, null, null],
      ]);
      expect(await rowsOf(world, "2026-12")).toEqual([]);
    },
  );

  it(
    "have at stake what was not placed at its end, also once it is placed or gone, and nothing that came later",
    { tags: "long" },
    async () => {
      const world = await companies();
      await world.place(key("C1"), key("O-C1"));
      const eur = (minor: number) => ({ amount: { currency: "EUR", minor } });
      const waiting = ["W1", "W2", "W3"].map((id, index) => ({
        orders: orderRecord(id, "C1", eur(100 * (index + 1))),
      }));
      await world.read("orders", waiting);
      world.now = at("10-30T10:00:00");
      await world.reject("customers", key("C1"), { customer: key("C1") });
      const told = async (label: string) =>
        cells(await rowsOf(world, label), "kind", "customer", "orders", "at_stake", "at_stake_currency");
      const three = [["quarantined", "crm/C1", 3, 600, "EUR"]];
      expect(await told("2026-10")).toEqual(three);
      world.now = at("11-05T10:00:00");
      await world.startRun();
      await world.read("customers", [{ customers: customerRecord("C1", { branchCode: "B7" }) }]);
      await world.place(key("C1"), key("W1"));
      await world.place(key("C1"), key("W2"));
      await world.read("orders", [{ orders: orderRecord("W4", "C1", eur(1_000)) }]);
      expect(await told("2026-10")).toEqual(three);
      expect(await told("2026-11")).toEqual([["quarantined", "crm/C1", 2, 1_300, "EUR"]]);
      // W3 is gone from the CRM.
      for (const day of ["11-06", "11-07"]) {
        world.now = at(`${day}T10:00:00`);
        const left = ["O-C1", "W1", "W2", "W4"].map((id) => ({ orders: orderRecord(id, "C1", eur(1_000)) }));
        await world.read("orders", left, { close: true });
      }
      expect(await told("2026-11")).toEqual([["quarantined", "crm/C1", 1, 1_000, "EUR"]]);
      expect((await told("2026-10"))[0]?.slice(0, 3)).toEqual(["quarantined", "crm/C1", 3]);
    },
  );

  it("have a reading and a run that ended badly as over, with what to do about them", async () => {
    const world = await companies();
    world.now = at("10-05T10:00:00");
    const run = await world.startRun();
    world.now += 3_600_000;
    await world.read("staff", [], { complete: false });
    world.now += 3_600_000;
    await world.ledger.runs.finish(run, { state: "failed", exitCode: 1, balance: null, summary: null });
    const late = await world.startRun("staff");
    world.now = at("11-02T10:00:00");
    await world.ledger.runs.finish(late, { state: "failed", exitCode: 1, balance: null, summary: null });
    const told = cells(await rowsOf(world, "2026-10"), "kind", "open", "owner", "until", "age_hours", "next");
    const over = "2026-10-05T12:00:00.000Z";
    expect(told).toEqual([
      [
        "source-incomplete",
        false,
        null,
        "2026-10-05T11:00:00.000Z",
        0,
        "crm-sync check tries the source (the operator runs crm-sync)",
      ],
      ["run", false, null, over, 2, `crm-sync run show ${run} (the operator runs crm-sync)`],
      // This one went on when the month was over.
      [
        "run",
        true,
        "operator",
        "2026-11-02T10:00:00.000Z",
        635,
        `crm-sync run show ${late} (the operator runs crm-sync)`,
      ],
    ]);
    expect(await rowsOf(world, "2026-11")).toEqual([]);
  });

  it("have a refused order in each month until it is placed, and then how that came", async () => {
    const world = await companies();
    world.now = at("10-05T10:00:00");
    const refused = await refuse(world, "O-C1", "C1");
    world.now = at("11-20T10:00:00");
    await world.startRun();
    const open = [["rejected", true, "platform", null]];
    const told = async (label: string) => cells(await rowsOf(world, label), "kind", "open", "owner", "until");
    expect(await told("2026-09")).toEqual([]);
    expect([await told("2026-10"), await told("2026-11")]).toEqual([open, open]);
    const placed = await world.place(key("C1"), key("O-C1"));
    const until = "2026-11-20T10:00:00.000Z";
    expect(await told("2026-10")).toEqual([["rejected", true, "platform", until]]);
    expect(await told("2026-11")).toEqual([["rejected", false, null, until]]);
    expect(await told("2026-12")).toEqual([]);
    const [row] = await rowsOf(world, "2026-11");
    expect(row).toMatchObject({ operation: refused, next: "nothing: it is over" });
    expect(row?.["reason"]).toBe(`E5 place-order: rejected; done since by ${placed}`);
  });

  it("have no refused order open that the CRM has changed or taken away since", async () => {
    const world = await companies();
    world.now = at("10-05T10:00:00");
    await refuse(world, "O-C1", "C1");
    await refuse(world, "O-C2", "C2");
    world.now = at("10-06T10:00:00");
    await world.read("orders", [{ orders: orderRecord("O-C1", "C1", { amount: { currency: "EUR", minor: 1 } }) }], {
      close: true,
    });
    world.now = at("10-07T10:00:00");
    await world.startRun();
    expect(cells(await rowsOf(world, "2026-10"), "customer", "open", "until")).toEqual([
      ["crm/C1", false, "2026-10-06T10:00:00.000Z"],
      ["crm/C2", true, null],
    ]);
    await world.read("orders", [{ orders: orderRecord("O-C1", "C1", { amount: { currency: "EUR", minor: 1 } }) }], {
      close: true,
    });
    expect(cells(await rowsOf(world, "2026-10"), "customer", "open", "until")).toEqual([
      ["crm/C1", false, "2026-10-06T10:00:00.000Z"],
      ["crm/C2", false, "2026-10-07T10:00:00.000Z"],
    ]);
  });
});
