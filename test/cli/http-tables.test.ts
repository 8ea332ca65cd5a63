import { expect, it } from "vitest";
import { startService } from "../source/http-service.ts";
import { world } from "../support/cli.ts";
import { mappingOf } from "../support/world/crm-files.ts";
import { company, staffRow } from "../support/world/crm.ts";

it(
  "a look-up table over HTTP that is not whole makes the read incomplete and takes nothing away; one that changed has everything read",
  { tags: "long" },
  async () => {
    const { customers, orders, staff } = company(2, 2);
    const w = await world({ records: { customers, orders, staff: [] } });
    const teams = ["T1", "T2", "T3"].map((team) => ({ team, title: `Title of ${team}` }));
    let spoils: "nothing" | "a page" = "nothing";
    const time = Math.floor(Date.now() / 1_000) * 1_000;
    const service = await startService(({ path, query }) => {
      const headers = { date: new Date(time).toUTCString() };
      if (path === "/staff")
        return {
          headers,
          body: query["since"] === undefined ? staff.map((person) => ({ ...staffRow(person), team: "T3" })) : [],
        };
      const page = Number(query["page"]);
      if (page === 2 && spoils === "a page") return { status: 500 };
      return { body: { teams: teams.slice((page - 1) * 2, page * 2) } };
    });
    const wasWhole = (): boolean =>
      service.asked.findLast(({ path }) => path === "/staff")?.query["since"] === undefined;
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
    expect((await w.run("check")).stdout).toContain("source people: can be read: staff");
    expect(await w.does("run", "everything")).toMatchObject({ exitCode: 0, sent: 4 });
    expect(w.sandbox.state().assignments).toBe(4);
    await w.does("run", "staff");
    expect(wasWhole(), "a table that stays as it was lets changes be asked for").toBe(false);

    // Somebody goes while a page of the table fails: who is there is not even asked for.
    staff.splice(2, 1);
    spoils = "a page";
    const asked = service.asked.filter(({ path }) => path === "/staff").length;
    for (let read = 1; read <= 4; read += 1) {
      w.tamper(`update source_read set started_at = '2026-01-01T00:00:00.000Z'`);
      const ended = await w.does("run", "staff");
      expect(ended, `read ${read}`).toMatchObject({ exitCode: 7, calls: {} });
      expect(ended.stdout + ended.stderr).toMatch(/source people, table teams answers HTTP 500/u);
    }
    expect(service.asked.filter(({ path }) => path === "/staff")).toHaveLength(asked);
    const checked = await w.run("check");
    expect([checked.exitCode === 0, /table teams answers HTTP 500/u.test(checked.stdout)]).toEqual([false, true]);
    expect(w.sandbox.state().assignments).toBe(4);

    // The titles change: everything is read with them, and each person is given the new one, who is missing too.
    spoils = "nothing";
    for (const team of teams) team.title = `${team.title}, anew`;
    const anew = await w.does("run", "staff");
    expect([anew.exitCode, anew.calls["M2"], wasWhole()]).toEqual([0, 4, true]);
    await w.does("run", "staff");
    expect(wasWhole(), "and then changes again").toBe(false);
    for (let read = 2; read <= 3; read += 1) {
      w.tamper(`update source_read set started_at = '2026-01-01T00:00:00.000Z'`);
      expect(await w.does("run", "staff"), `whole ${read}`).toMatchObject({ sent: read === 3 ? 1 : 0 });
    }
  },
);
