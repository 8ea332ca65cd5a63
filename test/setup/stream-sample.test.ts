import { writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { document, world } from "../support/cli.ts";
import { company } from "../support/world/crm.ts";

it("check fails if no row of a list could be used, and warns if most can", async () => {
  const w = await world({ records: company(4, 1), isNew: true });
  w.staff = w.staff.map((person, at) => (at === 0 ? { ...person, login: "not a login!" } : person));
  w.write();
  const few = await w.run("--json", "check");
  expect(few.exitCode).toBe(0);
  const doubt = { what: "source hr, staff", kind: "records", good: true, warning: true };
  expect(document(few)).toContainEqual(expect.objectContaining(doubt));
  const rows = w.orders.map((_, index) => `{"id":"O${index}","customer":null}\n`);
  writeFileSync(w.path("data/orders.ndjson"), rows.join(""));
  const all = await w.run("--json", "check");
  expect(all.exitCode).toBe(3);
  expect(document(all)).toContainEqual(expect.objectContaining({ what: "source crm, orders", good: false }));
  expect(w.sandbox.counts().writingCalls).toBe(0);
});
