import { readFileSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { document, world, type Parsed, type World } from "../../support/cli.ts";
import { bytesOf, runs } from "../../support/gone-customer.ts";
import { crmSync } from "../../support/program.ts";
import { company } from "../../support/world/crm.ts";

const name = "Wanda Fremdling";
const mobile = "+4917799988877";
/** As a colleague, an order and a service may write her number. */
const written = "0177-999 88877";

/** Rows of a stream get more fields than any mapping reads. */
function adds(w: World, stream: string, more: (row: Parsed) => object): void {
  const file = w.path(`data/${stream}.ndjson`);
  const rows = readFileSync(file, "utf8").trimEnd().split("\n");
  writeFileSync(
    file,
    rows.map((row) => `${JSON.stringify({ ...JSON.parse(row), ...more(JSON.parse(row)) })}\n`).join(""),
  );
}

/** A person of C1, who is named in an order of C2, by a colleague, as an administrator, and by a service. */
async function named(): Promise<{ w: World; write: () => void }> {
  const w = await world({ records: company(2, 2) });
  w.extra = "limits: { absenceReads: 1, absenceTime: 0s, removals: { enterprise: { floor: 50, share: 1 } } }\n";
  w.staff = w.staff.map((row) => (row.id === "S1-1" ? { ...row, name, mobile, login: "wandafremdling" } : row));
  w.customers = w.customers.map((row) => (row.id === "C2" ? { ...row, contact: name, mobile } : row));
  const write = (): void => {
    w.write();
    adds(w, "orders", ({ id }) => (id === "O2" ? { placedBy: name, call: written } : {}));
    adds(w, "staff", ({ id }) => (id === "S1-2" ? { manager: "wandafremdling" } : {}));
  };
  write();
  w.sandbox.faults.add({
    operation: "M9",
    fault: "status299",
    code: "60023",
    words: `Ask ${name}, ${written}`,
    times: 1,
  });
  await runs(w, 3);
  await w.run("resync", "--customer", "C1");
  await w.run("resync", "--customer", "C2");
  await runs(w, 0);
  return { w, write };
}

const erase = ["audit", "erase", "--person", "S1-1", "--reason", "request 18", "--by", "anna.lee"];
const texts = [name, mobile, written, "wandafremdling"];

it("a person is erased where an order, a colleague, a service and an earlier administrator name them", async () => {
  const { w, write } = await named();
  const ask = ["--json", "audit", "subject", "--person", "S1-1", "--by", "ben"];
  const { mentions } = document(await crmSync({ ...w.place, clock: w.clock }, ...ask));
  const places: string[] = mentions.map(({ ref }: { ref: string }) => ref);
  for (const place of ["raw:orders/crm/O2", "raw:staff/crm/S1-2", "customers/crm/C2", "answer/op_"])
    expect(
      places.filter((one) => one.startsWith(place)),
      `${place} in ${places.join(", ")}`,
    ).not.toEqual([]);
  // C2 has another administrator by now, and nobody gives the person any more.
  w.customers = w.customers.map((row) =>
    row.id === "C2" ? { ...row, contact: "Zqcanary Boss", mobile: "+4917700700700" } : row,
  );
  w.staff = w.staff.filter(({ id }) => id !== "S1-1");
  write();
  await w.run("run", "everything");
  expect(bytesOf(w, texts)).not.toEqual([]);
  const erased = await w.run(...erase);
  expect([erased.exitCode, erased.stderr]).toEqual([0, ""]);
  expect(bytesOf(w, texts)).toEqual([]);
  // Who gives it still is named, and nothing of the others is lost.
  expect(erased.stdout).toContain("the record of orders crm/O2");
  expect(erased.stdout).toContain("the record of staff crm/S1-2");
  expect((await w.run("explain", "staff", "S1-2")).stdout).toMatch(/\(private\): .*\bname\b/u);
  const then = await w.does("run", "everything");
  expect([then.exitCode, then.calls], then.stdout).toEqual([0, {}]);
  expect(document(await w.run("--json", "audit", "verify"))).toMatchObject({ good: true });
  expect(await w.ask(...erase)).toMatchObject({ counts: { rawForms: 0, answers: 0 } });
});

it("what the CRM gives of somebody else with the name stays, and is said; so is who is back after a restore", async () => {
  const { w, write } = await named();
  const { path } = await w.ask("backup", "--to", w.path("copies"));
  w.staff = w.staff.filter(({ id }) => id !== "S1-1");
  write();
  await w.run("run", "everything");
  const erased = await w.run(...erase);
  expect(erased.exitCode, erased.stderr).toBe(0);
  expect(erased.stdout).toContain("the record of customers crm/C2, which the CRM gives with the name");
  expect((await w.run("explain", "customer", "C2")).stdout).toMatch(/\(private\): .*adminName/u);
  expect((await w.does("run", "everything")).calls).toEqual({});
  const restored = await w.run("restore", path);
  expect(restored.stdout, restored.stderr).toContain("erased after it, and there again: staff:crm/S1-1");
});

it("somebody else of the same name keeps what is their own", async () => {
  const { w, write } = await named();
  w.staff = w.staff.map((row) => (row.id === "S2-2" ? { ...row, name } : row));
  write();
  await w.run("run", "everything");
  w.staff = w.staff.filter(({ id }) => id !== "S1-1");
  write();
  await w.run("run", "everything");
  const erased = await w.run(...erase);
  expect(erased.exitCode, erased.stderr).toBe(0);
  expect(erased.stdout).not.toContain("S2-2");
});
