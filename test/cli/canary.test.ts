import { describe, expect, it } from "vitest";
import { document, world } from "../support/cli.ts";
import type { World } from "../support/cli.ts";
import { company } from "../support/world/crm.ts";
import { placeOf } from "../../src/run/canary.ts";

const customers = 12;

/** Customers with nothing on the platform yet, in the order in which shares take them. */
async function newCompany(): Promise<{ w: World; shares: string; first: number }> {
  const w = await world({ records: company(customers, 1) });
  const order = w.customers
    .map(({ id }) => ({ id, place: placeOf({ namespace: "crm", id }) }))
    .toSorted((one, other) => one.place - other.place);
  const first = Math.ceil(order[1]?.place ?? 0) + 1;
  const share = order.filter(({ place }) => place < first).length;
  return { w, shares: `${first},${Math.min(99, first + 40)}`, first: share };
}

describe("run --canary", () => {
  it("applies to the shares one after the other, reads back, and goes on where all of it is as it was meant", async () => {
    const { w, shares } = await newCompany();
    const run = await w.does("run", "everything", "--canary", shares);
    expect([run.exitCode, run.calls["E2"]], run.stdout).toEqual([0, customers]);
    expect(run.stdout).toMatch(/canary \d+ %: \d+ customer\(s\), read back as meant\n/u);
    expect(w.rows("select 1 from observation_read where complete = 1").length).toBeGreaterThan(1);
    const again = await w.does("run", "everything", "--canary", shares);
    expect([again.exitCode, again.calls]).toEqual([0, {}]);
  });

  it("stops where one customer of the first share is read back otherwise; the rest waits, is told of, and goes next", async () => {
    const { w, shares, first } = await newCompany();
    w.extra = 'notify: { kind: "log" }\n';
    w.write();
    // Only reading back asks M7 of an enterprise that was made just now.
    w.sandbox.faults.add({ operation: "M7", fault: "oddField", field: "crmProductId", value: "ELSE", times: 1 });
    const run = await w.does("run", "everything", "--canary", shares);
    w.sandbox.faults.clear();
    expect(run.exitCode, run.stdout).toBe(3);
    expect(run.calls["E2"]).toBe(first);
    expect(run.stdout).toMatch(/canary \d+ %: \d+ of \d+ customer\(s\) not as meant: crm\/C\d+: .*; the rest waits\n/u);
    expect(run.stdout).toContain("run.canary");
    const status = document(await w.run("--json", "status"));
    expect(JSON.stringify(status)).toContain("run.canary");
    expect(w.rows<{ key: string }>("select key from alert where key like 'canary:%'").length).toBeGreaterThan(0);
    const next = await w.does("run", "everything");
    expect([next.exitCode, next.calls["E2"]], next.stdout).toEqual([0, customers - first]);
    expect((await w.does("run", "everything")).calls).toEqual({});
  });

  it("stops where something of the first share was refused", async () => {
    const { w, shares, first } = await newCompany();
    w.sandbox.faults.add({ operation: "M1", fault: "status299", code: "30002", times: 1 });
    const run = await w.does("run", "everything", "--canary", shares);
    w.sandbox.faults.clear();
    expect(run.exitCode, run.stdout).toBe(3);
    expect(run.calls["E2"]).toBe(first);
  });

  it("goes on where a policy holds something of a share", async () => {
    const { w, shares } = await newCompany();
    w.extra = "policies: { orders: { added: hold } }\n";
    w.write();
    const run = await w.does("run", "everything", "--canary", shares);
    expect([run.exitCode, run.calls["E2"], run.calls["E5"]], run.stdout).toEqual([4, customers, undefined]);
  });

  it("takes shares that rise, of a job that synchronises, by hand or by the configuration", async () => {
    const { w, shares, first } = await newCompany();
    for (const words of ["5,1", "0", "a", "101"])
      expect((await w.does("run", "everything", "--canary", words)).exitCode, words).toBe(64);
    expect((await w.run("run", "verify", "--canary", "5")).exitCode).toBe(64);
    w.extra = `jobs: { everything: { kind: sync, streams: [customers, orders, staff], canary: [${shares}] } }\n`;
    w.write();
    w.sandbox.faults.add({ operation: "M1", fault: "status299", code: "30002", times: 1 });
    const run = await w.does("run", "everything");
    w.sandbox.faults.clear();
    expect([run.exitCode, run.calls["E2"]], run.stdout).toEqual([3, first]);
    w.extra = "jobs: { everything: { kind: sync, streams: [customers], canary: [5, 1] } }\n";
    w.write();
    expect((await w.run("run", "everything")).exitCode).toBe(78);
  });
});
