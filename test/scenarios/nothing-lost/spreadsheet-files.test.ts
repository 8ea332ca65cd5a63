import { readFileSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { stringify } from "yaml";
import { world, type World } from "../../support/cli.ts";
import { fileSource, filesOf, writeFiles } from "../../support/world/crm-files.ts";
import { company } from "../../support/world/crm.ts";

const records = { ...company(2, 1), staff: [] };
const files = filesOf("csv", records, ["customers", "orders"]);
const customers = files["customers.csv"] ?? "";
const everything = { E2: 2, E5: 2, E9: 1 };

/** A company whose customers come in a CSV file of this text, read with these settings. */
async function exported(text: string | Buffer, settings: object = {}): Promise<World> {
  const w = await world({ records });
  const source = fileSource("data", ["customers", "orders"], "csv");
  const { streams } = JSON.parse(JSON.stringify(source));
  const sources = { crm: { ...source, streams: { ...streams, customers: { ...streams.customers, ...settings } } } };
  const jobs = { everything: { kind: "sync", streams: ["customers", "orders"] } };
  const ledger = { path: "ledger.db", sealKey: "env:SEAL_KEY" };
  writeFileSync(w.path("crm-sync.yaml"), stringify({ ledger, zone: "UTC", log: { level: "warn" }, sources, jobs }));
  writeFiles(w.path("data"), files);
  writeFileSync(w.path("data/customers.csv"), text);
  return w;
}

/** What a run did with it, and what it said of the file that it could not read. */
async function ran(w: World): Promise<[number | null, Record<string, number>, string]> {
  const { exitCode, calls, stderr } = await w.does("run", "everything");
  const said = stderr.split("\n").flatMap((line) => (line.includes("source not read") ? [JSON.parse(line)] : []));
  return [exitCode, calls, said.map(({ reason, cure }) => `${reason} ${cure}`).join("\n")];
}

const withSemicolons = customers.replaceAll(",", ";");

it.each([
  ["names the delimiter of its settings", "\uFEFFsep=;\r\n"],
  ["is quoted", '"sep=;"\n'],
])("a first line that %s is no header", async (_what, line) => {
  const w = await exported(`${line}${withSemicolons}`, { csv: { delimiter: ";" } });
  expect(await ran(w)).toEqual([0, everything, ""]);
});

it("a first line with another delimiter than that of the settings is told, with its line and what helps", async () => {
  const w = await exported(`sep=;\n${withSemicolons}`);
  const [exitCode, calls, said] = await ran(w);
  expect([exitCode, calls]).toEqual([7, {}]);
  expect(said).toBe(
    'The first line of customers.csv names the delimiter ";", but the configuration names ",". ' +
      'Set `csv.delimiter: ";"`.',
  );
  w.environment["CRM_SYNC__sources__crm__streams__customers__csv__delimiter"] = ";";
  expect(await ran(w)).toEqual([0, everything, ""]);
});

it("a column that is there twice is told, and what helps makes no customer of the header", async () => {
  const twice = customers
    .split("\n")
    .map((line) => (line === "" ? line : `${line},${line.split(",").at(-1)}`))
    .join("\n");
  const w = await exported(twice);
  const [exitCode, calls, said] = await ran(w);
  expect([exitCode, calls]).toEqual([7, {}]);
  expect(said).toContain('The header of customers.csv has the column "mobile" twice');
  const helps = /`csv: (\{.*?\})`/u.exec(said)?.[1] ?? "";
  expect(helps).toContain("firstRow");
  const settings = (csv: string): void => {
    const text = readFileSync(w.path("crm-sync.yaml"), "utf8");
    writeFileSync(
      w.path("crm-sync.yaml"),
      text.replace("files: customers.csv\n", `files: customers.csv\n        csv: ${csv}\n`),
    );
  };
  settings(helps);
  expect(await ran(w)).toEqual([0, everything, ""]);
});

it("a header row of a file whose columns the settings name is no customer", async () => {
  const header = customers.split("\n")[0]?.split(",") ?? [];
  const w = await exported(customers, { csv: { header } });
  const [exitCode, calls, said] = await ran(w);
  expect([exitCode, calls]).toEqual([7, {}]);
  expect(said).toContain("`csv.firstRow: header`");
  w.environment["CRM_SYNC__sources__crm__streams__customers__csv__firstRow"] = "header";
  expect(await ran(w)).toEqual([0, everything, ""]);
});

it("a file of UTF-16 that is declared as something else is told its encoding", async () => {
  const marked = Buffer.from(`\uFEFF${customers}`, "utf16le");
  for (const encoding of ["utf-8", "windows-1252", "utf-16be"]) {
    const w = await exported(marked, { encoding });
    const [exitCode, calls, said] = await ran(w);
    expect([exitCode, calls]).toEqual([7, {}]);
    expect(said).toContain("Set `encoding: utf-16le`");
    w.environment["CRM_SYNC__sources__crm__streams__customers__encoding"] = "utf-16le";
    expect(await ran(w)).toEqual([0, everything, ""]);
  }
});
