import { writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { stringify } from "yaml";
import type { JsonObject } from "../../src/base/canonical-json.ts";
import { document, world } from "../support/cli.ts";
import type { World } from "../support/cli.ts";
import type { StatedRow } from "../support/statement-rows.ts";
import { company } from "../support/world/crm.ts";
import type { Crm, GivenOrder } from "../support/world/crm.ts";
import { fileSource, filesOf, mappingOf, writeFiles } from "../support/world/crm-files.ts";

/** Where each source has its dates from; the statements are those of Berlin. */
const zones = { east: "Asia/Shanghai", west: "America/New_York" };
type Place = keyof typeof zones;

const thisMonth = new Date().toISOString().slice(0, 7);

/** One product for a year from 1 October, in an order of that day. */
function order(id: string, fields: Partial<GivenOrder> = {}): GivenOrder {
  const term = { limitStart: "2026-10-01", limitEnd: "2027-10-01" };
  const products = [{ id: `${id}-P`, parent: `${id}-A`, price: "12.00", ...term }];
  return { id, customer: "C1", placedAt: "2026-10-01", assets: [`${id}-A`], products, ...fields };
}

/** The mapping of orders whose dates without an offset are those of a zone. */
function mapped(zone: string): JsonObject {
  const dated = (field: string): JsonObject => ({ date: field, zone });
  const text = JSON.stringify(mappingOf("orders"), (name, value: unknown) =>
    name === "placedAt" || name === "limitStart" || name === "limitEnd" ? dated(name) : value,
  );
  return JSON.parse(text) as JsonObject;
}

/** Two CRMs of two parts of the world over one ledger. */
class TwoZones {
  readonly crms: Record<Place, Crm> = { east: company(1, 0), west: company(1, 0) };
  zone = "Europe/Berlin";
  zones: Record<Place, string> = { ...zones };
  readonly w: World;

  private constructor(w: World) {
    this.w = w;
  }

  static async start(orders: (place: Place) => GivenOrder[] = () => [order("O1")]): Promise<TwoZones> {
    const made = new TwoZones(await world({ records: company(1, 0) }));
    for (const place of ["east", "west"] as const) made.crms[place].orders = orders(place);
    await made.sync();
    return made;
  }

  async sync(): Promise<Record<string, number>> {
    this.write();
    const ended = await this.w.does("run", "everything");
    if (ended.exitCode !== 0) throw new Error(ended.stdout + ended.stderr);
    return ended.calls;
  }

  write(): void {
    const { w } = this;
    const streams = ["customers", "orders"] as const;
    const sources: JsonObject = {};
    for (const place of ["east", "west"] as const) {
      writeFiles(w.path(place), filesOf("ndjson", this.crms[place], streams));
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
  }

  /** Some cells of a part of a statement, row by row. */
  async cells(kind: string, part: string, names: string, period: string, ...more: string[]): Promise<unknown[][]> {
    const ended = await this.w.run("report", kind, "--period", period, "--format", "json", ...more);
    if (ended.exitCode !== 0) throw new Error(ended.stderr);
    const rows: StatedRow[] = document(ended).parts[part].rows;
    return rows.map((row) => names.split(" ").map((name) => row[name]));
  }
}

const byCrmDate = ["--by", "crm-date"];
/** 1 October in Shanghai, and not yet in Berlin. */
const moment = "2026-10-01T01:00:00+08:00";

it("a date that a CRM gave is that date in every statement, wherever the CRM is", { tags: "long" }, async () => {
  const two = await TwoZones.start();
  const dated = [
    ["east/O1", "2026-10-01"],
    ["west/O1", "2026-10-01"],
  ];
  const terms = "crm_order crm_date term_from term_to";
  expect(await two.cells("orders", "lines", terms, thisMonth)).toEqual(
    dated.map((row) => [...row, "2026-10-01", "2027-10-01"]),
  );
  expect(await two.cells("orders", "orders", "crm_order crm_date", thisMonth)).toEqual(dated);
  const reconciled = await two.cells("reconciliation", "items", "level crm_order crm_date", thisMonth);
  expect(reconciled.filter(([level]) => level === "order").map((row) => row.slice(1))).toEqual(dated);
});

it("an order is of the month of the date that its CRM gave, however it is counted", { tags: "long" }, async () => {
  const two = await TwoZones.start((place) => [
    order("O1"),
    order("O2", { placedAt: place === "east" ? "2026-10-31T23:59:00" : "2026-11-01T00:01:00" }),
  ]);
  const in10 = ["east/O1", "east/O2", "west/O1"];
  for (const part of ["lines", "orders"]) {
    const orders = async (period: string): Promise<string[]> =>
      (await two.cells("orders", part, "crm_order", period, ...byCrmDate)).map(([key]) => String(key)).toSorted();
    expect(await orders("2026-10")).toEqual(in10);
    expect(await orders("2026-09")).toEqual([]);
    expect(await orders("2026-11-01")).toEqual(["west/O2"]);
  }
  const figures = "customer units_opening units_granted units_closing verdict";
  const units = async (period: string): Promise<unknown[][]> =>
    await two.cells("entitlements", "by_customer", figures, period, ...byCrmDate);
  expect(await units("2026-09")).toEqual([]);
  expect(await units("2026-10")).toEqual([
    ["east/C1", 0, 2, 2, "agrees"],
    ["west/C1", 0, 1, 1, "agrees"],
  ]);
  expect(await units("2026-11")).toEqual([
    ["east/C1", 2, 0, 2, "agrees"],
    ["west/C1", 1, 1, 2, "agrees"],
  ]);
  const compared = await two.cells("reconciliation", "items", "level crm_order", "2026-10", ...byCrmDate);
  expect(compared.filter(([level]) => level === "order").map(([, key]) => key)).toEqual(in10);
  for (const period of ["2026-09", "2026-10", "2026-11"]) {
    const verdicts = await two.cells("bridge", "bridge", "step lines verdict", period);
    expect(verdicts.filter(([, , verdict]) => verdict === "differs")).toEqual([]);
  }
  expect(await two.cells("bridge", "bridge", "step lines", "2026-10")).toContainEqual(["by the dates of the CRM", 3]);
});

it("a date that the CRM gave with an offset is a moment, shown in the configured zone", async () => {
  const two = await TwoZones.start((place) => (place === "east" ? [order("O1", { placedAt: moment })] : []));
  expect(await two.cells("orders", "lines", "crm_date term_from", thisMonth)).toEqual([["2026-09-30", "2026-10-01"]]);
  expect(await two.cells("orders", "lines", "crm_order", "2026-09", ...byCrmDate)).toEqual([["east/O1"]]);
  expect(await two.cells("orders", "lines", "crm_order", "2026-10", ...byCrmDate)).toEqual([]);
});

it(
  "what was sent stays so, and the dates too, when a source gives them in another way or the company moves",
  { tags: "long" },
  async () => {
    const two = await TwoZones.start();
    const terms = "crm_order crm_date term_from term_to";
    const lines = await two.cells("orders", "lines", terms, thisMonth);
    const bodies = "select id, namespace, version, body from record_version where stream = 'orders' order by 1, 2, 3";
    const kept = two.w.rows(bodies);
    // The same hours as in Shanghai, and the same moments as in New York.
    two.zones = { east: "Asia/Taipei", west: "America/Toronto" };
    two.zone = "Pacific/Auckland";
    expect(await two.sync()).toEqual({});
    expect(two.w.rows(bodies)).toEqual(kept);
    expect(await two.cells("orders", "lines", terms, thisMonth)).toEqual(lines);
  },
);
