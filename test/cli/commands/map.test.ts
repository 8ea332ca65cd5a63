import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { document, world, type Parsed } from "../../support/cli.ts";
import { crmSync, type Ended } from "../../support/program.ts";
import { company } from "../../support/world/crm.ts";
import { changeFile, folder } from "../../support/world/start.ts";
import { startService } from "../../source/http-service.ts";

/** What `schema` and `map` have in common: they look at the rows of a source and keep nothing. */

const wayOf = (field: string, { ways }: Parsed): Parsed => ways.find((way: Parsed) => way.field === field);

describe("map", () => {
  it("shows records raw and mapped with the way of each field, nothing private, and makes no ledger", async () => {
    const w = await world({ records: company(2, 1), isNew: true });
    const { records } = await w.ask("map", "hr", "staff", "--limit", "1");
    expect(records).toMatchObject([{ place: "staff.ndjson:1", raw: { customer: "C1" }, record: { customerId: "C1" } }]);
    const customer = { expression: "customer", reads: [{ place: "customer", values: ["C1"] }], gives: ["C1"] };
    expect(wayOf("customerId", records[0])).toMatchObject(customer);
    expect((await w.run("map", "hr", "staff")).stdout).toMatch(/^customerId +C1 +customer = C1/mu);
    expect((await w.run("status")).exitCode).toBe(65);
  });

  it("shows personal data to whoever asks for it, and secrets to nobody", async () => {
    const w = await world({ records: company(1, 1), isNew: true });
    for (const order of w.orders)
      order.products = [{ id: "P", parent: "O1-A1", passwords: ["zqcanary-licence-password"] }];
    w.write();
    expect((await crmSync(w.place, "map", "hr", "staff", "--show-private")).stdout).toContain("Zqcanary Person");
    const orders = await crmSync(w.place, "map", "crm", "orders", "--show-private");
    expect(orders.stdout).toContain("instances[].passwords");
    expect(orders.stdout).not.toContain("zqcanary-licence");
  });

  it("finds one record by its id, and says why it cannot be used", async () => {
    const w = await world({ records: company(3, 1), isNew: true });
    w.staff = w.staff.map((person) => (person.id === "S2-1" ? { ...person, login: "not a login!" } : person));
    w.write();
    const found = await w.run("--json", "map", "hr", "staff", "--record", "S2-1");
    expect(found.exitCode).toBe(3);
    const [record] = document(found).records;
    expect(record).toMatchObject({ place: "staff.ndjson:2", fault: { field: "userName" } });
    expect(wayOf("customerId", record).gives, "the fields that map are shown").toEqual(["C2"]);
    expect((await w.run("map", "hr", "staff", "--record", "S1-1")).exitCode).toBe(0);
    expect((await w.run("map", "hr", "staff", "--record", "nobody")).exitCode).toBe(64);
  });

  it.each([
    ["erp", "staff", ["crm", "hr"]],
    ["hr", "orders", ["staff"]],
  ])("names what there is instead of %s %s", async (source, stream, names) => {
    const w = await world({ isNew: true });
    const ended = await w.run("--json", "map", source, stream);
    for (const name of names) expect(document(ended).error.cure).toContain(name);
  });
});

describe("map", () => {
  it("show no name of a member that may be data, but to whoever asks for personal data", async () => {
    const w = await world({ records: company(4, 1), isNew: true });
    const file = w.path("data/staff.ndjson");
    const people = readFileSync(file, "utf8").trimEnd().split("\n");
    const withSeats = people.map((line, index) =>
      line.replace(
        /\}$/u,
        `,"seats":{"zqcanary${index}@example.com":{"from":1},"zqcanarylogin${index}":2},"place":{"room":1}}`,
      ),
    );
    writeFileSync(file, `${withSeats.join("\n")}\n`);
    for (const words of [
      ["map", "hr", "staff"],
      ["map", "hr", "staff", "--limit", "1"],
    ]) {
      for (const form of [[], ["--json"]]) {
        const hidden = await crmSync(w.place, ...form, ...words);
        expect(hidden.stdout, words.join(" ")).not.toContain("zqcanary");
        expect(hidden.stdout).toContain("room");
      }
      expect((await crmSync(w.place, ...words, "--show-private")).stdout).toContain("zqcanarylogin0");
    }
  });

  const mapping =
    "{ id: id, name: name, customerType: { value: company }, branchCode: { value: B1 }, branchName: { value: Bonn } }";

  /** Two sources, each with a secret, and one whose query fails, in a configuration without a ledger. */
  async function sources(services: string): Promise<(environment: object, ...words: string[]) => Promise<Ended>> {
    const place = folder();
    const service = await startService(() => ({ body: [{ id: "1", name: "Ann" }] }));
    changeFile(join(place, "erp.db"), "create table party (id, name); insert into party values (1, 'Ann')");
    const web = (name: string): string => `  ${name}:
    kind: http
    baseUrl: ${service.origin}
    auth: { kind: bearer, token: env:${name.toUpperCase()}_TOKEN }
    streams: { customers: { url: customers, mapping: ${mapping} } }
`;
    const config = join(place, "crm-sync.yaml");
    const query = '"select id, name, abs(-9223372036854775807 - id) as n from party"';
    writeFileSync(
      config,
      `ledger: { path: ledger.db, sealKey: env:NO_SEAL_KEY }
${services}sources:
${web("first")}${web("second")}  erp:
    kind: sql
    connection: { kind: sqlite, file: erp.db }
    streams: { customers: { query: ${query}, mapping: ${mapping} } }
`,
    );
    return (environment, ...words) => crmSync({ config, environment: { ...environment } }, "--json", ...words);
  }

  const incomplete = "orderService: { appKey: env:NO_KEY }\nmemberCenter: { baseUrl: 'https://x.example' }\n";

  it.each([
    ["nothing is said of the services", ""],
    ["their secrets are missing", incomplete],
  ])("need the secrets of the source that they show, and no other, if %s", async (_what, services) => {
    const run = await sources(services);
    const words = ["map", "first", "customers"];
    const shown = await run({ FIRST_TOKEN: "t-1" }, ...words);
    expect(shown.exitCode, shown.stderr).toBe(0);
    const without = await run({ SECOND_TOKEN: "t-2" }, ...words);
    expect(without.exitCode).toBe(78);
    expect(without.stderr).toContain("FIRST_TOKEN");
    expect(without.stderr).not.toMatch(/SECOND_TOKEN|SEAL_KEY|orderService|memberCenter|NO_KEY/u);
  });

  it.each(["map erp customers", "map erp customers --record 1"])(
    "say that a query failed, and never that nothing is there (%s)",
    async (words) => {
      const ended = await (await sources(""))({}, ...words.split(" "));
      expect(ended.exitCode, ended.stderr).toBe(7);
      expect(document(ended).problem).not.toBeNull();
    },
  );
});
