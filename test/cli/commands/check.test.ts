import { readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { document, world, worldConfiguration, type Parsed, type World } from "../../support/cli.ts";
import { crmSync } from "../../support/program.ts";
import { folder as newFolder } from "../../support/world/start.ts";

/** The services of a sandbox, configured as real ones are. */
const services = (url: string): string => `orderService:
  baseUrl: ${url}
  appKey: sandbox-app
  tokens: { authorization: { fixed: sandbox-app-token } }
memberCenter:
  baseUrl: ${url}
  tokens: { authorization: { fixed: sandbox-app-token }, userToken: { fixed: sandbox-user-token } }
`;

/** The exit code of `check`, and what it looked at, by name. */
async function checked(
  run: ReturnType<World["run"]>,
): Promise<{ exitCode: number | null; found: Map<string, Parsed> }> {
  const ended = await run;
  const all: Parsed[] = document(ended);
  return { exitCode: ended.exitCode, found: new Map(all.map((finding) => [finding.what, finding])) };
}

const badOf = (found: Map<string, Parsed>): string[] =>
  [...found.values()].filter(({ good }) => !good).map(({ what }) => what);

describe("check", () => {
  it("says that nothing can be ordered without a list of customers", async () => {
    const w = await world({ isNew: true });
    const own = readFileSync(w.path("crm-sync.yaml"), "utf8");
    writeFileSync(w.path("crm-sync.yaml"), own.replace(/^ +customers:.*\n(?: {8,}.*\n)*/mu, ""));
    const { exitCode, found } = await checked(w.run("--json", "check"));
    expect([exitCode, found.get("ordering").detail]).toEqual([3, expect.stringContaining("no source has customers")]);
  });

  it("finds nothing wrong with a list that has no orders yet", async () => {
    const w = await world({ isNew: true });
    w.orders = [];
    w.staff = [];
    w.write();
    const { exitCode, found } = await checked(w.run("--json", "check"));
    expect([exitCode, found.get("ordering")]).toEqual([0, undefined]);
  });

  it("is content with a world that is in order, and writes nothing", async () => {
    const w = await world({ isNew: true });
    const { result, calls } = await w.writes(() => checked(w.run("--json", "check")));
    expect([result.exitCode, badOf(result.found), calls]).toEqual([0, [], {}]);
    expect(result.found.get("source crm").detail).toContain("customers, orders");
    for (const service of ["order service", "member-center"]) expect(result.found.get(service).good).toBe(true);
    expect((await w.run("status")).exitCode, "there is no ledger").toBe(65);
  });

  it("names a source whose file is missing, and looks at the others and at the services", async () => {
    const w = await world({ isNew: true });
    unlinkSync(w.path("data/staff.ndjson"));
    const { exitCode, found } = await checked(w.run("--json", "check"));
    expect([exitCode, badOf(found)]).toEqual([7, ["source hr"]]);
    expect(found.get("source hr")).toMatchObject({ kind: "source", detail: expect.stringContaining("staff.ndjson") });
  });

  it("names every assumption without a value, and a source that cannot be read", async () => {
    const w = await world({ isNew: true });
    const deals = `  deals:
    kind: http
    baseUrl: http://127.0.0.1:9/api/v2
    auth: { kind: bearer, token: env:PIPEDRIVE_TOKEN }
    retries: 0
    streams: { staff: { url: persons, mapping: { id: id, customerId: org, userName: login, name: name } } }
`;
    const sources = worldConfiguration.replace("sources:\n", `sources:\n${deals}`);
    writeFileSync(w.path("crm-sync.yaml"), `${sources}${services(w.sandbox.url)}`);
    w.environment["PIPEDRIVE_TOKEN"] = "zqcanary-token";
    const { exitCode, found } = await checked(w.plain("--json", "check"));
    expect(exitCode).toBe(78);
    for (const row of ["channelCode (A9)", "rootParentMerchandiseNum (A24)", "timeUnits (A22)"])
      expect(found.get(`assumptions.${row}`)).toMatchObject({ good: false, kind: "setting" });
    expect(found.get("assumptions.timeCodecs.productLimit (A20)").cure).toMatch(/epoch_ms.*epoch_s.*yyyymmdd/u);
    expect([found.get("source deals").good, found.get("source crm").good]).toEqual([false, true]);
  });

  it("tells a wrong token from a service that is down", { tags: "long" }, async () => {
    const w = await world({ isNew: true });
    w.extra = services(w.sandbox.url).replaceAll("sandbox-app-token", "zqcanary-wrong-token");
    w.write();
    const wrong = await checked(w.plain("--json", "check"));
    await w.sandbox.refuseConnections();
    const down = await checked(w.plain("--json", "check"));
    for (const service of ["order service", "member-center"]) {
      expect([wrong.found.get(service).good, down.found.get(service).good]).toEqual([false, false]);
      expect(wrong.found.get(service).detail).not.toBe(down.found.get(service).detail);
    }
    expect((await w.run("check")).exitCode).toBe(7);
  });

  it("names every mistake of a configuration with its place, and a run starts nothing", async () => {
    const w = await world({ isNew: true });
    const odd = worldConfiguration
      .replace("zone: UTC", "zone: Nowhere\ncolour: red")
      .replace("          branchName: branch\n", "");
    writeFileSync(w.path("crm-sync.yaml"), `${odd}jobs: { staff: { schedule: "every hour" } }\n`);
    for (const words of [["check"], ["run", "customers-and-orders"]]) {
      const ended = await w.run("--json", ...words);
      expect(ended.exitCode).toBe(78);
      const places: string[] = document(ended).problems.map(({ place }: Parsed) => place);
      expect(places).toHaveLength(4);
      for (const place of places) expect(place).toMatch(/crm-sync\.yaml:\d+:\d+/u);
    }
    expect(w.sandbox.counts().calls).toEqual({});
    expect((await w.run("status")).exitCode).toBe(78);
  });

  it("says what a key and a mapping name where rows are grouped", async () => {
    const w = await world({ isNew: true });
    writeFileSync(w.path("seats.csv"), "holder,company,seat\nS1,C1,A1\nS1,C1,A2\nS2,C1,A3\n");
    const configured = (key: string, mapped: string): string => `${worldConfiguration}  seats:
    kind: file
    directory: .
    streams:
      staff:
        files: seats.csv
        key: ${key}
        group: { by: holder, into: rows, fields: { company: company } }
        mapping: { id: ${mapped}, customerId: company, name: ${mapped}, userName: ${mapped} }
`;
    const problems = async (key: string, mapped: string): Promise<string[]> => {
      writeFileSync(w.path("crm-sync.yaml"), configured(key, mapped));
      const all = document(await w.run("--json", "check"));
      if (Array.isArray(all)) return all.filter(({ good }) => !good).map(({ detail }: Parsed) => detail);
      return all.problems.map(({ message }: Parsed) => message);
    };
    expect(await problems("holder", "key")).toEqual([expect.stringContaining("names one row where rows are grouped")]);
    expect((await problems("seat", "holder")).join("; ")).toContain("id is missing");
    expect(await problems("seat", "key")).toEqual([]);
  });

  it("names a certificate that is missing, and a host where nobody could sign in", { tags: "long" }, async () => {
    const w = await world({ isNew: true });
    w.extra = "serve: { tls: { certificate: gone.crt, key: gone.key } }\n";
    w.write();
    const { exitCode, found } = await checked(w.run("--json", "check"));
    expect(exitCode).toBe(78);
    expect(badOf(found).some((what) => what.startsWith("serve.tls"))).toBe(true);
    w.extra = "serve: { host: 0.0.0.0 }\n";
    w.write();
    expect((await w.run("check")).exitCode, "nobody could sign in there").toBe(78);
  });
});

/** Checks a configuration in this folder whose only source is this one. */
function checkedSource(place: string, source: string): ReturnType<typeof checked> {
  const config = join(place, "crm-sync.yaml");
  const text = `ledger: { path: ledger.db, sealKey: env:SEAL_KEY }\nsources:\n  crm:\n${source.replaceAll(/^/gmu, "    ")}`;
  writeFileSync(config, text);
  const environment = { SEAL_KEY: "a key of this test that seals passwords" };
  return checked(crmSync({ config, environment }, "--sandbox", "--json", "check"));
}

const customer = (id: string): string =>
  `{ id: ${id}, name: name, customerType: { value: company }, branchCode: { value: B1 }, branchName: { value: Bonn } }`;

describe("check of the lists of a source", () => {
  it("tells how many guesses of init nobody has looked at, with their lines", async () => {
    const place = newFolder();
    writeFileSync(join(place, "customers.csv"), "id,name\n1,Bau GmbH\n");
    const source = (mark: string): string => `kind: file
directory: .
streams:
  customers:
    files: customers.csv
    # ${mark}
    mapping: ${customer("id")}
`;
    const { found } = await checkedSource(place, source("DOUBT: the id"));
    expect(found.get("crm-sync.yaml")).toMatchObject({
      good: true,
      warning: true,
      detail: "1 guess of init is still marked DOUBT (line 9)",
      cure: expect.stringContaining("delete its comment"),
    });
    expect((await checkedSource(place, source("no doubt"))).found.get("crm-sync.yaml")).toBeUndefined();
  });

  it("names what is wrong with each of them, with its place, and maps the others", async () => {
    const place = newFolder();
    const file = (name: string, text: string): void => writeFileSync(join(place, name), text);
    file("customers.csv", "id,nome\n1,Ann\n");
    file("orders.csv", "id,customer,product\n7,1,CAD\n");
    file("staff.csv", "id,login\n3,ann\n");
    const { exitCode, found } = await checkedSource(
      place,
      `kind: file
streams:
  customers: { files: customers.csv, mapping: ${customer("id")} }
  orders:
    files: orders.csv
    mapping:
      id: id
      customerId: customer
      instances:
        - { kind: asset, one: { id: { value: A }, licenseType: { value: softkey } } }
  staff: { files: staff.csv, mapping: { id: id, customerId: customer, userName: login, name: login } }
`,
    );
    expect([exitCode, badOf(found)]).toEqual([7, ["source crm", "source crm, staff"]]);
    expect(found.get("source crm").place).toBe("customers.csv:1");
    expect(found.get("source crm, staff").place).toBe("staff.csv:1");
    expect(found.get("source crm, orders").good).toBe(true);
  });

  /** What is found of a list of customers in a database, by its mapping and its column of changes. */
  async function ofDatabase(id: string): ReturnType<typeof checked> {
    const place = newFolder();
    const database = new DatabaseSync(join(place, "erp.db"));
    database.exec(
      "create table party (id integer primary key, name text, changed, at);" +
        "insert into party values (1, 'Ann', 'last week', '2026-01-02 03:04:05'), (2, 'Bob', 'today', null)",
    );
    database.close();
    const list = `{ query: select * from party, key: id, mapping: ${customer(id)} }`;
    return await checkedSource(
      place,
      `kind: sql\nconnection: { kind: sqlite, file: erp.db }\nstreams:\n  customers: ${list}\n`,
    );
  }

  it("names file and line of a query that lacks a column", async () => {
    const { exitCode, found } = await ofDatabase("nr");
    expect([exitCode, badOf(found)]).toEqual([7, ["source crm"]]);
    expect(found.get("source crm").place).toMatch(/crm-sync\.yaml:7:\d+$/u);
  });
});
