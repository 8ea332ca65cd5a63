import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { lines } from "../support/world/crm-files.ts";
import { canary, company, customerRow, orderRow, staffRow } from "../support/world/crm.ts";
import { world } from "../support/cli.ts";
import type { World } from "../support/cli.ts";
import type { Ended } from "../support/program.ts";

const runs = (w: World): Promise<Ended> => w.run("run", "everything");
const explain = (w: World, kind: string, id: string): Promise<Ended> => w.run("explain", kind, id);

describe("explain", () => {
  it(
    "shows everything of a customer, also what cannot be used, and tells what no reading held from what is in quarantine",
    { tags: "long" },
    async () => {
      const w = await world({ records: company(3, 1) });
      expect((await runs(w)).exitCode).toBe(0);
      const orders = w.orders.map(orderRow);
      const broken = { ...orderRow({ id: "O1", customer: "C1", assets: ["O1-A1"] }), products: "none" };
      const stranger = { id: "O7", customer: "C7", assets: ["O7-A1"] };
      writeFileSync(
        w.path("data/orders.ndjson"),
        lines([
          broken,
          ...orders.slice(1),
          orderRow(stranger),
          { ...orderRow({ ...stranger, id: "O8" }), products: 7 },
        ]),
      );
      // A good person loses the name and the customer; a new one has a customer and no name.
      const people = w.staff.map(staffRow);
      writeFileSync(
        w.path("data/staff.ndjson"),
        lines([{ id: "S1-1" }, ...people.slice(1), { id: "S1-9", customer: "C1" }]),
      );
      const customers = w.customers.map(customerRow);
      writeFileSync(
        w.path("data/customers.ndjson"),
        lines([...customers.slice(0, 2), { ...customers[2], name: undefined }]),
      );
      expect((await runs(w)).exitCode).toBe(3);

      const one = await explain(w, "customer", "C1");
      expect(one.exitCode).toBe(0);
      expect(one.stdout).toContain("3 records of this customer cannot be used and wait in quarantine (listed below)");
      for (const name of ["order crm/O1", "staff crm/S1-1", "staff crm/S1-9"])
        expect(one.stdout).toMatch(new RegExp(`^  ${name}: .*→ crm-sync quarantine show q-`, "mu"));
      expect((await explain(w, "customer", "C2")).stdout).not.toContain("quarantine");

      const strange = await explain(w, "order", "O7");
      expect(strange.stdout).toContain("its customer crm/C7 has not come from the CRM: no reading of a source held it");
      expect(strange.stdout).toContain("no reading has held the customer");
      const nobody = await explain(w, "customer", "C7");
      expect([nobody.exitCode, nobody.stdout]).toEqual([
        0,
        expect.stringContaining("2 records of the CRM name it as the customer"),
      ]);
      expect(nobody.stdout).toMatch(
        /the CRM has not given customer crm\/C7[^]*no reading of a source held a record[^]*order crm\/O8/u,
      );
      const third = await explain(w, "order", "O3");
      expect(third.stdout).toMatch(/customer crm\/C3 is quarantined/u);
      expect((await explain(w, "customer", "C99")).exitCode).toBe(64);
    },
  );

  it(
    "finds a record by a name, an asset number and an id without its namespace, and prints no name",
    { tags: "long" },
    async () => {
      const w = await world({ records: company(2, 1) });
      const settings = readFileSync(w.path("crm-sync.yaml"), "utf8");
      const [, crm = ""] = /^ {2}crm:\n([^]*?) {6}orders:/mu.exec(settings) ?? [];
      const portal = crm
        .replace("kind: file", "kind: file\n    namespace: portal")
        .replace("customers.ndjson", "portal.ndjson");
      writeFileSync(w.path("crm-sync.yaml"), settings.replace(/^jobs:/mu, `  portal:\n${portal}jobs:`));
      writeFileSync(w.path("data/portal.ndjson"), lines([customerRow({ id: "P1", name: "Zqcanary Ötrade / Portal" })]));
      expect((await runs(w)).exitCode).toBe(0);
      const [held] = w.rows<{ number: string; staff: string }>(
        "select asset_number as number, staff_id as staff from assignment where staff_id = 'S2-1' and to_at is null",
      );
      const found: [kind: string, text: string, headline: string][] = [
        ["customer", "P1", "customer portal/P1: is the enterprise"],
        ["customer", "zqcanary  ÖTRADE / portal", "customer portal/P1: is the enterprise"],
        ["customer", `${canary.name} 2`, "customer crm/C2: is the enterprise"],
        ["staff", `${canary.person} 2 1`, "staff crm/S2-1: is the member"],
        ["staff", `${canary.login}2x1`, "staff crm/S2-1: is the member"],
        ["staff", held?.number ?? "", "staff crm/S2-1: is the member"],
        ["order", held?.number ?? "", "order crm/O2: is placed"],
        ["customer", held?.number ?? "", "customer crm/C2: is the enterprise"],
      ];
      for (const [kind, text, headline] of found) {
        const ended = await explain(w, kind, text);
        expect([text, ended.exitCode, ended.stdout.slice(0, headline.length)]).toEqual([text, 0, headline]);
        expect(`${ended.stdout}${ended.stderr}`).not.toMatch(/zqcanary/iu);
      }
      w.customers = w.customers.map((row) => ({ ...row, name: canary.name }));
      writeFileSync(w.path("data/customers.ndjson"), lines(w.customers.map(customerRow)));
      await runs(w);
      const both = await explain(w, "customer", canary.name);
      expect([both.exitCode, both.stderr]).toEqual([64, expect.stringContaining("2 records fit: crm/C1, crm/C2")]);
    },
  );

  it(
    "names for a person the numbers of their own customer's asset, where another customer's has the same id",
    { tags: "long" },
    async () => {
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
      expect((await runs(w)).exitCode).toBe(0);
      const numbers = w.rows<{ number: string }>(
        "select wire_number as number from asset_number where fixed_at is not null order by order_id",
      );
      const [one = "", two = ""] = numbers.map(({ number }) => number);
      expect((await explain(w, "staff", "S1")).stdout).toContain(`should hold asset instance A1 (${one})`);
      expect((await explain(w, "staff", "S2")).stdout).toContain(`should hold asset instance A1 (${two})`);
    },
  );

  it("finds a record of the kind that was asked for, however many of other kinds have the same id", async () => {
    const w = await world({
      records: { customers: [{ id: "C1" }], orders: [], staff: [{ id: "S1", customer: "C1" }] },
    });
    expect((await runs(w)).exitCode).toBe(0);
    const columns = w
      .rows<{ name: string }>("select name from pragma_table_info('record') where name not in ('stream', 'namespace')")
      .map(({ name }) => name)
      .join(", ");
    w.tamper(`insert into record (stream, namespace, ${columns})
      select 'orders', 'n' || value, ${columns.replace("id", "record.id")} from record, json_each('${JSON.stringify(Array.from({ length: 20 }, (_, n) => n))}') where record.id = 'S1'`);
    w.tamper("update record set namespace = 'hr' where id = 'S1' and stream = 'staff'");
    const found = await explain(w, "staff", "S1");
    expect([found.exitCode, found.stdout], found.stderr).toEqual([0, expect.stringContaining("staff hr/S1")]);
  });
});
