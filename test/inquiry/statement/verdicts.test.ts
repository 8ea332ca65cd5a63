import { describe, expect, it } from "vitest";
import type { Cell, Row } from "../../../src/report/statement/shape.ts";
import { product } from "../../support/world/instances.ts";
import { LedgerWorld } from "../../support/world/ledger-world.ts";
import { customerRecord, key, orderRecord, staffRecord } from "../../support/world/records.ts";
import { agreedWorld, changed } from "../agreed-world.ts";
import { october, stated } from "./stated.ts";

const itemsOf = async (world: LedgerWorld, fields: Parameters<typeof stated>[2] = {}): Promise<Row[]> =>
  (await stated(world.path, "reconciliation", fields))["items"] ?? [];

const withVerdict = async (world: LedgerWorld, verdict: string): Promise<Row[]> =>
  (await itemsOf(world)).filter((row) => row["verdict"] === verdict);

/** How many items there are of each level and verdict. */
async function verdicts(world: LedgerWorld): Promise<Record<string, number>> {
  const groups = Object.groupBy(await itemsOf(world), ({ level, verdict }) => `${String(level)} ${String(verdict)}`);
  return Object.fromEntries(Object.entries(groups).map(([name, rows = []]) => [name, rows.length]));
}

const firstOf = (list: Cell | undefined): unknown => (Array.isArray(list) ? list[0] : undefined);

