import { writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { world, type World } from "../../support/cli.ts";
import { fileSource, mappingOf } from "../../support/world/crm-files.ts";
import { company, customerRow } from "../../support/world/crm.ts";
import { changeFile } from "../../support/world/start.ts";

const columns = ["id", "name", "branch", "address", "contact", "account", "email", "mobile"] as const;

/** What a database says of when a customer was changed. */
interface Given {
  type?: string;
  /** As SQL. */
  at?: string;
  zone?: string | undefined;
  query?: string;
}

/** A company whose customers are in a database of its own, and whose orders are in a file. */
async function erp(given: Given = {}): Promise<{ w: World; change: (sql: string) => void }> {
  const { type = "timestamptz", at = "'2026-11-20T08:00:00Z'", zone, query = "select * from customer" } = given;
  const w = await world({ records: company(3, 1) });
  const change = (sql: string): void => changeFile(w.path("erp.db"), sql);
  change(`pragma journal_mode = wal; create table customer (${columns.join(", ")}, changed_at ${type})`);
  for (const row of w.customers.map(customerRow))
    change(`insert into customer values (${columns.map((name) => `'${row[name]}'`).join(", ")}, ${at})`);
  const mapping = mappingOf("customers", "csv");
  const customers = { query, key: "id", since: { column: "changed_at", overlap: "0s" }, mapping };
  const connection = { kind: "sqlite", file: "erp.db" };
  const sources = {
    crm: { kind: "sql", ...(zone === undefined ? {} : { zone }), connection, streams: { customers } },
    orders: fileSource("data", ["orders"]),
  };
  const jobs = { everything: { kind: "sync", streams: ["customers", "orders"] } };
  const ledger = { path: "ledger.db", sealKey: "env:SEAL_KEY" };
  writeFileSync(w.path("crm-sync.yaml"), stringify({ ledger, zone: "UTC", sources, jobs }));
  return { w, change };
}

/** The same, and a run that has made everything. */
async function synchronised(given: Given = {}): ReturnType<typeof erp> {
  const opened = await erp(given);
  const first = await opened.w.does("run", "everything");
  expect([first.exitCode, first.calls], first.stderr).toEqual([0, { E2: 3, E5: 3, E9: 1 }]);
  return opened;
}

const resync = ["resync", "--source", "crm"];

describe("customers of a database", () => {
  it("are asked for by what changed since the run before", async () => {
    const { w, change } = await synchronised();
    change("update customer set branch = 'Moved', changed_at = '2026-11-21 08:00:00' where id = 'C2'");
    const second = await w.does("run", "everything");
    expect([second.exitCode, second.calls]).toEqual([0, { E4: 1 }]);
    const third = await w.does("run", "everything");
    expect([third.exitCode, third.calls]).toEqual([0, {}]);
    const { reads } = await w.ask("run", "show", "last");
    expect(reads[0]).toMatchObject({ stream: "customers", whole: false, rows: 1, cursor: "2026-11-21T08:00:00Z" });
  });

  it("are asked for also by changes of the same minute where times have no seconds", async () => {
    const { w, change } = await synchronised({ type: "text", at: "'2026-11-20 08:00Z'" });
    change("update customer set branch = 'Moved' where id = 'C2'");
    const ended = await w.does("run", "everything");
    expect([ended.exitCode, ended.calls]).toEqual([0, { E4: 1 }]);
    const { reads } = await w.ask("run", "show", "last");
    expect(reads[0]).toMatchObject({ stream: "customers", whole: false });
  });

  it("stay as they are while their database is away", { tags: "long" }, async () => {
    const { w } = await synchronised();
    w.environment["CRM_SYNC__sources__crm__connection__file"] = "away.db";
    const away = await w.does("run", "everything");
    expect([away.exitCode, away.calls]).toEqual([7, {}]);
    expect((await w.run("check")).exitCode).toBe(7);
  });

  it.each([
    ["writes", "select * from customer\nwhere 1 = 1; delete from customer"],
    ["lacks a column", "select id, name, changed_at from customer"],
  ])("are not read by a query that %s: check names its place in the configuration", async (_what, query) => {
    const { w } = await erp({ query });
    const checked = await w.run("--json", "check");
    expect(checked.exitCode).toBe(7);
    expect(checked.stdout).toMatch(/crm-sync\.yaml:\d+:\d+/u);
  });
});

describe("resync --since", () => {
  it("by a time loses no change to a database that says when in local times", { tags: "long" }, async () => {
    const { w, change } = await synchronised({ type: "timestamp", at: "'2026-11-20 16:00:00'", zone: "Asia/Shanghai" });
    change("update customer set branch = 'Moved 2', changed_at = '2026-11-20 17:00:00' where id = 'C2'");
    change("update customer set branch = 'Moved 3', changed_at = '2026-11-20 21:00:00' where id = 'C3'");
    const asked = await w.does(...resync, "--since", "2026-11-20T12:00:00Z");
    const next = await w.does("run", "everything");
    expect([asked.exitCode, asked.calls, next.exitCode, next.calls]).toEqual([0, { E4: 2 }, 0, {}]);
  });

  it.each([
    {
      what: "local times of a zone",
      type: "timestamp",
      at: (day: string) => `'${day} 21:00:00'`,
      zone: "Asia/Shanghai",
    },
    { what: "local times of no zone", type: "timestamp", at: (day: string) => `'${day} 21:00:00'`, zone: undefined },
  ])("reaches back to a change that came late, in $what", { tags: "long" }, async ({ type, at, zone }) => {
    const { w, change } = await synchronised({ type, at: at("2026-11-20"), zone });
    // It is committed now, with a time long before the end of the last read.
    change(`update customer set branch = 'Moved 2', changed_at = ${at("2026-11-10")} where id = 'C2'`);
    expect((await w.does("run", "everything")).calls).toEqual({});
    expect((await w.does(...resync, "--since", "2026-11-15T00:00:00Z")).calls).toEqual({});
    // 21:00 there is 13:00 UTC.
    const asked = await w.does(...resync, "--since", "2026-11-10T13:00:00Z");
    expect([asked.exitCode, asked.calls]).toEqual([0, { E4: 1 }]);
  });
});
