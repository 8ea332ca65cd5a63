import { readFileSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { startService } from "../../source/http-service.ts";
import { quarantined } from "../../support/asking.ts";
import { world, type World } from "../../support/cli.ts";
import { mappingOf } from "../../support/world/crm-files.ts";
import { canary, company, orderRow, type GivenOrder } from "../../support/world/crm.ts";

/** An order whose product has a licence password. */
const sealed: GivenOrder = {
  id: "O1",
  customer: "C1",
  assets: ["O1-A1"],
  products: [{ id: "P1", parent: "O1-A1", passwords: [canary.licence] }],
};

/** Orders come from a file that gives all of them each time, or from a service that gives each change once. */
async function ordersFrom(kind: "a file" | "changes", orders: GivenOrder[]): Promise<World> {
  const { customers } = company(1, 1);
  const w = await world({ records: { customers, orders: kind === "a file" ? orders : [], staff: [] } });
  if (kind === "a file") return w;
  const service = await startService(({ query }) => ({
    body:
      query["since"] === undefined ? orders.map((row) => ({ ...orderRow(row), changed: "2026-11-02T07:00:00Z" })) : [],
  }));
  w.extra = `  shop:
    kind: http
    baseUrl: ${service.origin}
    streams:
      orders:
        url: orders
        key: id
        since: { parameter: since, changedAt: changed }
        mapping: ${JSON.stringify(mappingOf("orders"))}
jobs:
  everything: { kind: sync, streams: [customers, orders, staff] }
`;
  w.write();
  return w;
}

/** Changes the text of the configuration. */
function configure(w: World, from: string | RegExp, to: string): void {
  const path = w.path("crm-sync.yaml");
  writeFileSync(path, readFileSync(path, "utf8").replace(from, to));
}

it.each(["a file", "changes"] as const)("an order of %s is placed once its product type is listed", async (kind) => {
  const w = await ordersFrom(kind, [{ id: "O1", customer: "C1", assets: ["O1-A1"] }]);
  const allow = (...types: string[]): void =>
    void (w.environment["CRM_SYNC__assumptions__productTypes"] = JSON.stringify(types));
  allow("other");
  for (const _ of [1, 2]) expect((await w.does("run", "everything")).calls["E5"]).toBeUndefined();
  expect(await quarantined(w)).toMatchObject([{ code: "unlisted-word", state: "open" }]);
  allow("other", "tool");
  expect((await w.run("plan")).exitCode, "a plan shows it too").toBe(2);
  const placed = await w.does("run", "everything");
  expect([placed.exitCode, placed.calls["E5"]], placed.stdout).toEqual([0, 1]);
  expect(await quarantined(w)).toEqual([]);
});

it.each(["a file", "changes"] as const)(
  "an order of %s with a password is placed once it can be sealed",
  async (kind) => {
    const w = await ordersFrom(kind, [sealed]);
    configure(w, "  sealKey: env:SEAL_KEY\n", "");
    for (const _ of [1, 2]) expect((await w.does("run", "everything")).calls["E5"]).toBeUndefined();
    const [row] = await quarantined(w);
    expect(row).toMatchObject({ code: "no-sealing-key", state: "open" });
    expect((await w.run("quarantine", "show", row.id)).stdout).toContain(
      "set ledger.sealKey; the next run maps the record again",
    );
    configure(w, "  path: ledger.db\n", "  path: ledger.db\n  sealKey: env:SEAL_KEY\n");
    const placed = await w.does("run", "everything");
    expect([placed.exitCode, placed.calls["E5"]], placed.stdout).toEqual([0, 1]);
    expect(await quarantined(w)).toEqual([]);
  },
);

it("a row that the changed settings do not cure stays as it was", async () => {
  const w = await ordersFrom("a file", [{ id: "O1", customer: "C1", assets: ["O1-A1"] }]);
  w.environment["CRM_SYNC__assumptions__productTypes"] = '["other"]';
  await w.run("run", "everything");
  const before = await quarantined(w);
  w.environment["CRM_SYNC__assumptions__productTypes"] = '["another"]';
  expect((await w.run("run", "everything")).exitCode).toBe(3);
  const { id, firstSeen } = before[0];
  expect(await quarantined(w)).toMatchObject([{ id, firstSeen, code: "unlisted-word", state: "open" }]);
});
