import { appendFileSync } from "node:fs";
import { expect, it } from "vitest";
import { world } from "../support/cli.ts";

it(
  "history that is older than it is kept goes, and nothing that a promise or a report needs; it is said once",
  { tags: "long" },
  async () => {
    const w = await world();
    w.extra =
      "jobs:\n  people: { kind: sync, streams: [staff] }\n  rest: { kind: sync, streams: [customers, orders] }\n";
    w.write();
    w.environment["CRM_SYNC__retention__runDays"] = "30";
    const run = async (job: string, code = 0): Promise<void> => {
      const ended = await w.run("run", job);
      expect(ended.exitCode, `${ended.stdout}${ended.stderr}`).toBe(code);
    };
    const both = async (): Promise<void> => {
      await run("rest");
      await run("people");
    };
    await both();
    // Every customer and person changes once; a row in quarantine comes and is gone again, another one stays.
    for (const customer of w.customers) customer.branch = "Another branch";
    w.write();
    appendFileSync(w.path("data/customers.ndjson"), '{"id":"bad-1"}\n{"id":"bad-2"}\n');
    await run("rest", 3);
    w.write();
    appendFileSync(w.path("data/customers.ndjson"), '{"id":"bad-2"}\n');
    await run("rest", 3);
    await run("verify", 3);

    // All this was long ago, and there were many readings and runs, and the platform has shown otherwise before.
    const old = "2024-01-01T00:00:00.000Z";
    w.tamper(`
    update record_version set to_at = '${old}' where to_at is not null;
    update quarantine set resolved_at = '${old}' where resolved_at is not null;
    insert into observation (customer_namespace, customer_id, kind, subject, from_at, to_at, seen_at, body, body_hash)
      select customer_namespace, customer_id, kind, subject, '2023-01-01T00:00:00.000Z', '${old}', '${old}',
        json_set(body, '$.licenseType', 'softkey'), '' from observation where to_at is null;
    insert into manual_request (of, about, from_at, to_at, customer_namespace, customer_id, wanted, details, asked_by,
        reason, due)
      select 'lock', about, from_at, to_at, 'crm', 'C1', 'locked',
        '{"licenseType":"normal_recover_usbkey","largeCustomer":false}', 'anna.lee', 'lost', 0
      from (select 'L1' as about, '2023-01-01T00:00:00.000Z' as from_at, '${old}' as to_at
        union all select 'L1', '${old}', null union all select 'L2', '${old}', '${old}'
        union all select 'L3', '${old}', strftime('%Y-%m-%dT%H:%M:%fZ', 'now'));
    insert into manual_request (of, about, from_at, to_at, customer_namespace, customer_id, wanted, details, asked_by,
        reason, due)
      select 'lock', 'L5', from_at, to_at, 'crm', 'C1', wanted,
        '{"licenseType":"normal_recover_usbkey","largeCustomer":false}', 'the CRM', 'order crm/O1', 0
      from (select '2022-01-01T00:00:00.000Z' as from_at, '${old}' as to_at, 'locked' as wanted
        union all select '2022-02-01T00:00:00.000Z', '${old}', 'unlocked');
    insert into manual_request (of, about, from_at, to_at, customer_namespace, customer_id, wanted, details, asked_by,
        reason, due)
      select 'lock', 'L6', from_at, '${old}', 'crm', customer, 'locked',
        '{"licenseType":"normal_recover_usbkey","largeCustomer":false}', 'the CRM', 'order crm/O1', 0
      from (select '2022-01-01T00:00:00.000Z' as from_at, 'C1' as customer
        union all select '2022-02-01T00:00:00.000Z', 'C2');
    insert into difference (namespace, customer_id, level, subject, class, first_seen, last_seen, detail, ended_at)
      select 'crm', 'C1', 'order', 'order:crm/' || value, 'missing', '2023-01-01T00:00:00.000Z', '${old}', 'not shown',
        case value when 'O1' then '${old}' when 'O2' then strftime('%Y-%m-%dT%H:%M:%fZ', 'now') end
      from json_each('["O1", "O2", "O3"]');
    update run set started_at = '2024-01-01' || substr(started_at, 11);
    update source_read set started_at = '${old}';
    insert into source_read (run_id, source, stream, started_at, finished_at, complete, whole, problem)
      with recursive n(i) as (select 1 union all select i + 1 from n where i < 700)
      select null, 'crm', 'orders', '${old}', '${old}', i % 7 <> 0, 1, null from n;`);
    const kept = (): unknown => ({
      raw: w.rows(
        "select ref, version from private_value where ref like 'raw:%' or ref like 'quarantine/%' order by ref, version",
      ),
      old: w.rows("select count(*) as count from observation where to_at is not null"),
      ended: w.rows("select about from manual_request where to_at is not null order by about"),
      differences: w.rows("select subject from difference order by subject"),
      runs: w.rows("select count(*) as count from run where header = '{}'"),
      reads: w.rows(
        "select source, stream, count(*) as count, sum(complete = 0) as incomplete from source_read group by 1, 2 order by 1, 2",
      ),
    });
    const promised = (): unknown => [
      w.rows("select stream, namespace, id, version, from_at, body from record_version order by 1, 2, 3, 4"),
      w.rows(
        "select * from private_value where ref not like 'raw:%' and ref not like 'quarantine/%' order by ref, version",
      ),
      w.rows("select * from observation where to_at is null order by customer_id, kind, subject"),
      w.rows("select id, kind, state, payload, wire_hash from operation order by id"),
      w.rows("select * from attempt order by operation_id, number"),
      w.rows("select * from placed_order order by order_id"),
      w.rows("select * from manual_request where to_at is null"),
      w.rows("select id, job, state, exit_code, balance from run order by id limit 5"),
      w.rows("select id, code, message from quarantine order by id"),
    ];
    const before = promised();
    const shown = async (): Promise<string[]> => {
      const said: string[] = [];
      for (const kind of ["orders", "reconciliation", "exceptions"])
        said.push(
          (await w.run("report", kind, "--period", "2024-01", "--format", "json")).stdout.replace(/^.*\n/u, ""),
        );
      said.push((await w.run("--json", "explain", "customer", "C1")).stdout.replaceAll(/"read":\{[^}]*\}/gu, ""));
      return said;
    };
    const reported = await shown();
    expect(kept()).toMatchObject({
      old: [{ count: expect.toSatisfy((count: number) => count > 0) }],
      ended: [
        { about: "L1" },
        { about: "L2" },
        { about: "L3" },
        { about: "L5" },
        { about: "L5" },
        { about: "L6" },
        { about: "L6" },
      ],
      runs: [{ count: 0 }],
    });

    // Another job than the one that made it all: history is the ledger's.
    await run("people");
    expect(promised()).toEqual(before);
    expect(await shown()).toEqual(reported);
    const openForm = w.rows<{ raw_ref: string }>("select raw_ref from quarantine where state <> 'resolved'");
    expect(openForm).toHaveLength(1);
    const newest = w.rows<{ ref: string; version: number }>(
      "select 'raw:' || stream || '/' || namespace || '/' || id as ref, version from record order by 1",
    );
    expect(kept()).toEqual({
      raw: [...openForm.map(({ raw_ref }) => ({ ref: raw_ref, version: 1 })), ...newest],
      old: [{ count: 0 }],
      // What the CRM asked for last stays: it says whether the CRM asks for something else now.
      ended: [{ about: "L3" }, { about: "L5" }, { about: "L6" }, { about: "L6" }],
      differences: [{ subject: "order:crm/O2" }, { subject: "order:crm/O3" }],
      // The last run of each job stays as it was.
      runs: [{ count: 3 }],
      reads: [
        { source: "crm", stream: "customers", count: 3, incomplete: 0 },
        { source: "crm", stream: "orders", count: 108, incomplete: 100 },
        { source: "hr", stream: "staff", count: 2, incomplete: 0 },
      ],
    });
    // A licence type that was seen once stays one that reports know.
    expect(w.rows("select license_type from shown_licence_type where shown_by = 'product'")).toEqual([
      { license_type: "softkey" },
    ]);
    const entries = (): unknown[] => w.rows("select subject, body from audit where kind = 'retention'");
    const said = entries();
    expect(said).toEqual([{ subject: "ledger", body: expect.stringContaining('"quarantineForms":1,"rawForms":2') }]);

    await run("people");
    expect(entries()).toEqual(said);
  },
);
