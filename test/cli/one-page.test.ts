import { expect, it } from "vitest";
import { startService } from "../source/http-service.ts";
import { world } from "../support/cli.ts";
import { mappingOf } from "../support/world/crm-files.ts";
import { company, staffRow } from "../support/world/crm.ts";

it("a service that begins to answer with one page of several takes nothing away: the read is incomplete and says what to do", async () => {
  const { customers, orders, staff } = company(2, 2);
  const w = await world({ records: { customers, orders, staff: [] } });
  const rows = staff.map((person) => staffRow(person));
  let shown = rows.length;
  const service = await startService(() => ({
    body: { people: rows.slice(0, shown), paging: { total: rows.length } },
  }));
  w.extra = `  people:
    kind: http
    baseUrl: ${service.origin}
    streams:
      staff: { url: staff, records: people, key: id, mapping: ${JSON.stringify(mappingOf("staff"))} }
jobs:
  everything: { kind: sync, streams: [customers, orders, staff] }
`;
  w.write();
  expect(await w.does("run", "everything")).toMatchObject({ exitCode: 0, sent: 4 });
  shown = 3;
  for (let read = 1; read <= 4; read += 1) {
    const ended = await w.does("run", "staff");
    expect(ended, `read ${read}`).toMatchObject({ exitCode: 7, calls: {} });
    const said = ended.stdout + ended.stderr;
    expect(said).toMatch(/takes it for all, but paging\.total says 4/u);
    expect(said).toMatch(/Set `paging`/u);
  }
  expect(w.sandbox.state().assignments).toBe(4);
  shown = rows.length;
  expect(await w.does("run", "staff")).toMatchObject({ exitCode: 0, calls: {} });
});
