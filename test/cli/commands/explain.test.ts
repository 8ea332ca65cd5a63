import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { verdictOf } from "../../../src/report/explain-verdict.ts";
import { numberOf } from "../../support/asking.ts";
import { document, world, type Parsed } from "../../support/cli.ts";
import { crmSync } from "../../support/program.ts";
import { lines } from "../../support/world/crm-files.ts";
import { canary, company, customerRow, orderRow, staffRow } from "../../support/world/crm.ts";

describe("explain", () => {
  it("finds a record by its name, an asset number and an id of any namespace, and prints no name", async () => {
    const w = await world({ records: company(2, 1) });
    const settings = readFileSync(w.path("crm-sync.yaml"), "utf8");
    const [, crm = ""] = /^ {2}crm:\n([^]*?) {6}orders:/mu.exec(settings) ?? [];
    const portal = crm
      .replace("kind: file", "kind: file\n    namespace: portal")
      .replace("customers.ndjson", "portal.ndjson");
    writeFileSync(w.path("crm-sync.yaml"), settings.replace(/^jobs:/mu, `  portal:\n${portal}jobs:`));
    const strangers = ["P1", "S1-1"].map((id) => customerRow({ id, name: `Zqcanary Ötrade / Portal ${id}` }));
    writeFileSync(w.path("data/portal.ndjson"), lines(strangers));
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    const held = numberOf(w, "O2-A1");
    for (const [kind, text, key] of [
      ["customer", "P1", "portal/P1"],
      ["customer", "zqcanary  ÖTRADE / portal P1", "portal/P1"],
      ["customer", `${canary.name} 2`, "crm/C2"],
      ["staff", `${canary.person} 2 1`, "crm/S2-1"],
      ["staff", `${canary.login}2x1`, "crm/S2-1"],
      ["staff", held, "crm/S2-1"],
      ["order", held, "crm/O2"],
      ["customer", held, "crm/C2"],
      ["staff", "S1-1", "crm/S1-1"],
      ["customer", "S1-1", "portal/S1-1"],
    ] as const) {
      const ended = await w.run("--json", "explain", kind, text, "--show-private");
      const found = document(ended).key;
      expect([text, ended.exitCode, `${found.namespace}/${found.id}`]).toEqual([text, 0, key]);
    }
    w.customers = w.customers.map((row) => ({ ...row, name: canary.name }));
    writeFileSync(w.path("data/customers.ndjson"), lines(w.customers.map(customerRow)));
    await w.run("run", "everything");
    const both = await w.run("--json", "explain", "customer", canary.name);
    expect([both.exitCode, document(both).error.code]).toEqual([64, "record.ambiguous"]);
  });

  it("finds a record by its id alone, and asks which is meant where several have it", async () => {
    const w = await world({
      records: { customers: [{ id: "C1" }], orders: [], staff: [{ id: "S1", customer: "C1" }] },
    });
    w.orders.push({ id: "C1", customer: "C1", assets: ["A1"] });
    w.orders.push({ id: "O1", customer: "C1", assets: ["A2"] });
    w.write();
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    expect((await w.run("explain", "crm/O1")).stdout).toMatch(/^order crm\/O1: is placed/u);
    expect((await w.run("explain", "S1")).stdout).toMatch(/^staff crm\/S1: /u);
    const both = await w.run("explain", "C1");
    expect([both.exitCode, both.stderr]).toEqual([
      64,
      expect.stringContaining("crm-sync explain order crm/C1, crm-sync explain customer crm/C1"),
    ]);
    const { links } = await w.ask("explain", "customer", "C1");
    for (const word of [`${canary.name} C1`, links[0].enterpriseGlobalId])
      expect((await w.ask("explain", word)).key, word).toEqual({ namespace: "crm", id: "C1" });
    expect((await w.ask("explain", `${canary.person} S1`, "--show-private")).stream).toBe("staff");
    expect((await w.ask("explain", numberOf(w, "A2"))).stream).toBe("orders");
    expect((await w.run("explain", "order")).exitCode).toBe(64);
    expect((await w.run("explain", "nobody")).exitCode).toBe(64);
  });

  it("has one next step for what a service rejected, with the provider and the product that it names", async () => {
    const w = await world({ records: company(1, 1) });
    w.sandbox.faults.add({
      operation: "E5",
      fault: "status299",
      code: "13004",
      words: "parameter error: assets[0].products[0].appKey",
    });
    await w.run("run", "everything");
    const told = (await w.run("explain", "O1")).stdout;
    expect(told).toMatch(/assets\[0\]\.products\[0\]\.\S* \(product \S+\)/u);
    expect(told).toContain("ask the provider of the order service");
    expect(told.slice(told.indexOf("\nnext\n")).trim().split("\n")).toHaveLength(2);
  });

  it("tells what happened, the oldest first, then how it is and what to do, each thing once", async () => {
    const w = await world({ records: company(1, 1) });
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    const number = numberOf(w, "O1-A1");
    const [customer] = w.customers;
    if (customer === undefined) throw new Error("the world has a customer");
    customer.name = `${canary.name} One`;
    Object.assign(w.orders[0] ?? {}, { cancelled: true });
    w.later(1);
    w.write();
    expect((await w.run("run", "everything")).exitCode).toBe(4);
    const text = async (...words: string[]): Promise<string> => (await w.run("explain", ...words)).stdout;
    const story = (said: string): string[] =>
      (/what happened\n([^]*?)\n\n/u.exec(said)?.[1] ?? "").split("\n").map((line) => line.trim().split("  ")[1] ?? "");
    const told = await text("customer", "C1");
    expect(told.split("\n", 1)[0]).toMatch(
      new RegExp(`^${canary.name} One, customer crm/C1: is the enterprise \\d+ `, "u"),
    );
    expect(story(told)).toEqual([
      expect.stringMatching(/^CRM: version 1, \d+ fields/u),
      expect.stringMatching(/^crm-sync: create-enterprise \(E2\) done, operation op_\w+; /u),
      expect.stringMatching(new RegExp(`^crm-sync: asset ${number} granted to staff crm/S1-1`, "u")),
      expect.stringContaining(`CRM: version 2; name: ${canary.name} 1 → ${canary.name} One`),
      expect.stringMatching(/^crm-sync: update-enterprise \(E4\) done, operation op_/u),
    ]);
    const order = await text("order", "O1");
    expect(story(order)).toEqual([
      expect.stringMatching(/^CRM: version 1, /u),
      expect.stringMatching(/^crm-sync: place-order \(E5\) done: placed as O1, operation op_/u),
      expect.stringMatching(/^crm-sync: asset \d+ granted to staff crm\/S1-1/u),
      expect.stringContaining("CRM: version 2; cancelled: false → true"),
      expect.stringMatching(/^crm-sync: delete-assets \(E5\) held/u),
    ]);
    expect(order).toContain(`customer  ${canary.name} One, crm/C1 (current)\n`);
    expect(order).toMatch(
      /\nnext\n {2}crm-sync approve h-\w+ --reason TEXT, or crm-sync reject h-\w+ --reason TEXT\n$/u,
    );
    const times = order.match(/^ {2}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/gmu) ?? [];
    expect(times).toEqual(times.toSorted());
    const lines = order.split("\n").filter((line) => line.length > 30);
    expect(new Set(lines).size).toBe(lines.length);
    const person = await crmSync(w.place, "explain", "staff", "S1-1", "--show-private", "--by", "anna");
    expect(person.stdout.split("\n", 1)[0]).toMatch(new RegExp(`^${canary.person} 1 1, staff crm/S1-1: `, "u"));
  });

  it("tells what the platform showed earlier, and shows only what it shows now as present", async () => {
    const w = await world({ records: company(1, 1) });
    await w.run("run", "everything");
    await w.run("run", "verify");
    w.tamper(`insert into observation select customer_namespace, customer_id, kind, subject, '2026-01-01T00:00:00.000Z',
      from_at, from_at, json_insert(body, '$.earlier', 'another form'), 'x' from observation where kind = 'product'`);
    const told = (await w.run("explain", "O1")).stdout;
    const [story = "", present = ""] = told.split("\nshown by the platform");
    expect(story).toMatch(/2026-01-01 00:00:00 UTC {2}platform: product .*another form/u);
    expect(present).not.toContain("another form");
    expect((await w.ask("explain", "O1")).observations).toHaveLength(3);
  });

  it("names the newest reasons for quarantine, whatever the source", async () => {
    const w = await world({ records: company(1, 1) });
    w.staff = w.staff.map((row) => ({ ...row, login: "not a login!" }));
    w.write();
    await w.run("run", "everything");
    const names =
      "id source first_seen stream namespace record_id place field code message raw_ref raw_hash last_seen last_read state";
    const columns = names.split(" ");
    const copy = (...own: [id: string, source: string, firstSeen: string]): void =>
      w.tamper(
        `insert into quarantine (${columns.join(", ")})
         select '${own.join("', '")}', ${columns.slice(3).join(", ")} from quarantine limit 1`,
      );
    copy("q-a", "a", "2030-01-01T00:00:00.000Z");
    copy("q-z", "z", "2020-01-01T00:00:00.000Z");
    const { quarantine } = await w.ask("explain", "staff", "S1-1");
    expect([quarantine[0].id, quarantine.at(-1).id]).toEqual(["q-a", "q-z"]);
  });

  it("says that a cut list has at least so many, also where some of it is in quarantine", async () => {
    const w = await world({ records: company(1, 1) });
    await w.run("run", "everything");
    const facts = await w.ask("explain", "C1");
    const { record } = await w.ask("explain", "O1");
    const deferred = { code: "plan.not-chosen", reason: "later", since: record.firstSeen };
    const waiting = Array.from({ length: 20 }, () => ({ ...record, deferred }));
    const { because } = verdictOf({ ...facts, waiting: [{ ...record, state: "quarantined" }, ...waiting.slice(1)] });
    expect(because[0]).toMatch(/^at least 19 orders and staff records/u);
  });

  it("tells what is in quarantine from what no source gave", { tags: "long" }, async () => {
    const w = await world({ records: company(3, 1) });
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    const write = (list: string, rows: object[]): void => writeFileSync(w.path(`data/${list}.ndjson`), lines(rows));
    const stranger = { id: "O7", customer: "C7", assets: ["O7-A1"] };
    const [first, ...orders] = w.orders.map(orderRow);
    write("orders", [
      { ...first, products: "none" },
      ...orders,
      orderRow(stranger),
      { ...orderRow({ ...stranger, id: "O8" }), products: 7 },
    ]);
    write("staff", [{ id: "S1-1" }, ...w.staff.slice(1).map(staffRow), { id: "S1-9", customer: "C1" }]);
    const [one, two, three] = w.customers.map(customerRow);
    write("customers", [{ ...one }, { ...two }, { ...three, name: undefined }]);
    expect((await w.run("run", "everything")).exitCode).toBe(3);

    const c1 = await w.ask("explain", "customer", "C1");
    expect(c1.unusable.map(({ key }: Parsed) => key.id).toSorted()).toEqual(["O1", "S1-1", "S1-9"]);
    expect((await w.ask("explain", "customer", "C2")).unusable).toEqual([]);
    const c7 = await w.ask("explain", "customer", "C7");
    expect([c7.record, c7.waiting[0].key.id, c7.unusable[0].key.id]).toEqual([null, "O7", "O8"]);
    const o3 = await w.ask("explain", "order", "O3");
    expect(o3.customer).toMatchObject({ record: { state: "quarantined" }, ownQuarantine: { key: { id: "C3" } } });
    const o7 = await w.ask("explain", "order", "O7");
    expect([o7.record.deferred.code, o7.customer.record]).toEqual(["customer.blocked", null]);
    expect((await w.run("explain", "customer", "C99")).exitCode).toBe(64);
  });

  it("names for a person the number of their own customer's asset", { tags: "long" }, async () => {
    const order = (id: string, customer: string) => ({
      id,
      customer,
      assets: ["A1"],
      products: [{ id: `P${id}`, parent: "A1", pid: `PID-${id}` }],
    });
    const w = await world({
      records: {
        customers: [{ id: "C1" }, { id: "C2" }],
        orders: [order("O1", "C1"), order("O2", "C2")],
        staff: [
          { id: "S1", customer: "C1", holds: ["A1"] },
          { id: "S2", customer: "C2", holds: ["A1"] },
        ],
      },
    });
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    for (const n of [1, 2]) {
      const [{ assetNos }] = JSON.parse(w.sandbox.batches(`O${n}`)[0]?.body ?? "").orderList[0].assets;
      const { claims } = await w.ask("explain", "staff", `S${n}`);
      expect(claims).toMatchObject([{ numbers: assetNos }]);
    }
  });
});
