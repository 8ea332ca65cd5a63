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
