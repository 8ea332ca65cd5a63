import Sqlite from "better-sqlite3";
import { expect, it } from "vitest";
import { startService } from "../../source/http-service.ts";
import { world } from "../../support/cli.ts";
import { mappingOf } from "../../support/world/crm-files.ts";
import { company, staffRow } from "../../support/world/crm.ts";

it("says what is read in part, until it is read to its end", async () => {
  const { customers, orders, staff } = company(1, 3);
  const w = await world({ records: { customers, orders, staff: [] } });
  let isDown = true;
  const service = await startService(({ query }) => {
    const page = Number(query["page"]);
    return isDown && page === 2 ? { status: 404 } : { body: staff.slice((page - 1) * 2, page * 2).map(staffRow) };
  });
  w.extra = `  people:
    kind: http
    baseUrl: ${service.origin}
    streams:
      staff:
        url: staff
        key: id
        paging: { kind: page, parameter: page, size: 2 }
        mapping: ${JSON.stringify(mappingOf("staff"))}
jobs:
  everything: { kind: sync, streams: [customers, orders, staff] }
`;
  w.write();
  expect((await w.run("run", "everything")).exitCode).toBe(7);
  const { cutReads } = await w.ask("status");
  expect(cutReads).toMatchObject([{ source: "people", stream: "staff", rows: 2 }]);
  expect((await w.run("status", "--all")).stdout).toContain("people, staff: 2 rows");
  isDown = false;
  await w.run("run", "everything");
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  expect((await w.ask("status")).cutReads).toEqual([]);
});

it("names jobs that never ran although they are scheduled, and those that should have fired", async () => {
  const w = await world();
  w.extra = "jobs:\n  everything: { kind: sync, streams: [staff], schedule: '0 * * * *' }\n";
  w.write();
  await w.run("run", "staff");
  expect((await w.run("status")).stdout).toMatch(/^Not run yet: .*everything/mu);
  const ledger = new Sqlite(w.path("ledger.db"));
  ledger.exec(
    "insert into last_fire_time (job, fire_time, fired_at) values ('everything', '2026-10-30T08:00:00.000Z', '2026-10-30T08:00:00.000Z')",
  );
  ledger.close();
  expect((await w.run("status")).stdout).toMatch(/^everything should have fired .* ago and did not/mu);
});
