import { expect, it } from "vitest";
import { startService } from "../../source/http-service.ts";
import { world } from "../../support/cli.ts";
import { mappingOf } from "../../support/world/crm-files.ts";
import { company, staffRow } from "../../support/world/crm.ts";

/** @module-tag long */

it("a look-up table that cannot be read whole removes nobody, and one that changed has everything read again", async () => {
  const { customers, orders, staff } = company(2, 2);
  const w = await world({ records: { customers, orders, staff: [] } });
  const teams = ["T1", "T2", "T3"].map((team) => ({ team, title: `Title of ${team}` }));
  let isBroken = false;
  const service = await startService(({ path, query }) => {
    const headers = { date: new Date(w.clock.now()).toUTCString() };
    if (path === "/staff")
      return {
        headers,
        body: query["since"] === undefined ? staff.map((person) => ({ ...staffRow(person), team: "T3" })) : [],
      };
    const page = Number(query["page"]);
    if (page === 2 && isBroken) return { status: 500 };
    return { body: { teams: teams.slice((page - 1) * 2, page * 2) } };
  });
  const askedForStaff = () => service.asked.filter(({ path }) => path === "/staff");
  const wasWhole = (): boolean => askedForStaff().at(-1)?.query["since"] === undefined;
  w.extra = `  people:
    kind: http
    baseUrl: ${service.origin}
    retries: 1
    retryBaseMs: 1
    streams:
      staff:
        url: staff
        key: id
        since: { parameter: since, overlapMs: 0 }
        mapping: ${JSON.stringify({ ...mappingOf("staff"), remark: { lookup: { table: "teams", key: "team" } } })}
    tables:
      teams: { url: teams, records: teams, paging: { kind: page, size: 2 }, key: team, value: title }
jobs:
  everything: { kind: sync, streams: [customers, orders, staff] }
`;
  w.write();
  expect(await w.does("run", "everything")).toMatchObject({ exitCode: 0, sent: 4 });
  await w.does("run", "staff");
  expect(wasWhole(), "the table is as it was").toBe(false);

  // Somebody is gone while a page of the table fails: the people are not even asked for.
  staff.splice(2, 1);
  isBroken = true;
  const asked = askedForStaff().length;
  for (const _ of [1, 2, 3, 4]) {
    w.later(25);
    expect(await w.does("run", "staff")).toMatchObject({ exitCode: 7, calls: {} });
  }
  expect(askedForStaff()).toHaveLength(asked);
  expect((await w.run("check")).exitCode).toBe(7);
  expect(w.sandbox.state().assignments).toBe(4);

  // The titles change: each person is given the new one, also who is missing.
  isBroken = false;
  for (const team of teams) team.title = `${team.title}, anew`;
  const anew = await w.does("run", "staff");
  expect([anew.exitCode, anew.calls["M2"], wasWhole()]).toEqual([0, 4, true]);
  await w.does("run", "staff");
  expect(wasWhole()).toBe(false);
  for (const sent of [0, 1]) {
    w.later(25);
    expect(await w.does("run", "staff")).toMatchObject({ sent });
  }
});
