import { expect, it } from "vitest";
import { openLedger, sqlite } from "../../support/world/start.ts";
import { trustedAt } from "../../support/trusted.ts";

const old = "2024-01-01T00:00:00.000Z";
const now = "2026-10-01T08:00:00.000Z";

it("thins history that ended long ago, and leaves what a promise or a report needs", async () => {
  const { ledger, path } = await openLedger();
  const database = sqlite(path);
  const product = '{"licenseType":"softkey"}';
  const lock = '{"licenseType":"normal_recover_usbkey","largeCustomer":false}';
  database.exec(`
    insert into observation
      (customer_namespace, customer_id, kind, subject, from_at, to_at, seen_at, body, body_hash)
      values ('crm', 'C1', 'product', '1/P1', '2023-01-01T00:00:00.000Z', '${old}', '${old}', '${product}', ''),
        ('crm', 'C1', 'product', '1/P1', '${old}', null, '${now}', '{}', '');
    insert into manual_request
      (of, about, from_at, to_at, customer_namespace, customer_id, wanted, details, asked_by, reason, due)
      select 'lock', column1, column2, column3, 'crm', column4, column5, '${lock}', column6, 'lost', 0 from (values
        ('L1', '2023-01-01', '${old}', 'C1', 'locked', 'anna.lee'), ('L1', '${old}', null, 'C1', 'locked', 'anna.lee'),
        ('L2', '${old}', '${old}', 'C1', 'locked', 'anna.lee'), ('L3', '${old}', '${now}', 'C1', 'locked', 'anna.lee'),
        ('L5', '2022-01-01', '${old}', 'C1', 'locked', 'the CRM'), ('L5', '2022-02-01', '${old}', 'C1', 'unlocked', 'the CRM'),
        ('L6', '2022-01-01', '${old}', 'C1', 'locked', 'the CRM'), ('L6', '2022-02-01', '${old}', 'C2', 'locked', 'the CRM'));
    insert into difference (namespace, customer_id, level, subject, class, first_seen, detail, ended_at)
      values ('crm', 'C1', 'order', 'O1', 'missing', '2023-01-01', 'not shown', '${old}'),
        ('crm', 'C1', 'order', 'O2', 'missing', '2023-01-01', 'not shown', '${now}'),
        ('crm', 'C1', 'order', 'O3', 'missing', '2023-01-01', 'not shown', null);
    insert into source_read (run_id, source, stream, started_at, finished_at, complete, whole, problem)
      with recursive n(i) as (select 1 union all select i + 1 from n where i < 700)
      select null, 'crm', 'orders', '${old}', '${old}', i % 7 <> 0, 1, null from n;`);
  const kept = { rawRecordDays: 100, observationDays: 100, runDays: 100 };
  const thin = async () => await ledger.runs.thinHistory(trustedAt(Date.parse(now)), kept, () => false);
  const thinned = await thin();
  const rows = (sql: string): unknown[] => database.prepare(sql).raw().all();
  expect(rows("select to_at from observation")).toEqual([[null]]);
  expect(rows("select license_type from shown_licence_type where shown_by = 'product'")).toEqual([["softkey"]]);
  // What the CRM asked for last says whether it asks for something else now.
  const asked = rows("select about || ' ' || from_at from manual_request where to_at is not null order by 1");
  expect(asked).toEqual([[`L3 ${old}`], ["L5 2022-02-01"], ["L6 2022-01-01"], ["L6 2022-02-01"]]);
  expect(rows("select subject from difference order by 1")).toEqual([["O2"], ["O3"]]);
  // The newest ten, and the incomplete ones, which reports name.
  const reads = "select count(*), sum(complete = 0), max(number) from source_read";
  expect(rows(reads)).toEqual([[108, 100, 700]]);
  expect(thinned).toEqual({ observations: 1, requests: 3, differences: 1, reads: 592 });
  expect(await thin()).toEqual({});
});

it("thins later what an earlier sweep had to keep", async () => {
  const { ledger, path } = await openLedger();
  const database = sqlite(path);
  const day = (number: number): string => new Date(Date.parse(old) + number * 86_400_000).toISOString();
  const kept = { rawRecordDays: null, observationDays: null, runDays: 10 };

  for (let week = 0; week < 14; week += 1) {
    const at = day(week * 7);
    database.exec(`insert into source_read (source, stream, started_at, finished_at, complete, whole)
        values ('crm', 'orders', '${at}', '${at}', 1, 1);
      insert into run (id, job, kind, trigger, started_at, state, header, summary)
        values ('run-${10 + week}', 'crm', 'sync', 'hand', '${at}', 'done', '{"by":"a","x":1}', '{}')`);
    await ledger.runs.thinHistory(trustedAt(Date.parse(day(week * 7 + 30))), kept, () => false);
  }
  const left = (sql: string): unknown => database.prepare(sql).pluck().get();
  expect(left("select count(*) from source_read")).toBe(10);
  expect(left("select count(*) from run where summary is not null")).toBe(1);
});
