import { rmSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { company, customerRow } from "../support/world/crm.ts";
import { promptRetries, world } from "../support/cli.ts";
import type { World } from "../support/cli.ts";

/** Runs everything and expects this outcome; answers what the run said. */
async function runs(w: World, expected: { code: number; calls: Record<string, number> }): Promise<string> {
  const { result, calls } = await w.writes(() => w.run("run", "everything"));
  expect(calls, result.stdout).toEqual(expected.calls);
  expect(result.exitCode, result.stdout).toBe(expected.code);
  return result.stdout;
}

describe("what has to wait for something else is deferred, and comes back by itself", () => {
  it("an order that comes before its customer", { tags: "long" }, async () => {
    const w = await world({ records: { ...company(1, 1), staff: [] } });
    const { customers } = w;
    w.customers = [];
    w.write();
    await runs(w, { code: 3, calls: {} });
    const waiting = await w.run("explain", "order", "O1");
    expect(waiting.exitCode).toBe(0);
    expect(waiting.stdout).toMatch(/deferred[^]*crm\/C1/u);
    w.customers = customers;
    w.write();
    await runs(w, { code: 0, calls: { E2: 1, E5: 1, E9: 1 } });
    await runs(w, { code: 0, calls: {} });
    expect((await w.run("explain", "order", "O1")).stdout).toContain("is placed as O1");
  });

  it("an order of a customer without an address", async () => {
    const w = await world({ records: { ...company(1, 1), staff: [] } });
    w.customers = w.customers.map((customer) => ({ ...customer, address: null }));
    w.write();
    await runs(w, { code: 3, calls: { E2: 1 } });
    expect((await w.run("explain", "order", "O1")).stdout).toMatch(/deferred[^]*address/u);
    expect((await w.run("status")).stdout).toMatch(/orders +\S+ +1 .*address/u);
    w.customers = company(1, 1).customers;
    w.write();
    await runs(w, { code: 0, calls: { E4: 1, E5: 1, E9: 1 } });
    expect(w.sandbox.batches("O1")).toHaveLength(1);
  });

  it("a person whose asset is not ordered yet is added, and gets it when it is", { tags: "long" }, async () => {
    const records = company(1, 1);
    const w = await world({ records: { ...records, orders: [] } });
    await runs(w, { code: 3, calls: { E2: 1, M1: 1 } });
    const waiting = await w.run("explain", "staff", "S1-1");
    expect(waiting.stdout).toContain("is in no placed order of this customer yet");
    w.orders = records.orders;
    w.write();
    await runs(w, { code: 0, calls: { E5: 1, E9: 1, M9: 1 } });
    expect(w.sandbox.state().assignments).toBe(1);
    await runs(w, { code: 0, calls: {} });
  });

  it("everything of a customer that waits in quarantine, until the customer is mended", { tags: "long" }, async () => {
    const w = await world({ records: company(2, 1) });
    const spoiled = w.customers.map((customer) =>
      customer.id === "C1" ? { ...customerRow(customer), name: undefined } : customerRow(customer),
    );
    writeFileSync(w.path("data/customers.ndjson"), spoiled.map((line) => `${JSON.stringify(line)}\n`).join(""));
    await runs(w, { code: 3, calls: { E2: 1, E5: 1, E9: 1, M1: 1, M9: 1 } });
    for (const [kind, id] of [
      ["customer", "C1"],
      ["order", "O1"],
      ["staff", "S1-1"],
    ] as const) {
      const story = await w.run("explain", kind, id);
      expect(story.stdout, `${kind} ${id}`).toMatch(/crm\/C1/u);
    }
    const list = await w.run("quarantine", "list");
    expect(list.stdout).toContain("customers.ndjson:1");
    expect(list.stdout).toContain("name");
    const id = w.rows<{ id: string }>("select id from quarantine where state = 'open'")[0]?.id ?? "";
    const shown = await w.run("quarantine", "show", id);
    expect(shown.exitCode).toBe(0);
    expect(shown.stdout).toContain("name");
    w.write();
    await runs(w, { code: 0, calls: { E2: 1, E5: 1, M1: 1, M9: 1 } });
    expect((await w.run("quarantine", "list")).stdout).not.toContain("customers.ndjson:1");
    await runs(w, { code: 0, calls: {} });
  });

  it("nothing is done for a customer while a service is down, and all of it afterwards", { tags: "long" }, async () => {
    const w = await world({ records: company(1, 1) });
    Object.assign(w.environment, promptRetries);
    await w.sandbox.refuseConnections();
    await runs(w, { code: 7, calls: {} });
    await w.sandbox.acceptConnections();
    await runs(w, { code: 0, calls: { E2: 1, E5: 1, E9: 1, M1: 1, M9: 1 } });
  });

  it("one source is down: the others go on", { tags: "long" }, async () => {
    const w = await world({ records: company(1, 1) });
    rmSync(w.path("data/staff.ndjson"));
    const said = await runs(w, { code: 7, calls: { E2: 1, E5: 1, E9: 1 } });
    expect(said).toMatch(/source hr\/staff: .*staff\.ndjson/u);
    w.write();
    await runs(w, { code: 0, calls: { M1: 1, M9: 1 } });
  });
});
