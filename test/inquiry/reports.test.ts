import { parse } from "csv-parse/sync";
import { describe, expect, it } from "vitest";
import { agreedWorld, changed, october, reportJson, reportText, request } from "./reported-month.ts";
import { product } from "../support/world/instances.ts";
import { canaries, customerRecord, key, orderRecord, staffRecord } from "../support/world/records.ts";
import { LedgerWorld } from "../support/world/ledger-world.ts";

describe("the report of orders", () => {
  it("lists what was placed and granted, with the proof of each, and no personal data", async () => {
    const { world } = await agreedWorld();
    const inquiry = await world.inquiry();
    const { rows, totals, header } = await reportJson(inquiry, request("orders"));
    expect(totals).toEqual({ granted: 1, placed: 1, rows: 2 });
    expect(rows[1]).toMatchObject({
      event: "placed",
      customer: "crm/C1",
      enterprise_global_id: "E1",
      crm_order: "crm/O1",
      crm_date: "2026-09-28T10:00:00Z",
      channel_order_id: "CO-O1",
      license_type: "cloud_account",
      license_order_id: "L-O1",
      asset_numbers: ["8000000001"],
      product_ids: ["P1-O1", "P2-O1", "P3-O1"],
      order_amount_minor: 12_300,
      order_currency: "EUR",
      product_amount_minor: null,
      run: world.run,
    });
    const entry = [...world.ledger.audit.rows()].find((row) => row.sequence === rows[1]?.["audit_sequence"]);
    expect(entry).toMatchObject({ kind: "place-order", subject: "order:crm/O1" });
    expect(entry?.body).toContain(String(rows[1]?.["operation"]));
    expect(rows[0]).toMatchObject({
      event: "granted",
      staff: "crm/S1",
      member_global_id: "M1",
      asset_numbers: ["8000000001"],
      crm_order: "crm/O1",
    });
    expect(header["auditHead"]).toMatchObject({ ...world.ledger.audit.head(), size: 3 });
    for (const format of ["csv", "json"])
      expect(await reportText(inquiry, request("orders"), format)).not.toMatch(canaries);
  });

  it("puts an order into the month in which it was placed, or into that of its CRM date, never into both or none", async () => {
    const { world } = await agreedWorld();
    const inquiry = await world.inquiry();
    const september = { label: "2026-09", zone: "UTC", from: "2026-09-01T00:00:00.000Z", to: october.from };
    const events = async (fields: Parameters<typeof request>[1]): Promise<unknown[]> =>
      (await reportJson(inquiry, request("orders", fields))).rows.map((row) => row["event"]);
    expect(await events({ period: september })).toEqual([]);
    expect(await events({ by: "crm-date", period: september })).toEqual(["placed"]);
    expect(await events({ by: "crm-date" })).toEqual(["granted"]);
    const edge = { label: "x", zone: "UTC", from: "2026-09-28T10:00:00.000Z", to: "2026-09-28T10:00:00.001Z" };
    expect(await events({ by: "crm-date", period: edge })).toEqual(["placed"]);
    expect(
      await events({
        by: "crm-date",
        period: { ...edge, from: "2026-09-28T09:59:59.000Z", to: "2026-09-28T10:00:00.000Z" },
      }),
    ).toEqual([]);
  });

  it("tells a revoke of ours from an assignment that was found gone", async () => {
    const { world } = await agreedWorld();
    world.now += 86_400_000;
    await world.ledger.state.record(
      key("C1"),
      [{ type: "asset-revoked", assetNumber: "8000000001", operationId: null }],
      {
        kind: "learned",
        subject: "customer:crm/C1",
        body: {},
      },
    );
    await world.ledger.state.record(key("C1"), [
      {
        type: "asset-granted",
        assetNumber: "8999",
        staff: key("S1"),
        customer: key("C1"),
        memberGlobalId: "M1",
        origin: "adopted",
        operationId: null,
      },
    ]);
    world.now += 86_400_000;
    await world.ledger.state.record(key("C1"), [{ type: "asset-revoked", assetNumber: "8999", operationId: "op_x" }]);
    const { rows } = await reportJson(await world.inquiry(), request("orders"));
    expect(
      rows.map((row) => [
        row["at"],
        row["event"],
        row["asset_numbers"],
        row["operation"],
        row["audit_sequence"] !== null,
      ]),
    ).toEqual([
      ["2026-10-01T08:00:00.000Z", "granted", ["8000000001"], null, false],
      ["2026-10-01T08:00:00.000Z", "placed", ["8000000001"], expect.stringMatching(/^op_/), true],
      ["2026-10-02T08:00:00.000Z", "found-gone", ["8000000001"], null, true],
      ["2026-10-02T08:00:00.000Z", "grant-adopted", ["8999"], null, true],
      ["2026-10-03T08:00:00.000Z", "revoked", ["8999"], "op_x", false],
    ]);
  });

  it("gives the amount of an order once, and that of products where all of them have one", async () => {
    const world = await LedgerWorld.open();
    await world.read("customers", [{ customers: customerRecord("C1") }]);
    await world.link(key("C1"), "E1");
    const money = (minor: number) => ({ amount: { currency: "EUR", minor } });
    await world.read("orders", [
      {
        orders: orderRecord("O1", "C1", {
          instances: [
            { kind: "asset", id: "A-O1", licenseType: "cloud_account", assetNumbers: [], quantity: 1, extensions: [] },
            { kind: "asset", id: "B-O1", licenseType: "softkey", assetNumbers: ["77"], quantity: 1, extensions: [] },
            product("P1", "A-O1", money(100)),
            product("P2", "A-O1", money(250)),
            product("P3", "B-O1", money(50)),
            product("P4", "B-O1"),
          ],
        }),
      },
    ]);
    const operation = await world.orderOperation(key("C1"), key("O1"));
    const [desired] = (await world.ledger.state.load(key("C1"))).orders;
    await world.done(operation, [
      {
        type: "order-placed",
        order: key("O1"),
        customer: key("C1"),
        channelOrderId: "CO-O1",
        bodyHash: desired?.bodyHash ?? "",
        version: 1,
        products: 1,
        operationId: null,
        origin: "placed",
        licenceOrders: [
          { sequence: 1, licenseType: "cloud_account", platformCustomerId: "d", licenseOrderId: "L1" },
          { sequence: 2, licenseType: "softkey", platformCustomerId: "d", licenseOrderId: "L2" },
        ],
      },
    ]);
    const { rows } = await reportJson(await world.inquiry(), request("orders"));
    expect(
      rows.map((row) => [
        row["license_order_id"],
        row["product_ids"],
        row["order_amount_minor"],
        row["product_amount_minor"],
      ]),
    ).toEqual([
      ["L1", ["P1", "P2"], 12_300, 350],
      ["L2", ["P3", "P4"], null, null],
    ]);
  });
});

