import { readFileSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { parse, stringify } from "yaml";
import type { Json } from "../../../src/base/canonical-json.ts";
import { document, world, type Parsed, type World } from "../../support/cli.ts";
import { startServer } from "../../support/http-server.ts";
import { company, staffRow } from "../../support/world/crm.ts";
import { outcome } from "../../support/world/members.ts";

/** Nine people with one licence each. */
const nine = company(9, 1);

/** One row of the list of people as the CRM gives it. */
type Row = Record<string, Json>;

const renamed = (row: Row, from: string, to: string): Row =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name === from ? to : name, value]));

/** A world whose people come from an HTTP service with these rows; removals wait for nobody. */
async function withPeople(rowOf: (row: ReturnType<typeof staffRow>) => Row, assets: Json, pageSize = 100) {
  const w = await world({ records: nine });
  let rows = w.staff.map((person) => rowOf(staffRow(person)));
  const url = await startServer((asked, response) => {
    const page = Number(asked.query["page"]) * pageSize;
    const body = { total: rows.length, items: rows.slice(page, page + pageSize) };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  w.extra = "policies: { staff: { left: apply } }\n";
  const configure = (changed: Json, skip?: Json): void => {
    w.write();
    const configuration = parse(readFileSync(w.path("crm-sync.yaml"), "utf8"));
    const {
      assets: _,
      borrows: __,
      remark: ___,
      departmentId: ____,
      password: _____,
      ...mapping
    } = configuration.sources.hr.streams.staff.mapping;
    configuration.sources.hr = {
      kind: "http",
      baseUrl: `${url}/`,
      streams: {
        staff: {
          url: "people",
          records: "items",
          key: "id",
          paging: { kind: "page", first: 0, size: pageSize },
          total: "total",
          ...(skip === undefined ? {} : { skip }),
          mapping: { ...mapping, assets: changed },
        },
      },
    };
    writeFileSync(w.path("crm-sync.yaml"), stringify(configuration));
  };
  configure(assets);
  return { w, configure, change: (of: (row: Row) => Row) => (rows = rows.map(of)) };
}

const employed = [{ one: { instanceId: "asset" }, when: { path: "employment", equals: "tätig" } }];
const employedRow = ({ holds, ...row }: ReturnType<typeof staffRow>): Row => ({
  ...row,
  asset: holds[0] ?? null,
  employment: "tätig",
});

const listed = [{ each: "licence", fields: { instanceId: "subscription" } }];
const listedRow = ({ holds, ...row }: ReturnType<typeof staffRow>): Row => ({
  ...row,
  licence: holds.map((subscription) => ({ subscription })),
});

/** The first run: each of the nine gets a licence. */
async function givesNine(w: World): Promise<void> {
  const first = await w.does("run", "everything");
  expect([first.exitCode, first.calls], first.stdout + first.stderr).toMatchObject([0, { M9: 9 }]);
}

/** Runs that are not believed and send nothing; the message names the path and the one-time acceptance. */
async function believesNothing(w: World, path: string, runs = 2): Promise<void> {
  const before = w.sandbox.state();
  for (let run = 0; run < runs; run += 1) {
    const ended = await w.does("run", "everything");
    expect(outcome(ended), ended.stdout).toEqual([7, {}]);
    expect(ended.stdout + ended.stderr).toContain(`${path} was filled in 9 of 9 rows and is in none of 9`);
    expect(ended.stdout + ended.stderr).toContain("--accept-drift hr/staff=");
  }
  expect(w.sandbox.state()).toEqual(before);
}

/** What `check` says of the list of people: the exit code, and each finding that is bad or a warning. */
async function checked(w: World): Promise<{ exitCode: number | null; bad: string[]; warnings: string[] }> {
  const ended = await w.run("--json", "check");
  const all: Parsed[] = document(ended);
  const people = all.filter(({ what }) => what === "source hr, staff");
  const textOf = ({ detail, cure }: Parsed): string => `${detail}; ${cure}`;
  const bad = people.filter(({ good }) => !good).map(textOf);
  return { exitCode: ended.exitCode, bad, warnings: people.filter(({ warning }) => warning === true).map(textOf) };
}

it("a field that only a condition reads was renamed: nothing is removed until a person believes it", async () => {
  const { w, change } = await withPeople(employedRow, employed);
  await givesNine(w);
  change((row) => renamed(row, "employment", "jobStatus"));
  await believesNothing(w, "employment");
  const accepted = await w.run("run", "everything", "--accept-drift", "hr/staff=1", "--accept-changes", "hr/staff=9");
  expect(accepted.stdout + accepted.stderr).not.toContain("source.drifted");
  expect(accepted.exitCode).not.toBe(7);
});

it("a list was renamed: nothing is removed, also where the list comes in pages of two", async () => {
  for (const pageSize of [100, 2]) {
    const { w, change } = await withPeople(listedRow, listed, pageSize);
    await givesNine(w);
    change((row) => renamed(row, "licence", "license"));
    await believesNothing(w, "licence");
  }
});

it("check finds a path of a condition or of a list that no row has", async () => {
  const { w, configure } = await withPeople(employedRow, employed);
  expect(await checked(w)).toEqual({ exitCode: 0, bad: [], warnings: [] });
  const asset = { instanceId: "asset" };
  const misspelt: [string, Json, Json?][] = [
    ["emploiment", [{ one: asset, when: { path: "emploiment", equals: "tätig" } }]],
    ["emploiment", [{ one: asset, when: { not: { path: { map: "emploiment", values: { a: "b" } }, equals: "b" } } }]],
    ["licences", [{ each: "licences", fields: asset }]],
    ["licences", [{ each: { filter: "licences", where: { path: "type", equals: "cad" } }, fields: asset }]],
    ["contract.type", [{ one: asset, when: { path: "contract.type", equals: "cad" } }]],
    ["emploiment", employed, { path: "emploiment", equals: "left" }],
  ];
  for (const [path, assets, skip] of misspelt) {
    configure(assets, skip);
    const { exitCode, bad } = await checked(w);
    expect([exitCode, bad.join("\n")], JSON.stringify([assets, skip])).toEqual([3, expect.stringContaining(path)]);
  }
});

it("check only warns of a path whose absence is meant, or of which the sample says nothing", async () => {
  const row = (of: ReturnType<typeof staffRow>): Row => ({ ...employedRow(of), left: null, contracts: [] });
  const { w, configure } = await withPeople(row, employed);
  const asset = { instanceId: "asset" };
  const meant: [string, Json, Json?][] = [
    ["blocked", [{ one: asset, when: { path: "blocked", present: false } }]],
    ["blocked", [{ one: asset, when: { path: { path: "blocked", default: "no" }, equals: "no" } }]],
    ["left", employed, { path: "left", equals: "yes" }],
    ["more", [{ one: asset }, { each: { path: "more", default: [] }, fields: { instanceId: "." } }]],
    ["more[].type", [{ one: asset }, { each: { path: "more", default: [] }, fields: { instanceId: "type" } }]],
    [
      "contracts[].type",
      [{ one: asset }, { each: "contracts", when: { path: "type", equals: "cad" }, fields: { instanceId: "type" } }],
    ],
  ];
  for (const [path, assets, skip] of meant) {
    configure(assets, skip);
    const { exitCode, bad, warnings } = await checked(w);
    expect([exitCode, bad, warnings.join("\n")]).toEqual([0, [], expect.stringContaining(path)]);
  }
});

it("the column of a guard was emptied in all rows of a table: nothing is removed", async () => {
  const w = await world({ records: nine });
  w.extra = "policies: { staff: { left: apply } }\n";
  const write = (orderId: (person: World["staff"][number]) => string): void => {
    w.write();
    const rows = w.staff.map((person) => {
      const { id, customer, login, name, mobile } = staffRow(person);
      return [id, customer, login, name, mobile, orderId(person)].join(",");
    });
    writeFileSync(w.path("data/staff.csv"), `id,customer,login,name,mobile,orderID\n${rows.join("\n")}\n`);
    const configuration = parse(readFileSync(w.path("crm-sync.yaml"), "utf8"));
    const { id, customerId, userName, name, mobile } = configuration.sources.hr.streams.staff.mapping;
    const assets = [{ one: { instanceId: "orderID" }, when: { path: "orderID", present: true } }];
    const mapping = { id, customerId, userName, name, mobile, assets };
    configuration.sources.hr.streams.staff = { files: "staff.csv", key: "id", mapping };
    writeFileSync(w.path("crm-sync.yaml"), stringify(configuration));
  };
  write((person) => staffRow(person).holds[0] ?? "");
  await givesNine(w);
  write(() => "");
  await believesNothing(w, "orderID");
});
