import { writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { ran } from "../../support/asking.ts";
import { world } from "../../support/cli.ts";
import { fileSource, filesOf } from "../../support/world/crm-files.ts";
import { company, staffRow } from "../../support/world/crm.ts";

const { customers, orders, staff } = company(2, 1);
const people = staff.map(staffRow).map((row) => ({ ...row, name: "Zqcanary Müller" }));
const csv = filesOf("csv", { customers, orders, staff: people }, ["staff"])["staff.csv"] ?? "";
const jobs = "jobs:\n  everything: { kind: sync, streams: [customers, orders, staff] }\n";
const everything = { E2: 2, E5: 2, E9: 1, M1: 2, M9: 2 };

it("sends no name that was read in the wrong encoding, when a CRM begins to export UTF-8", async () => {
  const w = await world({ records: { customers, orders, staff: [] } });
  const source = (encoding: string): string =>
    JSON.stringify(fileSource("data", ["staff"], "csv")).replace('"files":', `"encoding":"${encoding}","files":`);
  w.extra = `  people: ${source("windows-1252").replace("staff.csv", "people.csv")}\n${jobs}`;
  w.write();
  const write = (encoding: BufferEncoding): void => writeFileSync(w.path("data/people.csv"), csv, encoding);
  write("latin1");
  expect(await ran(w)).toMatchObject({ exitCode: 0, calls: everything });
  write("utf8");
  const changed = await w.does("run", "everything");
  expect([changed.exitCode, changed.calls]).toEqual([7, {}]);
  const byte = Buffer.from(csv).indexOf("ü") + 1;
  expect(changed.stderr).toContain(
    `The file people.csv is configured as windows-1252, but it is UTF-8: line 2 (byte ${byte}) shows this first.`,
  );
  expect(changed.stderr).toContain("Set `encoding: utf-8`");
  w.extra = w.extra.replace("windows-1252", "utf-8");
  w.write();
  expect(await ran(w)).toMatchObject({ exitCode: 0, calls: {} });
});

it("reads a file of single bytes whose only accents look like UTF-8 by chance", async () => {
  const w = await world({ records: { customers, orders, staff: [] } });
  const source = JSON.stringify(fileSource("data", ["staff"], "csv"));
  const declared = source.replace('"files":', '"encoding":"windows-1252","files":').replace("staff.csv", "people.csv");
  w.extra = `  people: ${declared}\n${jobs}`;
  w.write();
  writeFileSync(w.path("data/people.csv"), csv.replaceAll("Müller", "CAFÉ®"), "latin1");
  expect(await ran(w)).toMatchObject({ exitCode: 0, calls: everything });
  writeFileSync(w.path("data/people.csv"), csv.replaceAll("Müller", "CAFÉ®"), "utf8");
  expect((await ran(w)).exitCode).toBe(7);
});