describe("the verdicts of a reconciliation", () => {
  it("matches everything that the CRM wants, was sent, and is shown equal", { tags: "long" }, async () => {
    const { world } = await agreedWorld();
    expect(await verdicts(world)).toEqual({
      "assignment matched": 1,
      "enterprise matched": 1,
      "order matched": 1,
      "package matched": 1,
      "product matched": 3,
      "staff matched": 1,
    });
    const inquiry = await world.inquiry();
    expect(await inquiry.agreement()).toEqual([
      { what: "enterprises", matched: 1, total: 1, unsent: 0 },
      { what: "orders", matched: 1, total: 1, unsent: 0 },
      { what: "products", matched: 3, total: 3, unsent: 0 },
      { what: "packages", matched: 1, total: 1, unsent: 0 },
      { what: "staff", matched: 1, total: 1, unsent: 0 },
      { what: "assignments", matched: 1, total: 1, unsent: 0 },
    ]);
  });

  it.each([
    ["limitConcurrent", { limitConcurrent: 4 }, "limitConcurrent: sent 5, shown 4"],
    ["productName", { productName: "other" }, "productName: shown otherwise than it was sent"],
    ["timeDurationExpression", { timeDurationExpression: "2-0-0" }, "timeDurationExpression: sent 1-0-0, shown 2-0-0"],
    ["channelOrderId", { channelOrderId: "CO-9" }, "channelOrderId: sent CO-O1, shown CO-9"],
    ["licenseOrderId", { licenseOrderId: "L-9" }, "licenseOrderId: sent L-O1, shown L-9"],
    ["trial", { trial: 1 }, "trial: sent 0, shown 1"],
    ["limitTimeDuration", { limitTimeDuration: 9 }, "limitTimeDuration: sent 0, shown 9"],
  ])("says which field is shown otherwise than it was sent (%s)", async (_, fields, expected) => {
    const { world, shown } = await agreedWorld();
    await world.observe(key("C1"), changed(shown, "product", "8000000001/P1-O1", fields));
    const different = await withVerdict(world, "different");
    expect(different.map((row) => [row["level"], row["item"]])).toEqual([
      ["order", null],
      ["product", "P1-O1"],
    ]);
    expect(different[1]?.["details"]).toEqual([expected]);
  });

  it("takes a Long and its text for the same, and compares limits under both of their names", async () => {
    const { world, shown } = await agreedWorld();
    await world.observe(key("C1"), changed(shown, "product", "8000000001/P2-O1", { limitConcurrent: "1" }));
    expect((await verdicts(world))["product matched"]).toBe(3);
    await world.observe(key("C1"), changed(shown, "product", "8000000001/P2-O1", { limitEndTime: 1 }));
    expect((await withVerdict(world, "different"))[1]?.["details"]).toEqual([
      `limitEndDate: sent ${Date.UTC(2027, 9, 1)}, shown 1`,
    ]);
  });

  it("misses a product that M7 no longer shows, and an asset that nobody holds", async () => {
    const { world, shown } = await agreedWorld();
    await world.observe(
      key("C1"),
      changed(shown, "asset", "8000000001", { holder: null }).filter((item) => item.subject !== "8000000001/P3-O1"),
    );
    const missing = await withVerdict(world, "missing");
    expect(missing.map((row) => [row["level"], row["item"] ?? row["asset_number"], row["details"]])).toEqual([
      ["order", null, ["1 missing"]],
      ["product", "P3-O1", ["M7 does not show it under its asset"]],
      ["assignment", "8000000001", ["nobody holds the asset number"]],
    ]);
  });

  it("calls what is there and not ours extra", async () => {
    const { world, shown } = await agreedWorld();
    await world.observe(key("C1"), [
      ...shown,
      { kind: "product", subject: "9/PX", body: { channelOrderId: "foreign", licenseType: "softkey" } },
      { kind: "asset", subject: "9", body: { assetId: "a9", holder: "M9", borrowed: false } },
      { kind: "enterprise", subject: "E2", body: { customers: [] } },
    ]);
    const extra = await withVerdict(world, "extra");
    expect(extra.map((row) => [row["level"], row["asset_number"], row["details"]])).toEqual([
      ["enterprise", null, ["E3 shows E2 too, which is not linked to this customer"]],
      ["product", "9", ["the platform shows it, and it belongs to no order of this customer"]],
      ["assignment", "9", ["held by a member that crm-sync did not assign it to"]],
    ]);
  });

  it("does not take what cannot be seen for missing", async () => {
    const { world, shown } = await agreedWorld();
    const world2 = await LedgerWorld.open();
    await world2.read("customers", [{ customers: customerRecord("C1") }]);
    await world2.link(key("C1"), "E1");
    await world2.read("orders", [{ orders: orderRecord("O1", "C1") }]);
    await world2.place(key("C1"), key("O1"));
    expect(Object.keys(await verdicts(world2)).toSorted()).toEqual([
      "enterprise not-observable",
      "order not-observable",
      "package not-observable",
      "product not-observable",
    ]);
    // A complete reading of an enterprise of which nothing was ever shown: the type may be one that M6 does not show.
    await world2.observe(key("C1"), [{ kind: "enterprise", subject: "E1", body: { customers: [] } }]);
    const unseen = await withVerdict(world2, "not-observable");
    expect(unseen.find((row) => row["level"] === "product")?.["details"]).toEqual([
      "the platform has shown no cloud_account yet (A43)",
    ]);
    // Where the type was shown before, the same is missing.
    await world.observe(
      key("C1"),
      shown.filter((item) => item.kind === "enterprise" || item.kind === "member"),
    );
    expect((await withVerdict(world, "missing")).map((row) => row["level"])).toEqual([
      "order",
      "product",
      "product",
      "product",
      "package",
      "assignment",
    ]);
  });

  it("shows the age of what was seen, and that the last reading failed", async () => {
    const { world } = await agreedWorld();
    world.now += 30 * 3_600_000;
    await world.ledger.state.record(key("C1"), [{ type: "observation-failed", customer: key("C1") }]);
    await world.ledger.runs.finish(world.run, { state: "done", exitCode: 7, balance: null, summary: null });
    const rows = await itemsOf(world);
    expect(rows.filter((row) => row["verdict"] === "matched").map((row) => row["age_hours"])).toEqual(
      Array.from({ length: 8 }, () => 30),
    );
  });

  it("sees what the CRM changed, dropped and cancelled after an order was placed", async () => {
    const { world } = await agreedWorld();
    const order = orderRecord("O1", "C1");
    const instances = order.instances
      .filter((item) => item.kind === "feature" || item.kind === "extension" || item.id !== "P2-O1")
      .map((item) => (item.kind === "product" && item.id === "P1-O1" ? { ...item, nodes: 7 } : item));
    await world.read("orders", [{ orders: { ...order, instances: [...instances, product("P9-O1", "A-O1")] } }]);
    await world.ledger.records.setOutcomes(world.run, [
      {
        stream: "orders",
        key: key("O1"),
        outcome: "deferred",
        code: "customer.stale",
        reason: "amendment not enabled: lines changed",
      },
    ]);
    const rows = await itemsOf(world);
    const products = rows.filter((row) => row["level"] === "product");
    expect(products.map((row) => [row["item"], row["verdict"], firstOf(row["details"])])).toEqual([
      ["P1-O1", "different", "CRM nodes: placed with 5, now 7"],
      ["P2-O1", "extra", "the CRM no longer has it in the order, which stays unchanged"],
      ["P3-O1", "matched", "waits: customer.stale"],
      ["P9-O1", "missing", "not sent: the order was placed without it"],
    ]);
    await world.read("orders", [{ orders: { ...order, cancelled: true } }]);
    expect((await verdicts(world))["product extra"]).toBe(3);
  });

  it("lists what the CRM wants and was never sent, with why", async () => {
    const { world } = await agreedWorld();
    await world.read("customers", [{ customers: customerRecord("C2") }]);
    await world.read("orders", [{ orders: orderRecord("O7", "C2") }]);
    await world.read("staff", [{ staff: staffRecord("S7", "C2", { assets: [{ assetNumber: "55" }] }) }]);
    await world.reject("orders", key("O8"), { customer: key("C2") });
    for (const [stream, id] of [
      ["customers", "C2"],
      ["orders", "O7"],
      ["staff", "S7"],
    ] as const) {
      await world.ledger.records.setOutcomes(world.run, [
        { stream, key: key(id), outcome: "deferred", code: "enterprise.rejected", reason: "E2 was rejected" },
      ]);
    }
    const missing = (await withVerdict(world, "missing")).filter((row) => row["customer"] === "crm/C2");
    expect(missing.map((row) => [row["level"], row["details"]])).toEqual([
      ["enterprise", ["not sent: enterprise.rejected"]],
      ["order", ["not sent: enterprise.rejected", "4 missing"]],
      ["product", ["not sent: enterprise.rejected"]],
      ["product", ["not sent: enterprise.rejected"]],
      ["product", ["not sent: enterprise.rejected"]],
      ["package", ["not sent: enterprise.rejected"]],
      ["staff", ["not sent: enterprise.rejected"]],
      ["assignment", ["asset number 55: not sent: enterprise.rejected"]],
      ["order", ["waits in quarantine: missing"]],
    ]);
  });

  it("calls an assignment extra when the CRM no longer gives it, and different when another member holds it", async () => {
    const { world, shown } = await agreedWorld();
    await world.observe(key("C1"), changed(shown, "asset", "8000000001", { holder: "M2" }));
    expect((await withVerdict(world, "different")).map((row) => row["details"])).toEqual([
      ["held by the member M2"],
      ["M5 shows it with the member M1, and M6 with the member M2; nothing is done on it (A34)"],
    ]);
    await world.observe(key("C1"), shown);
    await world.read("staff", [{ staff: staffRecord("S1", "C1") }]);
    expect((await withVerdict(world, "extra")).map((row) => [row["level"], row["details"]])).toEqual([
      ["assignment", ["the CRM no longer gives it to this person"]],
    ]);
  });

  it("compares an adopted order with what the CRM says, under the numbers it is shown with", async () => {
    const { world, shown } = await agreedWorld();
    await world.read("customers", [{ customers: customerRecord("C2") }]);
    await world.link(key("C2"), "E2");
    await world.read("orders", [{ orders: orderRecord("O5", "C2") }]);
    await world.ledger.state.record(key("C2"), [
      {
        type: "order-placed",
        order: key("O5"),
        customer: key("C2"),
        channelOrderId: "CO-O5",
        bodyHash: "h",
        version: 1,
        products: 1,
        operationId: null,
        origin: "adopted",
        licenceOrders: [{ sequence: 1, licenseType: "cloud_account", platformCustomerId: "", licenseOrderId: "L-O5" }],
      },
    ]);
    const theirs = JSON.parse(
      JSON.stringify(shown).replaceAll("O1", "O5").replaceAll("8000000001", "70").replaceAll('"E1', '"E2'),
    ) as typeof shown;
    await world.observe(key("C2"), changed(theirs, "product", "70/P1-O5", { limitConcurrent: 3 }));
    const rows = await itemsOf(world);
    const products = rows.filter((row) => row["customer"] === "crm/C2" && row["level"] === "product");
    expect(products.map((row) => [row["item"], row["asset_number"], row["verdict"]])).toEqual([
      ["P1-O5", "70", "different"],
      ["P2-O5", "70", "matched"],
      ["P3-O5", "70", "matched"],
    ]);
    expect(products[1]?.["details"]).toEqual(["adopted: compared with the CRM"]);
    const { lines = [] } = await stated(world.path, "orders");
    expect(lines.find((row) => row["event"] === "adopted")).toMatchObject({
      crm_order: "crm/O5",
      asset_numbers: ["70"],
      license_order_id: "L-O5",
    });
  });

  it("leaves out of a month what was sent in another one, and never what was not sent at all", async () => {
    const { world } = await agreedWorld();
    await world.read("orders", [{ orders: orderRecord("O2", "C1") }]);
    const november = { label: "2026-11", zone: "UTC", from: october.to, to: "2026-12-01T00:00:00.000Z" };
    const rows = await itemsOf(world, { period: november });
    expect(new Set(rows.map((row) => row["crm_order"]))).toEqual(new Set(["crm/O2"]));
    expect(await itemsOf(world, { period: november, by: "crm-date" })).toEqual([]);
  });
});
