import { expect, it } from "vitest";
import { startService } from "../source/http-service.ts";
import { company, staffRow } from "../support/world/crm.ts";
import { mappingOf } from "../support/world/crm-files.ts";
import { world } from "../support/cli.ts";

const hour = 3_600_000;

const staffOver = (origin: string, since: string): string => `  people:
    kind: http
    baseUrl: ${origin}
    streams:
      staff:
        url: staff
        key: id
        since: { parameter: since, ${since} }
        mapping: ${JSON.stringify(mappingOf("staff"))}
jobs:
  everything: { kind: sync, streams: [customers, orders, staff] }
`;

it.each([
  ["an hour ahead of it, by its records", -hour, "changedAt: changed"],
  ["an hour behind it, by its records", hour, "changedAt: changed"],
  ["an hour ahead of it, by its Date header", -hour, "overlapMs: 0"],
])(
  "a source of changes loses nothing to a clock of ours that is %s, and who is gone is noticed by whole reads",
  { tags: "long" },
  async (_how, off, settings) => {
    const { customers, orders, staff } = company(2, 2);
    const w = await world({ records: { customers, orders, staff: [] } });
    // The clock of the service, and the time at which each of its people was changed.
    let time = Math.floor(Date.now() / 1000) * 1000 + off;
    const changed = new Map(staff.map((person) => [person.id, time]));
    const service = await startService(({ query }) => ({
      headers: { date: new Date(time).toUTCString() },
      body: staff
        .filter((person) => query["since"] === undefined || (changed.get(person.id) ?? 0) >= Date.parse(query["since"]))
        .map((person) => ({ ...staffRow(person), changed: new Date(changed.get(person.id) ?? 0).toISOString() })),
    }));
    w.extra = staffOver(service.origin, settings);
    w.write();
    expect(await w.does("run", "everything")).toMatchObject({ exitCode: 0, sent: 4 });

    // Two are changed within the same millisecond, and only one of them is visible when the first reading of changes
    // comes.
    const [first, second, third] = staff;
    if (first === undefined || second === undefined || third === undefined) throw new Error("the company is too small");
    time += 60_000;
    first.holds = [];
    changed.set(first.id, time);
    expect(await w.does("run", "staff")).toMatchObject({ exitCode: 0, sent: 1 });
    second.holds = [];
    changed.set(second.id, time);
    expect((await w.does("plan")).stdout).toContain("1 operation(s) planned");
    expect(await w.does("run", "staff")).toMatchObject({ exitCode: 0, sent: 1 });
    expect(service.asked.slice(1).every(({ query }) => query["since"] !== undefined)).toBe(true);

    // Somebody goes. Changes alone never tell; a whole read is due a day after the last one of a run.
    staff.splice(2, 1);
    for (let read = 1; read <= 4; read += 1)
      expect(await w.does("run", "staff"), `changes ${read}`).toMatchObject({ sent: 0 });
    for (let read = 1; read <= 3; read += 1) {
      w.tamper(`update source_read set started_at = '2026-01-01T00:00:00.000Z'`);
      expect(await w.does("run", "staff"), `whole ${read}`).toMatchObject({ sent: read === 3 ? 1 : 0 });
      expect(service.asked.at(-1)?.query["since"], `whole ${read}`).toBeUndefined();
      await w.does("run", "staff");
      expect(service.asked.at(-1)?.query["since"], "and then changes again").toBeDefined();
    }
  },
);

it("a retry maps the stored raw form with the mapping of now, also where the source of changes does not give the record again", async () => {
  const { customers, orders, staff } = company(2, 2);
  const w = await world({ records: { customers, orders, staff: [] } });
  const time = Math.floor(Date.now() / 1000) * 1000 - hour;
  const [first, second] = staff;
  if (first === undefined || second === undefined) throw new Error("the company is too small");
  // The first gets a name that M1 does not take, the second has none at all, and one row is no record.
  const rows = staff.map((person) => ({ ...staffRow(person), full: person.name }));
  const [one, two, ...others] = rows;
  const sent: unknown[] = [one, { ...two, name: null }, 7, ...others];
  const service = await startService(({ query }) => ({
    headers: { date: new Date(time).toUTCString() },
    body: query["since"] === undefined ? sent : [],
  }));
  w.extra = staffOver(service.origin, "overlapMs: 1000");
  w.write();
  expect(await w.does("run", "everything")).toMatchObject({ exitCode: 3, sent: 3 });
  sent[0] = { ...one, name: "x".repeat(31) };
  w.tamper(`update source_read set started_at = '2026-01-01T00:00:00.000Z'`);
  expect(await w.does("run", "staff")).toMatchObject({ exitCode: 3, sent: 0 });
  const waiting = (): { id: string; code: string }[] =>
    w.rows("select id, code from quarantine where state <> 'resolved' order by place");
  expect(waiting()).toHaveLength(3);

  const asked = service.asked.length;
  const same = await w.does("quarantine", "retry", "all");
  expect([same.exitCode, same.calls]).toEqual([3, {}]);
  expect(same.stdout.match(/still not usable/gu)).toHaveLength(2);
  expect(same.stdout).toMatch(/not now, because what came was no whole record/u);
  expect(waiting()).toHaveLength(3);

  w.extra = w.extra.replace('"name":"name"', '"name":"full"');
  w.write();
  w.tamper("update source_read set finished_at = null where number = (select max(number) from source_read)");
  const cutOff = await w.does("quarantine", "retry", "all");
  expect(cutOff.stdout.match(/not now, because the last reading of \S+staff did not come to its end/gu)).toHaveLength(
    2,
  );
  w.tamper("update source_read set finished_at = started_at where finished_at is null");
  const mended = await w.does("quarantine", "retry", "all");
  expect(mended.stdout.match(/usable now; the next run takes it up/gu)).toHaveLength(2);
  expect(service.asked, "the source is not asked").toHaveLength(asked);
  expect(waiting()).toHaveLength(1);
  expect(await w.does("run", "staff"), "the second is made and gets the asset").toMatchObject({ sent: 1 });
  expect(w.sandbox.state().assignments).toBe(4);
  // The source gives the same rows again: they are known, and nothing is done twice.
  w.tamper(`update source_read set started_at = '2026-01-01T00:00:00.000Z'`);
  expect((await w.does("run", "staff")).calls).toEqual({});
  expect(service.asked.at(-1)?.query["since"]).toBeUndefined();
  const unknown = await w.does("quarantine", "retry", "q-nowhere");
  expect(unknown).toMatchObject({ exitCode: 64 });
});