describe("the form of a report", () => {
  it("is the same to the byte each time, and says what it was made from", async () => {
    const { world } = await agreedWorld();
    const inquiry = await world.inquiry();
    for (const kind of ["orders", "reconciliation", "exceptions"] as const) {
      for (const format of ["csv", "json"]) {
        const first = await reportText(inquiry, request(kind), format);
        world.now += 5_000;
        const again = await reportText(await world.inquiry(), request(kind), format);
        expect(again).toBe(first);
        expect(first).toContain(world.ledger.audit.head()?.hash);
        expect(first).toContain("2026-10");
      }
    }
  });

  it("has as many cells in each line of CSV as columns, and one row a line of JSON", async () => {
    const { world } = await agreedWorld();
    const inquiry = await world.inquiry();
    for (const kind of ["orders", "reconciliation", "exceptions"] as const) {
      const csv = parse(await reportText(inquiry, request(kind), "csv"), { relax_column_count: false });
      const json = await reportText(inquiry, request(kind), "json");
      expect(csv.at(-1)?.[0]).toBe("#end");
      expect(csv.length - 2).toBe((JSON.parse(json) as { rows: unknown[] }).rows.length);
      expect(json.trimEnd().split("\n")).toHaveLength(csv.length - 2 + 4);
    }
  });

  it("keeps a text that looks like a formula from being one", async () => {
    const world = await LedgerWorld.open();
    for (const id of ["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "\tx", "＝1", "＋1", "－1", "＠1", "plain"]) {
      await world.reject("orders", key(id), { customer: key("=C") });
    }
    const inquiry = await world.inquiry();
    const csv = await reportText(inquiry, request("exceptions"), "csv");
    for (const row of parse(csv)) {
      for (const cell of row) expect(cell).not.toMatch(/^[=+\-@\t\r＝＋－＠]/);
    }
    await world.read("customers", [{ customers: customerRecord("C1") }]);
    await world.link(key("C1"), "=E1");
    const reconciliation = await reportText(inquiry, request("reconciliation"), "csv");
    expect(reconciliation).toContain(`"'=E1"`);
    expect(await reportText(inquiry, request("reconciliation"), "json")).toContain(`"=E1"`);
  });

  it("refuses formats that are not built, by name", async () => {
    const { world } = await agreedWorld();
    const inquiry = await world.inquiry();
    await expect(reportText(inquiry, request("orders"), "xlsx")).rejects.toMatchObject({
      code: "report.format",
      message: expect.stringContaining("not built yet"),
    });
    await expect(reportText(inquiry, request("orders"), "pdf")).rejects.toMatchObject({
      code: "report.format",
      exitCode: 64,
    });
  });

  it("stays on one state of the ledger while a run writes", async () => {
    const { world } = await agreedWorld();
    const inquiry = await world.inquiry();
    const before = await reportText(inquiry, request("exceptions"), "json");
    const chunks = inquiry.report(request("exceptions"), "json");
    let text = (await chunks.next()).value ?? "";
    await world.reject("orders", key("late"), { customer: key("C1") });
    for await (const chunk of chunks) text += chunk;
    expect(text).toBe(before);
    expect(await reportText(inquiry, request("exceptions"), "json")).not.toBe(before);
  });
});

describe("the report of exceptions", () => {
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
      message: "a parameter fails the validation of the service",
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
        code: "amendment.not-enabled",
        reason: "amendment not enabled: lines changed",
      },
    ]);
    const hold = await world.ledger.approvals.open({
      scope: "run",
      customer: key("C1"),
      count: 30,
      allowed: 20,
      total: 100,
      setHash: "s",
      explanation: "30 of 100 assignments would be taken away",
      operations: [],
    });
    await world.reject("customers", undefined);
    await world.read("staff", [], { complete: false });
    await world.ledger.runs.finish(world.run, { state: "failed", exitCode: 1, balance: null, summary: null });
    const inquiry = await world.inquiry();
    const { rows, totals } = await reportJson(inquiry, request("exceptions"));
    expect(totals).toEqual({
      deferred: 1,
      held: 1,
      parked: 1,
      quarantined: 1,
      rejected: 1,
      rows: 7,
      run: 1,
      "source-incomplete": 1,
    });
    const row = (kind: string) => rows.find((item) => item["kind"] === kind);
    expect(row("quarantined")).toMatchObject({
      place: "customers.csv:99",
      code: "missing",
      reason: "the field branchCode is missing",
    });
    expect(row("deferred")).toMatchObject({ record: "order crm/O4", reason: "amendment not enabled: lines changed" });
    expect(row("rejected")).toMatchObject({ operation: rejected, code: "13004", record: "order:crm/O2", attempts: 1 });
    expect(row("parked")).toMatchObject({
      next: `look on the platform, then crm-sync settle ${parked} --applied|--not-applied --reason TEXT`,
    });
    expect(row("held")).toMatchObject({ hold: hold.id, count: 30 });
    expect(row("source-incomplete")).toMatchObject({ source: "erp", record: "staff" });
    expect(row("run")).toMatchObject({ run: world.run, reason: "the run is failed" });
    expect(JSON.stringify(rows)).not.toMatch(canaries);
  });

  it("forgets what was over before the period, and what began after it", async () => {
    const { world } = await agreedWorld();
    await world.reject("staff", key("S9"), { customer: key("C1") });
    const inquiry = await world.inquiry();
    const kinds = async (from: string, to: string): Promise<unknown[]> =>
      (await reportJson(inquiry, request("exceptions", { period: { label: "x", zone: "UTC", from, to } }))).rows.map(
        (row) => row["kind"],
      );
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
    const { operation } = await import("../../src/operation/new-operation.ts");
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
    expect((await reportJson(await world.inquiry(), request("exceptions"))).totals).toEqual({
      "numbers-lost": 1,
      rows: 2,
      unknown: 1,
    });
    await conclude("done");
    const { rows, totals } = await reportJson(await world.inquiry(), request("exceptions"));
    expect(totals).toEqual({ "numbers-lost": 1, rows: 2, settled: 1 });
    expect(rows.find((row) => row["kind"] === "numbers-lost")).toMatchObject({ count: 40, customer: null });
  });
});

