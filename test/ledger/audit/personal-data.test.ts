import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { wordsOfAll, wordsOfCustomer } from "../../../src/ledger/private/erased-texts.ts";
import { auditPages } from "../../support/audit-record.ts";
import { openLedger, sqlite } from "../../support/world/start.ts";

it("the page of personal data names columns that are there, and each that an erasure looks through", async () => {
  const page = readFileSync(join(auditPages, "personal-data.md"), "utf8");
  const rows = page.split("\n").filter((line) => line.startsWith("| `"));
  const named = rows.flatMap((row) => [...(row.split("|")[1] ?? "").matchAll(/`(\w+)\.(\w+)`/gu)]);
  const { ledger, path } = await openLedger();
  ledger.close();
  const columns = sqlite(path)
    .prepare<[], string>(
      "select t.name || '.' || c.name from sqlite_schema t, pragma_table_info(t.name) c where t.type = 'table'",
    )
    .pluck()
    .all();
  expect(named.map(([, table, column]) => `${table}.${column}`).filter((one) => !columns.includes(one))).toEqual([]);
  const looked = rows
    .filter((row) => row.includes("looked through"))
    .flatMap((row) => [...(row.split("|")[1] ?? "").matchAll(/`(\w+\.\w+)`/gu)].map(([, name]) => name));
  const done = [...wordsOfCustomer, ...wordsOfAll].flatMap(([table, own]) => own.map((column) => `${table}.${column}`));
  expect(new Set(looked)).toEqual(new Set(done));
});
