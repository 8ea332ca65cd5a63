import { writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { stringify } from "yaml";
import { document, world } from "../support/cli.ts";
import type { Parsed, World } from "../support/cli.ts";
import { statementRows } from "../support/statement-rows.ts";
import { company } from "../support/world/crm.ts";
import type { Crm } from "../support/world/crm.ts";
import { fileSource, filesOf, writeFiles } from "../support/world/crm-files.ts";

/** Two CRMs over one ledger, whose customers, orders, assets and people have the same ids. */
class TwoCrms {
  readonly portal: Crm = company(2, 2);
  policies: Record<string, unknown> = {};
  readonly w: World;

  private constructor(w: World) {
    this.w = w;
  }

  static async start(): Promise<TwoCrms> {
    const made = new TwoCrms(await world({ records: company(2, 2) }));
    made.write();
    const first = await made.w.run("run", "everything");
    if (first.exitCode !== 0) throw new Error(first.stdout + first.stderr);
    return made;
  }

  write(): void {
    const { w } = this;
    w.write();
    writeFiles(w.path("portal"), filesOf("ndjson", this.portal));
    const streams = ["customers", "orders", "staff"] as const;
    const template = "{namespace}-{id}";
    const settings = {
      ledger: { path: "ledger.db", sealKey: "env:SEAL_KEY" },
      zone: "UTC",
      log: { level: "warn" },
      sources: {
        crm: fileSource("data", ["customers", "orders"]),
        hr: fileSource("data", ["staff"]),
        portal: { ...fileSource("portal", streams), namespace: "portal" },
      },
      assumptions: {
        crmCustomerIdTemplate: template,
        channelCustomerIdTemplate: template,
        channelOrderIdTemplate: template,
      },
      policies: this.policies,
      jobs: {
        everything: { kind: "sync", streams },
        home: { kind: "sync", streams, sources: ["crm", "hr"] },
        away: { kind: "sync", streams, sources: ["portal"] },
      },
    };
    writeFileSync(w.path("crm-sync.yaml"), stringify(settings));
  }

  numbers(namespace: string): string[] {
    return this.w
      .rows<{ number: string }>(
        "select wire_number as number from asset_number where namespace = ? order by 1",
        namespace,
      )
      .map(({ number }) => number);
  }

  async told(...words: string[]): Promise<Parsed> {
    return document(await this.w.run("--json", ...words));
  }

  /** What `explain` says of the same record of each CRM. */
  async both(stream: string, id: string): Promise<[string, string]> {
    const { w } = this;
    return [
      (await w.run("explain", stream, `crm/${id}`)).stdout,
      (await w.run("explain", stream, `portal/${id}`)).stdout,
    ];
  }
}

it(
  "what is known of one CRM's records is told of no record of the other one with the same id",
  { tags: "long" },
  async () => {
    const two = await TwoCrms.start();
    const { w } = two;
    expect((await two.told("status")).known).toEqual({ enterprises: 4, orders: 4, staff: 8, assignments: 8 });
    const [home, away] = [two.numbers("crm"), two.numbers("portal")];
    expect([home.length, away.length]).toEqual([4, 4]);
    for (const [stream, id] of [
      ["customer", "C1"],
      ["order", "O1"],
      ["staff", "S1-1"],
    ] as const) {
      const [one, other] = await two.both(stream, id);
      for (const number of away) expect(one, `${stream} ${id}`).not.toContain(number);
      for (const number of home) expect(other, `${stream} ${id}`).not.toContain(number);
      expect(one).not.toContain("portal");
      expect(other).not.toMatch(/crm\/[COS]/u);
    }
    const found = await w.run("explain", "order", home[0] ?? "");
    expect(found.stdout).toMatch(/order crm\/O[12]:/u);
  },
);

it(
  "one customer of two with the same id is at fault: each command names that one, and the other one's work is done",
  { tags: "long" },
  async () => {
    const two = await TwoCrms.start();
    const { w, portal } = two;
    two.policies = { seats: { revoked: "hold" } };
    for (const person of portal.staff.filter(({ id }) => id === "S1-1")) person.holds = [];
    for (const customer of w.customers.filter(({ id }) => id === "C1")) customer.branch = "New branch";
    two.write();
    const run = await w.does("run", "everything");
    expect([run.exitCode, run.calls], run.stdout).toEqual([4, { E4: 1 }]);
    expect(run.stdout).toContain("for portal/C1");
    expect(run.stdout).not.toContain("for crm/C1");
    const [one, other] = await two.both("customer", "C1");
    expect(one).not.toContain("hold");
    expect(other).toContain("policies.seats.revoked is hold");
    const [person, sameId] = await two.both("staff", "S1-1");
    expect(person).not.toContain("hold h-");
    expect(sameId).toContain("hold h-");

    // The same is held of the other one now; what is rejected of the one is not rejected of the other.
    for (const member of w.staff.filter(({ id }) => id === "S1-1")) member.holds = [];
    two.write();
    expect((await w.run("run", "everything")).exitCode).toBe(4);
    const holds = w.rows<{ id: string; namespace: string }>(
      "select id, customer_namespace as namespace from hold where state = 'open' order by 2",
    );
    expect(holds.map(({ namespace }) => namespace)).toEqual(["crm", "portal"]);
    expect((await w.run("reject", holds[1]?.id ?? "", "--reason", "they keep it")).exitCode).toBe(0);
    expect((await w.run("approve", holds[0]?.id ?? "", "--reason", "they left")).exitCode).toBe(0);
    const next = await w.does("run", "everything");
    expect([next.exitCode, next.calls], next.stdout).toEqual([0, { M9: 1 }]);
    const live = w.rows(
      "select namespace, count(*) as count from assignment where to_at is null group by 1 order by 1",
    );
    expect(live).toEqual([
      { namespace: "crm", count: 3 },
      { namespace: "portal", count: 4 },
    ]);
  },
);

it(
  "a source that is down, a bad row and a record that is gone count for their own CRM, in each job",
  { tags: "long" },
  async () => {
    const two = await TwoCrms.start();
    const { w, portal } = two;
    for (const order of portal.orders.filter(({ id }) => id === "O1")) order.placedAt = "nonsense";
    two.write();
    expect((await w.run("run", "home")).exitCode).toBe(0);
    const away = await w.run("run", "away");
    expect([away.exitCode, away.stdout], away.stdout).toEqual([3, expect.stringContaining("portal/O1")]);
    const [one, other] = await two.both("order", "O1");
    expect(one).not.toContain("quarantine");
    expect(other).toContain("quarantine");
    const listed = await two.told("quarantine", "list");
    expect(JSON.stringify(listed)).not.toContain('"namespace":"crm"');
    const status = await two.told("status");
    expect(status.open).toMatchObject([{ standing: "quarantined", stream: "orders", count: 1 }]);
    expect((await w.run("run", "home")).exitCode, "its own job has nothing open").toBe(0);
    expect((await w.run("run", "everything")).exitCode).toBe(3);
  },
);

it("what a reading shows otherwise, and what is asked for, is of the customer of its own CRM", async () => {
  const two = await TwoCrms.start();
  const { w } = two;
  const rows = w.rows<{ number: string; namespace: string }>(
    "select wire_number as number, namespace from asset_number where order_id = 'O1' and instance_id = 'O1-A1' order by 2",
  );
  expect(rows.map(({ namespace }) => namespace)).toEqual(["crm", "portal"]);
  w.sandbox.hand({ action: "drop-product", assetNum: rows[1]?.number ?? "", crmProductId: "O1-A1-P" });
  const verified = await w.run("run", "verify");
  expect([verified.exitCode, verified.stdout], verified.stdout).toEqual([3, expect.stringContaining("portal/C1")]);
  expect(verified.stdout).not.toContain("crm/C1");
  expect(verified.stdout).toContain("1 in all");
  const items = await statementRows(w, "reconciliation", "items");
  const missing = items.filter((row) => row["verdict"] === "missing" && row["item"] === "O1-A1-P");
  expect(missing).toMatchObject([{ level: "product", customer: "portal/C1", crm_order: "portal/O1" }]);
  const lines = await statementRows(w, "orders", "lines");
  for (const namespace of ["crm", "portal"]) {
    const own = lines.filter((row) => row["event"] === "placed" && row["crm_order"] === `${namespace}/O1`);
    const customer = `${namespace}/C1`;
    expect(own).toMatchObject([
      { customer, product_id: "O1-A1-P", units: 1 },
      { customer, product_id: "O1-A2-P", units: 1 },
    ]);
    const other = namespace === "crm" ? "portal" : "crm";
    for (const number of two.numbers(other)) expect(JSON.stringify(own)).not.toContain(number);
  }
});