describe("reconciliation", () => {
  const verdicts = async (world: LedgerWorld): Promise<Record<string, number>> => {
    const { totals } = await reportJson(await world.inquiry(), request("reconciliation"));
    return totals;
  };
  const rowsOf = async (world: LedgerWorld, verdict: string) =>
    (await reportJson(await world.inquiry(), request("reconciliation"))).rows.filter(
      (row) => row["verdict"] === verdict,
    );

  it("matches everything that the CRM wants, was sent, and is shown equal", async () => {
    const { world } = await agreedWorld();
    expect(await verdicts(world)).toEqual({
      "assignment matched": 1,
      "enterprise matched": 1,
      "order matched": 1,
      "package matched": 1,
      "product matched": 3,
      rows: 8,
      "staff matched": 1,
    });
    const inquiry = await world.inquiry();
    expect(await inquiry.agreement()).toEqual([
      { what: "enterprises", matched: 1, total: 1 },
      { what: "orders", matched: 1, total: 1 },
      { what: "products", matched: 3, total: 3 },
      { what: "packages", matched: 1, total: 1 },
      { what: "staff", matched: 1, total: 1 },
      { what: "assignments", matched: 1, total: 1 },
    ]);
    expect(await reportText(inquiry, request("reconciliation"), "csv")).not.toMatch(canaries);
  });

  it.each([
    ["limitConcurrent", { limitConcurrent: 4 }, "limitConcurrent: sent 5, shown 4"],
    ["productName", { productName: "other" }, "productName: sent Product P1-O1, shown other"],
    ["timeDurationExpression", { timeDurationExpression: null }, "timeDurationExpression: sent 1-0-0, shown nothing"],
    ["channelOrderId", { channelOrderId: "CO-9" }, "channelOrderId: sent CO-O1, shown CO-9"],
    ["licenseOrderId", { licenseOrderId: "L-9" }, "licenseOrderId: sent L-O1, shown L-9"],
    ["trial", { trial: 1 }, "trial: sent 0, shown 1"],
    ["limitTimeDuration", { limitTimeDuration: 9 }, "limitTimeDuration: sent 0, shown 9"],
  ])("says which field is shown otherwise than it was sent (%s)", async (_, fields, expected) => {
    const { world, shown } = await agreedWorld();
    await world.observe(key("C1"), changed(shown, "product", "8000000001/P1-O1", fields));
    const different = await rowsOf(world, "different");
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
    expect((await rowsOf(world, "different"))[1]?.["details"]).toEqual([
      `limitEndDate: sent ${Date.UTC(2027, 9, 1)}, shown 1`,
    ]);
  });

  it("misses a product that M7 no longer shows, and an asset that nobody holds", async () => {
    const { world, shown } = await agreedWorld();
    await world.observe(
      key("C1"),
      changed(shown, "asset", "8000000001", { holder: null }).filter((item) => item.subject !== "8000000001/P3-O1"),
    );
    const missing = await rowsOf(world, "missing");
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
    const extra = await rowsOf(world, "extra");
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
    expect(Object.keys(await verdicts(world2))).toEqual([
      "enterprise not-observable",
      "order not-observable",
      "package not-observable",
      "product not-observable",
      "rows",
    ]);
    // A complete reading of an enterprise of which nothing was ever shown: the type may be one that M6 does not show.
    await world2.observe(key("C1"), [{ kind: "enterprise", subject: "E1", body: { customers: [] } }]);
    const unseen = await rowsOf(world2, "not-observable");
    expect(unseen.find((row) => row["level"] === "product")?.["details"]).toEqual([
      "the platform has shown no cloud_account yet (A43)",
    ]);
    // Where the type was shown before, the same is missing.
    await world.observe(
      key("C1"),
      shown.filter((item) => item.kind === "enterprise" || item.kind === "member"),
    );
    expect((await rowsOf(world, "missing")).map((row) => row["level"])).toEqual([
      "order",
      "product",
      "product",
      "product",
      "package",
      "assignment",
    ]);
  });

  it("shows the age of what was seen, and that the last reading failed", async () => {
    const { world, shown } = await agreedWorld();
    world.now += 30 * 3_600_000;
    await world.ledger.state.record(key("C1"), [{ type: "observation-failed", customer: key("C1") }]);
    await world.ledger.runs.finish(world.run, { state: "done", exitCode: 7, balance: null, summary: null });
    const { rows } = await reportJson(await world.inquiry(), request("reconciliation"));
    expect(rows.filter((row) => row["verdict"] === "matched").map((row) => row["age_hours"])).toEqual(
      Array.from({ length: 8 }, () => 30),
    );
    expect(shown).not.toEqual([]);
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
        code: "amendment.not-enabled",
        reason: "amendment not enabled: lines changed",
      },
    ]);
    const { rows } = await reportJson(await world.inquiry(), request("reconciliation"));
    const products = rows.filter((row) => row["level"] === "product");
    expect(products.map((row) => [row["item"], row["verdict"], (row["details"] as string[])[0]])).toEqual([
      ["P1-O1", "different", "CRM nodes: placed with 5, now 7"],
      ["P2-O1", "extra", "the CRM no longer has it in the order, which stays as it was placed"],
      ["P3-O1", "matched", "waits: amendment not enabled: lines changed"],
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
        { stream, key: key(id), outcome: "deferred", code: "x", reason: "E2 was rejected" },
      ]);
    }
    const missing = (await rowsOf(world, "missing")).filter((row) => row["customer"] === "crm/C2");
    expect(missing.map((row) => [row["level"], row["details"]])).toEqual([
      ["enterprise", ["not sent: E2 was rejected"]],
      ["order", ["not sent: E2 was rejected", "4 missing"]],
      ["product", ["not sent: E2 was rejected"]],
      ["product", ["not sent: E2 was rejected"]],
      ["product", ["not sent: E2 was rejected"]],
      ["package", ["not sent: E2 was rejected"]],
      ["staff", ["not sent: E2 was rejected"]],
      ["assignment", ["asset number 55: not sent: E2 was rejected"]],
      ["order", ["waits in quarantine: the field branchCode is missing"]],
    ]);
  });

  it("calls an assignment extra when the CRM no longer gives it, and different when another member holds it", async () => {
    const { world, shown } = await agreedWorld();
    await world.observe(key("C1"), changed(shown, "asset", "8000000001", { holder: "M2" }));
    expect((await rowsOf(world, "different")).map((row) => row["details"])).toEqual([
      ["held by the member M2"],
      ["M5 shows it with the member M1, and M6 with the member M2; nothing is done on it (A34)"],
    ]);
    await world.observe(key("C1"), shown);
    await world.read("staff", [{ staff: staffRecord("S1", "C1") }]);
    expect((await rowsOf(world, "extra")).map((row) => [row["level"], row["details"]])).toEqual([
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
    const { rows } = await reportJson(await world.inquiry(), request("reconciliation"));
    const products = rows.filter((row) => row["customer"] === "crm/C2" && row["level"] === "product");
    expect(products.map((row) => [row["item"], row["asset_number"], row["verdict"]])).toEqual([
      ["P1-O5", "70", "different"],
      ["P2-O5", "70", "matched"],
      ["P3-O5", "70", "matched"],
    ]);
    expect(products[1]?.["details"]).toEqual(["adopted: compared with what the CRM says"]);
    const orders = await reportJson(await world.inquiry(), request("orders"));
    expect(orders.rows.find((row) => row["event"] === "adopted")).toMatchObject({
      crm_order: "crm/O5",
      asset_numbers: ["70"],
      license_order_id: "L-O5",
    });
  });

  it("leaves out of a month what was sent in another one, and never what was not sent at all", async () => {
    const { world } = await agreedWorld();
    await world.read("orders", [{ orders: orderRecord("O2", "C1") }]);
    const inquiry = await world.inquiry();
    const november = { label: "2026-11", zone: "UTC", from: october.to, to: "2026-12-01T00:00:00.000Z" };
    const { rows } = await reportJson(inquiry, request("reconciliation", { period: november }));
    expect(new Set(rows.map((row) => row["crm_order"]))).toEqual(new Set(["crm/O2"]));
    const byDate = await reportJson(inquiry, request("reconciliation", { period: november, by: "crm-date" }));
    expect(byDate.rows).toEqual([]);
  });
});
