import { describe, expect, it, onTestFinished } from "vitest";
import type { DateZones, Order } from "../../../src/crm/model.ts";
import { standAsOf } from "../../../src/inquiry/as-of/as-of.ts";
import { ReadOnlyLedger } from "../../../src/inquiry/read-only-ledger.ts";
import { openReadOnly } from "../../../src/ledger/database/database.ts";
import { agreedWorld } from "../agreed-world.ts";
import { rowsOf } from "./stated.ts";
import { customerRecord, key, orderRecord } from "../../support/world/records.ts";
import { asset, product } from "../../support/world/instances.ts";
import { LedgerWorld } from "../../support/world/ledger-world.ts";
import { cells, month, statementOf } from "./statement-world.ts";

const october = month("2026-10");

/** The zones of an order all of whose dates are local ones. */
function zonesOf(zone: string): DateZones {
  return { placedAt: zone, "asset.limitEnd": zone, "product.limitStart": zone, "product.limitEnd": zone };
}

const shanghai = zonesOf("Asia/Shanghai");

/** The beginning of a day, in Shanghai where nothing else is said. */
function dayIn(day: string, zone = "Asia/Shanghai"): string {
  return new Date(Temporal.PlainDate.from(day).toZonedDateTime(zone).epochMilliseconds).toISOString();
}

/** An order of 1 October for one product from then on to a day of the next year. */
function order(minor: number, { until = "2027-10-01", zone = "Asia/Shanghai" } = {}): Order {
  const limits = { limitStart: dayIn("2026-10-01", zone), limitEnd: dayIn(until, zone) };
  const instances = [asset("A-O1", { licenseType: "cloud_account" }), product("P1-O1", "A-O1", limits)];
  const amount = { currency: "EUR", minor };
  return orderRecord("O1", "C1", { amount, placedAt: dayIn("2026-10-01", zone), instances });
}

/** The order, read with these zones and placed on 5 October. */
async function placed(zones: DateZones | undefined): Promise<LedgerWorld> {
  const world = await LedgerWorld.open();
  world.now = Date.parse("2026-10-05T10:00:00Z");
  await world.read("customers", [{ customers: customerRecord("C1") }]);
  await world.link(key("C1"), "E1");
  await world.read("orders", [{ orders: order(100) }], zones === undefined ? {} : { zones });
  await world.place(key("C1"), key("O1"));
  return world;
}

/** The order with something else, read an hour later. */
async function reads(world: LedgerWorld, changed: Order, zones: DateZones): Promise<void> {
  world.now += 3_600_000;
  await world.read("orders", [{ orders: changed }], { zones });
}

const dates = ["crm_date", "term_from", "term_to"];

describe("the dates of a form of an order", () => {
  it("are those of the configured zone if the form has none", async () => {
    const world = await placed(undefined);
    const { lines } = await statementOf(world.path, "orders", october);
    expect(cells(lines, ...dates)).toEqual([["2026-09-30", "2026-09-30", "2027-09-30"]]);
    const { lines: dated } = await statementOf(world.path, "orders", month("2026-09"), { by: "crm-date" });
    expect(cells(dated, "crm_order")).toEqual([["crm/O1"]]);
  });

  it("are kept with it", async () => {
    const world = await placed(undefined);
    const asOf = new Date(world.now).toISOString();
    await reads(world, order(200), shanghai);
    const { lines } = await statementOf(world.path, "orders", october);
    expect(cells(lines, ...dates)).toEqual([["2026-09-30", "2026-09-30", "2027-09-30"]]);
    const datesThen = async (moment: string | undefined): Promise<unknown> => {
      const ledger = new ReadOnlyLedger(world.path, openReadOnly(world.path));
      onTestFinished(() => ledger.close());
      if (moment !== undefined) standAsOf(ledger, moment);
      const request = { period: october, by: "happened", filters: {}, asOf: moment } as const;
      return cells((await rowsOf(ledger, "reconciliation", request))["items"], "level", "crm_date");
    };
    expect(await datesThen(asOf)).toContainEqual(["order", "2026-09-30"]);
    expect(await datesThen(undefined)).toContainEqual(["order", "2026-10-01"]);
  });

  it("stand in details as the CRM gave them", async () => {
    const world = await placed(shanghai);
    await reads(world, order(100, { until: "2027-11-01" }), shanghai);
    const { items = [] } = await statementOf(world.path, "reconciliation", october);
    const details = "CRM limitEnd: sent with 2027-10-01, now 2027-11-01";
    expect(items.find(({ level }) => level === "product")?.["details"]).toContain(details);
  });

  it("are instants where only their zone changed, because what is sent is another one", async () => {
    const world = await placed(shanghai);
    await reads(world, order(100, { zone: "Asia/Tokyo" }), zonesOf("Asia/Tokyo"));
    const { items = [] } = await statementOf(world.path, "reconciliation", october);
    expect(items.find(({ level }) => level === "product")?.["details"]).toContain(
      "CRM limitEnd: sent with 2027-09-30T16:00:00.000Z, now 2027-09-30T15:00:00.000Z",
    );
  });

  it("come with an exception, too", async () => {
    const world = await placed(shanghai);
    await reads(world, order(100, { until: "2027-11-01" }), shanghai);
    await world.ledger.records.setOutcomes(world.run, [
      { stream: "orders", key: key("O1"), outcome: "deferred", code: "assumption.missing", reason: "no answer yet" },
    ]);
    const { orders } = await statementOf(world.path, "exceptions", october);
    expect(cells(orders, "crm_order", "crm_date")).toEqual([["crm/O1", "2026-10-01"]]);
  });

  it("stand so beside what the platform shows as it was sent, too", async () => {
    const { world } = await agreedWorld();
    const { instances, ...agreed } = orderRecord("O1", "C1");
    const longer = instances.map((item) =>
      item.kind === "product" && item.id === "P2-O1" ? { ...item, limitEnd: dayIn("2027-11-01") } : item,
    );
    await world.read("orders", [{ orders: { ...agreed, instances: longer } }], { zones: shanghai });
    const { items = [] } = await statementOf(world.path, "reconciliation", october);
    const found = items.find(({ item }) => item === "P2-O1");
    expect([found?.["verdict"], found?.["details"]]).toEqual([
      "different",
      ["CRM limitEnd: sent with 2027-10-01, now 2027-11-01"],
    ]);
  });
});
