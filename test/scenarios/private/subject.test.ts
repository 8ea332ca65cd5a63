import { readFileSync, statSync } from "node:fs";
import { expect, it } from "vitest";
import { auditEntries } from "../../support/asking.ts";
import { document, documents, world } from "../../support/cli.ts";
import { eraseGone, gone, livedWithGone, nothingWaits } from "../../support/gone-customer.ts";
import { crmSync } from "../../support/program.ts";
import { canary, company } from "../../support/world/crm.ts";

it(
  "a person is handed everything that is kept about them, nothing of anybody else, and who asked is kept",
  { tags: "long" },
  async () => {
    const w = await livedWithGone();
    const ask = ["audit", "subject", "--by", "anna.lee"];
    const asked = await crmSync({ ...w.place, clock: w.clock }, "--json", ...ask, "--person", "S1-1");
    expect([asked.exitCode, asked.stderr]).toEqual([0, ""]);
    const [facts] = documents(asked);
    expect(facts).toMatchObject({
      subject: "staff:crm/S1-1",
      record: { source: "hr", state: "current", customer: { namespace: "crm", id: "C1" } },
      versions: [
        { version: 1, source: "hr", values: { name: "Zqcanary Gone Person 0" }, erasedAt: null },
        { version: 2, to: null, values: { name: "Zqcanary Gone Married", mobile: "+4917711110000" } },
      ],
      accounts: [{ customer: { id: "C1" }, origin: "created", to: null }],
      assignments: [{ customer: { id: "C1" }, origin: "granted", to: null }],
      passwords: [{ name: "initial-password/crm/S1-1 at crm/C1" }],
    });
    expect(facts.versions[0].raw).toContain("Zqcanary Gone Person 0");
    const sent = facts.operations.map(
      ({ kind, service, fields }: { kind: string; service: string; fields: unknown[] }) => [
        kind,
        service,
        fields.length,
      ],
    );
    expect(sent).toEqual([
      ["add-staff", "member-center", 3],
      ["grant-assets", "member-center", 0],
      ["edit-staff", "member-center", 3],
    ]);
    const kinds = facts.audit.map(({ kind }: { kind: string }) => kind);
    expect(kinds).toEqual(["add-staff", "grant-assets", "edit-staff", "private-shown"]);
    const others = ["Zqcanary Gone Person 1", "zqcanarygone1", "Zqcanary Gone Works", canary.person];
    for (const text of others) expect(asked.stdout).not.toContain(text);

    // The same to read, in a file for its owner alone; the customer with its administrator, without its people.
    const file = w.path("subject.txt");
    const written = await w.run(...ask, "--customer", "C1", "--out", file);
    expect([written.exitCode, written.stdout]).toEqual([0, ""]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const text = readFileSync(file, "utf8");
    for (const part of ["customer:crm/C1", "adminName: Zqcanary Gone Boss", "create-enterprise", "private-shown"])
      expect(text).toContain(part);
    expect(text).not.toContain("Zqcanary Gone Person");

    expect((await w.run(...ask, "--person", "S9")).exitCode).toBe(64);
    const shown = (await auditEntries(w)).filter(({ kind }) => kind === "private-shown");
    expect(shown.map(({ subject, body }) => [subject, JSON.parse(body).by])).toEqual([
      ["staff:crm/S1-1", "anna.lee"],
      ["customer:crm/C1", "anna.lee"],
    ]);

    await gone(w);
    await nothingWaits(w);
    expect((await w.run(...eraseGone)).exitCode).toBe(0);
    const after = await w.run(...ask, "--person", "S1-1");
    expect(after.stdout).toMatch(/version 1\n.*\n {2}erased .*\n {2}as it came: not kept/u);
    expect(after.stdout).toMatch(/^ {2}\d+ .* erased$/mu);
  },
);

it("a person is told in which places of the ledger an erasure would find them, and where it would not look", async () => {
  const w = await world({ records: company(2, 1) });
  Object.assign(w.staff[0] ?? {}, { name: "Wanda" });
  w.write();
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  expect((await w.run("pause", "--reason", "Wanda asked", "--by", "anna.lee")).exitCode).toBe(0);
  const words = async (person: string) => {
    const ask = ["--json", "audit", "subject", "--by", "anna.lee", "--person", person];
    const { repeated, beside } = document(await crmSync({ ...w.place, clock: w.clock }, ...ask));
    expect(JSON.stringify(beside)).toContain("backups and copies");
    return repeated;
  };
  expect(await words("S1-1")).toEqual([{ table: "meta", columns: ["value"], rows: 1 }]);
  expect(await words("S2-1")).toEqual([]);
  const read = await crmSync(
    { ...w.place, clock: w.clock },
    "audit",
    "subject",
    "--by",
    "anna.lee",
    "--person",
    "S1-1",
  );
  expect(read.stdout).toContain("meta.value: 1 row");
});
