import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { ran } from "../../support/asking.ts";
import { document, world } from "../../support/cli.ts";
import { lines } from "../../support/world/crm-files.ts";
import { canary, company, privateText, staffRow } from "../../support/world/crm.ts";

// What a command prints is looked through by every `w.run`.
it("writes nothing private into a log, a plan or the audit log", { tags: "long" }, async () => {
  const w = await world({ records: company(2, 2) });
  w.environment["CRM_SYNC__log__level"] = "trace";
  w.sandbox.faults.add({ operation: "M1", fault: "oddCode", times: 1 });
  w.sandbox.faults.add({ operation: "E2", fault: "http502", times: 1 });
  w.sandbox.faults.add({ operation: "E5", fault: "status299", code: "13004", times: 1 });
  await w.run("plan", "--out", w.path("plan.ndjson"));
  await ran(w);
  for (const customer of w.customers.slice(0, 1)) customer.name = `${canary.name} renamed`;
  w.write();
  const people = lines(w.staff.map(staffRow));
  writeFileSync(w.path("data/staff.ndjson"), `${people}{"id":"S9","name":"${canary.person}","login":\n`);
  await ran(w);
  await w.run("run", "verify");
  await w.run("audit", "export", "--out", w.path("audit.ndjson"));
  const written = readdirSync(w.folder).filter((name) => name !== "data" && !/^ledger\.db(?:-\w+)?$/u.test(name));
  expect(written).toEqual(expect.arrayContaining(["plan.ndjson", "audit.ndjson"]));
  for (const name of written) {
    const text = readFileSync(w.path(name), "utf8");
    for (const pattern of [privateText, /sandbox-(?:app|user)-token/u])
      expect.soft(pattern.exec(text)?.[0], name).toBeUndefined();
  }
});

it("does not repeat a secret that stands in the configuration itself", async () => {
  const w = await world({ records: company(1, 1) });
  const configured = readFileSync(w.path("crm-sync.yaml"), "utf8");
  writeFileSync(w.path("crm-sync.yaml"), configured.replace("sealKey: env:SEAL_KEY", `sealKey: ${canary.password}`));
  const checked = await w.run("--json", "check");
  expect([checked.exitCode, document(checked).error.exit]).toEqual([78, 78]);
});
