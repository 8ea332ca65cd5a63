import { writeFileSync } from "node:fs";
import Database from "better-sqlite3";
import { expect, it, onTestFinished } from "vitest";
import { stringify } from "yaml";
import { openApplication } from "../../src/app/application.ts";
import { retryQuarantine } from "../../src/requests/quarantine.ts";
import { openFiles } from "../source/support.ts";
import { world } from "../support/cli.ts";
import { company } from "../support/world/crm.ts";

it("mapping the quarantine of two sources anew lets go of the databases that their look-up tables are in", async () => {
  const w = await world({ records: company(1, 1) });
  const databases = ["first", "second"].map((name) => w.path(`${name}.db`));
  const change = (sql: string): void => {
    for (const file of databases) {
      const database = new Database(file);
      database.exec(sql.replaceAll("NAME", file.includes("first") ? "first" : "second"));
      database.close();
    }
  };
  change(
    "create table party (id text, name text, region text); create table region (code text, name text);" +
      "insert into party values ('NAME-1', 'One', 'DE'), ('NAME-2', 'Two', 'AT');" +
      "insert into region values ('DE', 'Germany')",
  );
  const source = (name: string): object => ({
    kind: "sql",
    connection: { kind: "sqlite", file: `${name}.db` },
    tables: { regions: { query: "select code, name from region", key: "code", value: "name" } },
    streams: {
      customers: {
        query: "select * from party",
        key: "id",
        mapping: {
          id: "id",
          name: "name",
          customerType: { value: "company" },
          branchCode: { value: "B1" },
          branchName: { lookup: { table: "regions", key: "region" } },
        },
      },
    },
  });
  const sources = { first: source("first"), second: source("second") };
  const jobs = { everything: { kind: "sync", streams: ["customers"] } };
  const ledger = { path: "ledger.db", sealKey: "env:SEAL_KEY" };
  writeFileSync(w.path("crm-sync.yaml"), stringify({ ledger, zone: "UTC", sources, jobs }));
  expect((await w.run("run", "everything")).exitCode).toBe(3);
  change("insert into region values ('AT', 'Austria')");
  const face = { log: () => ({ write: () => {} }), progress: () => {} };
  const place = { config: w.path("crm-sync.yaml"), sandbox: w.sandbox.url };
  const application = await openApplication(place, w.environment, face);
  onTestFinished(() => application.close());
  expect((await retryQuarantine(application, "all", "Ann")).map(({ kind }) => kind)).toEqual(["taken-up", "taken-up"]);
  expect(databases.map((file) => openFiles(file))).toEqual([[], []]);
});
