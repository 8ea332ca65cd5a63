import { readFileSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { quarantined, ran } from "../../support/asking.ts";
import { world, type Parsed } from "../../support/cli.ts";
import { fileSource, lines, mappingOf } from "../../support/world/crm-files.ts";
import { company, staffRow } from "../../support/world/crm.ts";

it.each([
  ["as it was", false],
  ["changed each time", true],
])("a person whom another source has taken over is taken from there (%s)", async (_how, changes) => {
  const w = await world({ records: company(1, 8) });
  w.environment["CRM_SYNC__limits__absenceTime"] = "0s";
  const file = w.path("crm-sync.yaml");
  const configuration: Parsed = parse(readFileSync(file, "utf8"));
  configuration.sources.agency = {
    ...fileSource("data", ["staff"]),
    streams: { staff: { files: "agency.ndjson", key: "id", mapping: mappingOf("staff") } },
  };
  writeFileSync(file, stringify(configuration));
  const text = readFileSync(file, "utf8");
  const agency = (rows: object[]): void => writeFileSync(w.path("data/agency.ndjson"), lines(rows));
  const [first = { id: "", customer: "" }] = w.staff;
  agency([staffRow({ id: "T1", customer: "C1", login: "zqcanaryagency", name: "Zqcanary Agent" })]);
  expect((await ran(w)).exitCode).toBe(0);
  w.staff = w.staff.slice(1);
  w.write();
  writeFileSync(file, text);
  for (let run = 0; run < 6; run += 1) {
    agency([
      staffRow({ id: "T1", customer: "C1", login: "zqcanaryagency", name: "Zqcanary Agent" }),
      staffRow({ ...first, note: changes ? `run ${run}` : "agency" }),
    ]);
    await w.does("run", "everything");
  }
  expect(await quarantined(w)).toEqual([]);
});
