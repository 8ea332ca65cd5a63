import { chmodSync, readFileSync, statSync } from "node:fs";
import { expect, it } from "vitest";
import { auditEntries } from "../../support/asking.ts";
import { documents, world } from "../../support/cli.ts";
import { crmSync } from "../../support/program.ts";
import { canary, company } from "../../support/world/crm.ts";

it("a plan shows personal data to whoever asks for it by name, in a file for its owner alone", async () => {
  const w = await world({ records: company(2, 1) });
  const file = w.path("plan.ndjson");
  await w.run("plan", "--out", file);
  expect(readFileSync(file, "utf8")).not.toContain(canary.name);
  // Colleagues may read a plan without personal data.
  chmodSync(file, 0o644);

  const asked = ["--show-private", "--by", "anna.lee"];
  const shown = await crmSync(w.place, "plan", ...asked, "--out", file);
  expect([shown.exitCode, shown.stderr]).toEqual([2, expect.not.stringContaining(canary.name)]);
  for (const text of [shown.stdout, readFileSync(file, "utf8")]) expect(text).toContain(canary.name);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const [customer] = documents(await crmSync(w.place, "--json", "plan", "--customer", "C1", ...asked));
  expect(Object.keys(customer.private)).toContain("staff/crm/S1-1@1#userName");
  expect(Object.keys(customer.private).filter((key) => /password/iu.test(key))).toEqual([]);
  const entries = (await auditEntries(w)).filter(({ kind }) => kind === "private-shown");
  expect(entries.map(({ body }) => JSON.parse(body))).toMatchObject([
    { by: "anna.lee", scope: null },
    { by: "anna.lee", scope: { customer: { namespace: "crm", id: "C1" } } },
  ]);
  expect((await w.run("apply", file)).exitCode).toBe(0);
  expect((await w.run("audit", "verify")).exitCode).toBe(0);
  expect((await w.run("plan", "--show-private", "--by", "anna@example.com")).exitCode).toBe(64);
});
