import { expect, it } from "vitest";
import { quarantined, ran } from "../../support/asking.ts";
import { world } from "../../support/cli.ts";
import { fileSource, lines, mappingOf } from "../../support/world/crm-files.ts";
import { company, orderRow } from "../../support/world/crm.ts";
import { writeFileSync } from "node:fs";

it.each([
  ["Africa/Cairo", "2026-04-24"],
  ["Asia/Beirut", "2026-03-29"],
  ["America/Santiago", "2026-09-06"],
  ["America/Asuncion", "2023-10-01"],
])("an order of a day that has no midnight in %s (%s) is placed", async (zone, day) => {
  const { customers, orders } = company(1, 1);
  const w = await world({ records: { customers, orders: [], staff: [] } });
  const placedAt = { date: "placedAt", zone };
  const source = fileSource("data", ["orders"]);
  const settings = JSON.stringify(source)
    .replace("orders.ndjson", "dated.ndjson")
    .replace(JSON.stringify(mappingOf("orders")), JSON.stringify({ ...mappingOf("orders"), placedAt }));
  w.extra = `  dated: ${settings}\njobs:\n  everything: { kind: sync, streams: [customers, orders, staff] }\n`;
  w.write();
  writeFileSync(w.path("data/dated.ndjson"), lines(orders.map((order) => orderRow({ ...order, placedAt: day }))));
  const { exitCode, calls } = await ran(w);
  expect(await quarantined(w)).toEqual([]);
  expect([exitCode, calls]).toEqual([0, { E2: 1, E5: 1, E9: 1 }]);
  const statement = await w.run(
    "report",
    "orders",
    "--period",
    day.slice(0, 7),
    "--date",
    "crm-date",
    "--format",
    "csv",
  );
  expect(statement.stdout).toContain(day);
});
