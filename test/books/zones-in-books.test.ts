import { expect, it } from "vitest";
import { closeBooks, printBooks } from "../../src/books/books.ts";
import type { Order } from "../../src/crm/model.ts";
import { asset, product } from "../support/world/instances.ts";
import { LedgerWorld } from "../support/world/ledger-world.ts";
import { customerRecord, key, orderRecord } from "../support/world/records.ts";
import { folder } from "../support/world/start.ts";
import { anna, placeOf, signAll } from "./book-world.ts";

/** An order of 1 October in a zone, for a year from then on. */
function orderIn(zone: string): Order {
  const at = (day: string): string =>
    new Date(Temporal.PlainDate.from(day).toZonedDateTime(zone).epochMilliseconds).toISOString();
  const limits = { limitStart: at("2026-10-01"), limitEnd: at("2027-10-01") };
  const instances = [asset("A-O1", { licenseType: "cloud_account" }), product("P1-O1", "A-O1", limits)];
  return orderRecord("O1", "C1", { placedAt: at("2026-10-01"), instances });
}

const zonesOf = (zone: string) => ({ placedAt: zone, "product.limitStart": zone, "product.limitEnd": zone });

it("closed periods are computed anew as they were, whatever zone the source has its dates in since", async () => {
  const world = await LedgerWorld.open();
  world.now = Date.parse("2026-10-05T10:00:00Z");
  await world.read("customers", [{ customers: customerRecord("C1") }]);
  await world.link(key("C1"), "E1");
  await world.read("orders", [{ orders: orderIn("Asia/Shanghai") }], { zones: zonesOf("Asia/Shanghai") });
  await world.place(key("C1"), key("O1"));
  await world.ledger.runs.finish(world.run, { state: "done", exitCode: 0, balance: {}, summary: {} });
  const place = placeOf(world);
  world.now = Date.parse("2026-11-03T10:00:00Z");
  await signAll(place, "2026-10");
  world.now += 1_000;
  await closeBooks(place, "2026-10", anna);

  world.now += 86_400_000;
  await world.startRun();
  await world.read("orders", [{ orders: orderIn("America/New_York") }], { zones: zonesOf("America/New_York") });
  // The same instants, which the source gives as instants now.
  await world.read("orders", [{ orders: orderIn("America/New_York") }]);
  const { different, notCompared, files } = await printBooks(place, "2026-10", { folder: folder() });
  expect([different, notCompared]).toEqual([[], []]);
  expect(files.length).toBeGreaterThan(0);
});
