/** @module-tag long */
import { writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { stringify } from "yaml";
import type { JsonObject } from "../../../src/base/canonical-json.ts";
import { document, world, type World } from "../../support/cli.ts";
import type { StatedRow } from "../../support/statement-rows.ts";
import { fileSource, filesOf, mappingOf, writeFiles } from "../../support/world/crm-files.ts";
import { company, type GivenOrder } from "../../support/world/crm.ts";

/** Where each source has its dates from; the statements are those of Berlin. */
const zones = { east: "Asia/Shanghai", west: "America/New_York" };
type Place = keyof typeof zones;
const places: readonly Place[] = ["east", "west"];

const thisMonth = "2026-11";
const byCrmDate = ["--date", "crm-date"];

/** One product for a year from 1 October, in an order of that day. */
function order(id: string, placedAt = "2026-10-01"): GivenOrder {
  const term = { limitStart: "2026-10-01", limitEnd: "2027-10-01" };
  const products = [{ id: `${id}-P`, parent: `${id}-A`, price: "12.00", ...term }];
  return { id, customer: "C1", placedAt, assets: [`${id}-A`], products };
}

/** The mapping of orders whose dates without an offset are those of a zone. */
function mapped(zone: string): JsonObject {
  const text = JSON.stringify(mappingOf("orders"), (name, value: unknown) =>
    ["placedAt", "limitStart", "limitEnd"].includes(name) ? { date: value, zone } : value,
  );
  return JSON.parse(text) as JsonObject;
}

/** Two CRMs of two parts of the world over one ledger. */
class TwoZones {
  zone = "Europe/Berlin";
  zones: Record<Place, string> = { ...zones };
  readonly w: World;
  readonly #orders: (place: Place) => GivenOrder[];

  private constructor(w: World, orders: (place: Place) => GivenOrder[]) {
    this.w = w;
    this.#orders = orders;
  }

  static async start(orders: (place: Place) => GivenOrder[] = () => [order("O1")]): Promise<TwoZones> {
    const made = new TwoZones(await world({ records: company(1, 0) }), orders);
    await made.sync();
    return made;
  }

  /** Runs with the configuration as it is now; answers the writing calls. */
  async sync(): Promise<Record<string, number>> {
    const { w } = this;
    const streams = ["customers", "orders"] as const;
    const sources: JsonObject = {};
    for (const place of places) {
      writeFiles(w.path(place), filesOf("ndjson", { ...company(1, 0), orders: this.#orders(place) }, streams));
      const source = structuredClone(fileSource(place, streams)) as { streams: { orders: JsonObject } };
      source.streams.orders["mapping"] = mapped(this.zones[place]);
      sources[place] = { ...source, namespace: place };
    }
    const template = "{namespace}-{id}";
    const settings = {
      ledger: { path: "ledger.db", sealKey: "env:SEAL_KEY" },
      zone: this.zone,
      log: { level: "warn" },
      sources,
      assumptions: {
        crmCustomerIdTemplate: template,
        channelCustomerIdTemplate: template,
        channelOrderIdTemplate: template,
      },
      jobs: { everything: { kind: "sync", streams } },
    };
    writeFileSync(w.path("crm-sync.yaml"), stringify(settings));
    const ended = await w.does("run", "everything");
    if (ended.exitCode !== 0) throw new Error(ended.stdout + ended.stderr);
    return ended.calls;
  }

  /** Some cells of a part of a statement, row by row. */
  async cells(kind: string, part: string, names: string, period: string, ...more: string[]): Promise<unknown[][]> {
    const ended = await this.w.run("report", kind, "--period", period, "--format", "json", ...more);
    if (ended.exitCode !== 0) throw new Error(ended.stderr);
    const rows: StatedRow[] = document(ended).parts[part].rows;
    return rows.map((row) => names.split(" ").map((name) => row[name]));
  }
}

const terms = "crm_order crm_date term_from term_to";

it("states the date that a CRM gave, wherever the CRM is, and keeps it when the zones of the sources change", async () => {
  const two = await TwoZones.start();
  const lines = [
    ["east/O1", "2026-10-01", "2026-10-01", "2027-10-01"],
    ["west/O1", "2026-10-01", "2026-10-01", "2027-10-01"],
  ];
  const dated = lines.map((row) => row.slice(0, 2));
  expect(await two.cells("orders", "lines", terms, thisMonth)).toEqual(lines);
  expect(await two.cells("orders", "orders", "crm_order crm_date", thisMonth)).toEqual(dated);
  const reconciled = await two.cells("reconciliation", "items", "level crm_order crm_date", thisMonth);
  expect(reconciled.filter(([level]) => level === "order").map((row) => row.slice(1))).toEqual(dated);
  // The hours are those of Shanghai, and the moments those of New York.
  two.zones = { east: "Asia/Taipei", west: "America/Toronto" };
  two.zone = "Pacific/Auckland";
  expect(await two.sync()).toEqual({});
  expect(await two.cells("orders", "lines", terms, thisMonth)).toEqual(lines);
});

it("counts an order in the month of the date that its CRM gave", async () => {
  const late = { east: "2026-10-31T23:59:00", west: "2026-11-01T00:01:00" };
  const two = await TwoZones.start((place) => [order("O1"), order("O2", late[place])]);
  const october = ["east/O1", "east/O2", "west/O1"];
  for (const [period, all] of [
    ["2026-09", []],
    ["2026-10", october],
    ["2026-11-01", ["west/O2"]],
  ] as const)
    for (const part of ["lines", "orders"]) {
      const orders = await two.cells("orders", part, "crm_order", period, ...byCrmDate);
      expect(orders.map(([key]) => String(key)).toSorted()).toEqual(all);
    }
  const figures = "customer units_opening units_granted units_closing verdict";
  const units = async (period: string): Promise<unknown[][]> =>
    await two.cells("entitlements", "by_customer", figures, period, ...byCrmDate);
  expect(await units("2026-10")).toEqual([
    ["east/C1", 0, 2, 2, "agrees"],
    ["west/C1", 0, 1, 1, "agrees"],
  ]);
  expect(await units("2026-11")).toEqual([
    ["east/C1", 2, 0, 2, "agrees"],
    ["west/C1", 1, 1, 2, "agrees"],
  ]);
  const compared = await two.cells("reconciliation", "items", "level crm_order", "2026-10", ...byCrmDate);
  expect(compared.filter(([level]) => level === "order").map(([, key]) => key)).toEqual(october);
});

it("states a date with an offset as that moment in the configured zone", async () => {
  const two = await TwoZones.start((place) => (place === "east" ? [order("O1", "2026-10-01T01:00:00+08:00")] : []));
  expect(await two.cells("orders", "lines", "crm_date term_from", thisMonth)).toEqual([["2026-09-30", "2026-10-01"]]);
  expect(await two.cells("orders", "lines", "crm_order", "2026-09", ...byCrmDate)).toEqual([["east/O1"]]);
  expect(await two.cells("orders", "lines", "crm_order", "2026-10", ...byCrmDate)).toEqual([]);
});
