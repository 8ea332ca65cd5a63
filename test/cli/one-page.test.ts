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

it(
  "a list whose cursor is looked for in the wrong place takes nothing away and adds no half: three runs of two sources end with 7",
  { tags: "long" },
  async () => {
    const { customers, orders, staff } = company(2, 3);
    const w = await world({ records: { customers, orders, staff: [] } });
    const rows = staff.map((person) => staffRow(person));
    const service = await startService(({ query }) => {
      const isSecond = query["after"] === "k3";
      return {
        body: {
          people: isSecond ? rows.slice(3) : rows.slice(0, 3),
          paging: { cursor: { next: isSecond ? null : "k3" } },
        },
      };
    });
    const write = (next: string): void => {
      w.extra = `  people:
    kind: http
    baseUrl: ${service.origin}
    streams:
      staff:
        url: staff
        records: people
        key: id
        paging: { kind: cursor, parameter: after, next: ${next} }
        mapping: ${JSON.stringify(mappingOf("staff"))}
jobs:
  everything: { kind: sync, streams: [customers, orders, staff] }
`;
      w.write();
    };
    write("paging.cursor.next");
    expect(await w.does("run", "everything")).toMatchObject({ exitCode: 0, sent: 6 });
    write("paging.next");
    for (let read = 1; read <= 3; read += 1) {
      const ended = await w.does("run", "everything");
      expect(ended, `run ${read}`).toMatchObject({ exitCode: 7, calls: {} });
      const said = ended.stdout + ended.stderr;
      expect(said).toMatch(
        /after 3 records by `paging` \(cursor\), but in the last answer paging\.cursor\.next names/u,
      );
      expect(said).toMatch(/Correct `paging`, whose `next` is paging\.next: paging\.cursor\.next speaks of more/u);
    }
    expect(await w.does("plan")).toMatchObject({ exitCode: 7 });
    expect(w.sandbox.state().assignments).toBe(6);
    write("paging.cursor.next");
    expect(await w.does("run", "everything")).toMatchObject({ exitCode: 0, calls: {} });
  },
);
