import { expect, it } from "vitest";
import { startService } from "../source/http-service.ts";
import { company, staffRow } from "../support/world/crm.ts";
import { mappingOf } from "../support/world/crm-files.ts";
import { document, world } from "../support/cli.ts";

it(
  "remap maps what is kept of two sources anew, tells what it leaves, and the next run carries out what changed",
  { tags: "long" },
  async () => {
    const { customers, orders, staff } = company(2, 2);
    const w = await world({ records: { customers, orders, staff: [] } });
    const time = Date.UTC(2026, 9, 1, 8);
    const rows = staff.map((person) => ({ ...staffRow(person), full: `${person.name}x` }));
    const service = await startService(({ query }) => ({
      headers: { date: new Date(time).toUTCString() },
      body: query["since"] === undefined ? rows : [],
    }));
    w.extra = `  people:
    kind: http
    baseUrl: ${service.origin}
    streams:
      staff: { url: staff, key: id, since: { parameter: since }, mapping: ${JSON.stringify(mappingOf("staff"))} }
jobs:
  everything: { kind: sync, streams: [customers, orders, staff] }
`;
    w.write();
    expect(await w.does("run", "everything")).toMatchObject({ exitCode: 0, sent: 4 });
    const asked = service.asked.length;
    const same = await w.does("remap");
    expect([same.exitCode, same.calls]).toEqual([0, {}]);
    expect(same.stdout).toMatch(/people, staff: 0 changed, 0 mapped to what they were, 4 mapped so before/u);

    w.extra = w.extra.replace('"name":"name"', '"name":"full"');
    w.write();
    w.tamper("update private_value set body = null where ref = 'raw:staff/crm/S1-1'");
    const remapped = await w.does("remap", "people", "staff", "--by", "Ann");
    expect([remapped.exitCode, remapped.calls]).toEqual([3, {}]);
    expect(remapped.stdout).toMatch(/people, staff: 3 changed/u);
    expect(remapped.stdout).toMatch(/1 left as mapped before: the raw form was erased\n.*resync --source people/u);
    expect(service.asked, "the source is not asked").toHaveLength(asked);
    expect(w.rows("select json_extract(body, '$.by') as by from audit where kind = 'mapped-anew'")).toContainEqual({
      by: "Ann",
    });
    const json = document(await w.run("remap", "people", "--json"));
    expect(json.streams).toMatchObject([{ source: "people", stream: "staff", changed: 0, current: 3 }]);

    const run = await w.does("run", "staff");
    expect(run).toMatchObject({ exitCode: 0 });
    expect(service.asked.at(-1)?.query["since"], "everything is read with the mapping of now").toBeUndefined();
    expect(w.rows("select count(*) as count from record where stream = 'staff' and version = 2")).toEqual([
      { count: 4 },
    ]);
    expect((await w.does("remap", "nowhere")).exitCode).toBe(64);
    expect((await w.does("remap", "people", "orders")).exitCode).toBe(64);
  },
);

it("status says what is in part read, and since when", async () => {
  const w = await world();
  await w.run("run", "everything");
  const at = new Date(w.clock.now() - 59 * 60_000).toISOString();
  w.tamper(`insert into read_checkpoint (source, stream, question, position, first_read, rows, bad, nameless, began_at,
    reached_at)
    values ('crm', 'orders', 'q', '{}', 1, 500000, 0, 0, '${at}', '${at}')`);
  const status = await w.run("status");
  expect(status.stdout).toMatch(/read in part\n\s+crm, orders: 500.?000 rows so far, begun 60 min ago/u);
  expect(document(await w.run("status", "--json")).cutReads).toMatchObject([{ stream: "orders", rows: 500_000 }]);
  // A file is read from its start: what was begun otherwise is forgotten by the next run.
  await w.run("run", "everything");
  expect((await w.run("status")).stdout).not.toContain("read in part");
});
