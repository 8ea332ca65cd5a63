import { writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { stringify } from "yaml";
import { startService } from "../../source/http-service.ts";
import { operationsOf } from "../../support/asking.ts";
import { world } from "../../support/cli.ts";
import { LedgerView } from "../../support/ledger-view.ts";
import { crmSync } from "../../support/program.ts";
import { mappingOf } from "../../support/world/crm-files.ts";
import { company } from "../../support/world/crm.ts";

const stranger = "Wanda Fremdling 13800138000";
const parts = /Wanda|Fremdling|13800138000/u;

/** Where the ledger holds the stranger, but for the private table. */
function inClear(path: string): string[] {
  const view = new LedgerView(path);
  try {
    return [...view.texts(["private_value"])].filter(({ text }) => parts.test(text)).map(({ place }) => place);
  } finally {
    view.close();
  }
}

it.each([
  ["E5", { fault: "status299", code: "13004" }, ["order", "O1"], "the service says: Member … already exists"],
  ["E2", { fault: "status299", code: "13004" }, ["customer", "C1"], "the service says: Member … already exists"],
  ["M1", { fault: "partialM1" }, ["staff", "S1-1"], "M1 refused this person: Member … already exists"],
  ["M1", { fault: "status299", code: "10004" }, ["staff", "S1-1"], "cause: Member … already exists"],
] as const)("what %s says of a stranger is in the private table alone (%j)", async (operation, fault, of, told) => {
  const w = await world({ records: company(1, 1), isNew: true });
  w.environment["CRM_SYNC__log__level"] = "trace";
  w.sandbox.faults.add({ operation, ...fault, words: `Member ${stranger} already exists` });
  const ran = await w.run("run", "everything");
  expect(ran.stdout + ran.stderr).not.toMatch(parts);
  expect(inClear(w.path("ledger.db"))).toEqual([]);
  const explained = await w.run("explain", ...of);
  expect(explained.stdout).toContain(told);
  for (const words of ["status", "explain", "--json status", "report exceptions --period 2026-11"]) {
    const asked = words === "explain" ? explained : await w.run(...words.split(" "));
    expect(asked.stdout + asked.stderr, words).not.toMatch(parts);
  }
  // Who may ask for it sees it, and stands in the audit log.
  const operations = await operationsOf(w, of[0], of[1]);
  const refused = operations.find(({ answerKept }) => answerKept);
  expect(explained.stdout).toContain(`crm-sync audit answer ${refused.id}`);
  const asked = await crmSync({ ...w.place, clock: w.clock }, "audit", "answer", refused.id, "--by", "ben");
  expect([asked.exitCode, asked.stdout]).toEqual([0, expect.stringContaining(stranger)]);
  const exported = await w.run("audit", "export");
  expect(exported.stdout).toMatch(/private-shown.*ben/u);
  expect(exported.stdout).not.toMatch(parts);
  expect((await w.run("audit", "answer", "op_none")).exitCode).toBe(64);
});

it.each(["13800138000", "WANDA-FREMDLING", "Wanda Fremdling"])("a code that is %s is said nowhere", async (code) => {
  const w = await world({ records: company(1, 1), isNew: true });
  w.environment["CRM_SYNC__log__level"] = "trace";
  for (const operation of ["E5", "M5"] as const) w.sandbox.faults.add({ operation, fault: "oddCode", code });
  const ran = await w.run("run", "everything");
  const status = await w.run("status");
  expect(ran.stdout + ran.stderr + status.stdout).not.toContain(code);
  const view = new LedgerView(w.path("ledger.db"));
  const found = [...view.texts(["private_value"])].filter(({ text }) => text.includes(code));
  view.close();
  expect(found.map(({ place }) => place)).toEqual([]);
});

it.each([
  ["INVALID_QUERY_LOCATOR", "(INVALID_QUERY_LOCATOR)"],
  ["CONTACT_WANDA_FREMDLING_NOT_FOUND", "(…_NOT_FOUND)"],
  ["wandaFremdling.accessDenied", "(….accessDenied)"],
  ["error-13800138000", "(error-…)"],
])("of the code %s that a source answers its own words are told", async (code, told) => {
  const w = await world({ records: company(1, 1), isNew: true });
  const service = await startService(() => ({ status: 400, body: [{ message: "", errorCode: code }] }));
  const customers = { url: `${service.origin}/customers`, key: "id", mapping: mappingOf("customers") };
  const shop = { kind: "http", streams: { customers } };
  const jobs = { everything: { kind: "sync", streams: ["customers"] } };
  const ledger = { path: "ledger.db", sealKey: "env:SEAL_KEY" };
  writeFileSync(w.path("crm-sync.yaml"), stringify({ ledger, zone: "UTC", sources: { shop }, jobs }));
  const ran = await w.run("run", "everything");
  const shown = await w.run("run", "show", (await w.ask("runs"))[0].id);
  const said = ran.stdout + ran.stderr + shown.stdout;
  expect(said).toContain(told);
  expect(said).not.toMatch(/wanda|fremdling|13800138000/iu);
});
