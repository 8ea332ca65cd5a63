import { writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { stringify } from "yaml";
import { quarantined } from "../../support/asking.ts";
import { world, type World } from "../../support/cli.ts";
import { statementRows } from "../../support/statement-rows.ts";
import { fileSource, filesOf, writeFiles } from "../../support/world/crm-files.ts";
import { company, type Crm } from "../../support/world/crm.ts";

/** Two CRMs over one ledger, whose customers, orders, assets and people have the same ids. */
async function twoCrms(): Promise<{ w: World; portal: Crm; write: () => void }> {
  const w = await world({ records: company(1, 2) });
  const portal = company(1, 2);
  const write = (): void => writeFiles(w.path("portal"), filesOf("ndjson", portal));
  write();
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
    jobs: {
      everything: { kind: "sync", streams },
      home: { kind: "sync", streams, sources: ["crm", "hr"] },
      away: { kind: "sync", streams, sources: ["portal"] },
    },
  };
  writeFileSync(w.path("crm-sync.yaml"), stringify(settings));
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  return { w, portal, write };
}

it("tells a difference of the record of its own CRM when another CRM has the same id", { tags: "long" }, async () => {
  const { w } = await twoCrms();
  const numberOf = async (namespace: string): Promise<string> => {
    const { numbers } = await w.ask("explain", "order", `${namespace}/O1`);
    expect(numbers).toHaveLength(2);
    return numbers[0].number;
  };
  const [home, away] = [await numberOf("crm"), await numberOf("portal")];
  expect(away).not.toBe(home);
  expect((await w.ask("explain", "order", home)).key).toEqual({ namespace: "crm", id: "O1" });
  w.sandbox.hand({ action: "drop-product", assetNum: away, crmProductId: "O1-A1-P" });
  const { exit, findings } = await w.ask("run", "verify");
  expect([exit, findings.counts]).toMatchObject([3, { "not-shown": 1 }]);
  const items = await statementRows(w, "reconciliation", "items");
  const missing = items.filter((row) => row["verdict"] === "missing" && row["item"] === "O1-A1-P");
  expect(missing).toMatchObject([{ level: "product", customer: "portal/C1", crm_order: "portal/O1" }]);
});

it("counts a bad row in the job of its own CRM alone", { tags: "long" }, async () => {
  const { w, portal, write } = await twoCrms();
  for (const order of portal.orders) order.placedAt = "nonsense";
  write();
  const exitOf = async (job: string): Promise<number | null> => (await w.run("run", job)).exitCode;
  expect([await exitOf("home"), await exitOf("away"), await exitOf("home")]).toEqual([0, 3, 0]);
  expect(await quarantined(w)).toMatchObject([{ key: { namespace: "portal", id: "O1" } }]);
  expect(await exitOf("everything")).toBe(3);
});
