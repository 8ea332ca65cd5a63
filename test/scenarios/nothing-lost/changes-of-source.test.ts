import { expect, it } from "vitest";
import { startService } from "../../source/http-service.ts";
import { quarantined } from "../../support/asking.ts";
import { asKilledNow } from "../../support/killed-copy.ts";
import { world } from "../../support/cli.ts";
import { mappingOf } from "../../support/world/crm-files.ts";
import { company, staffRow } from "../../support/world/crm.ts";

/** @module-tag long */

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
])("a source of changes loses nothing to a clock that is %s", async (_how, off, settings) => {
  const { customers, orders, staff } = company(2, 2);
  const w = await world({ records: { customers, orders, staff: [] } });
  const start = w.clock.now() + off;
  let time = start;
  const changed = new Map<string, number>();
  const timeOf = (id: string): number => changed.get(id) ?? start;
  const service = await startService(({ query }) => ({
    headers: { date: new Date(time).toUTCString() },
    body: staff
      .filter(({ id }) => query["since"] === undefined || timeOf(id) >= Date.parse(query["since"]))
      .map((person) => ({ ...staffRow(person), changed: new Date(timeOf(person.id)).toISOString() })),
  }));
  const wasWhole = (): boolean => service.asked.at(-1)?.query["since"] === undefined;
  w.extra = staffOver(service.origin, settings);
  w.write();
  expect(await w.does("run", "everything")).toMatchObject({ exitCode: 0, sent: 4 });

  // Two are changed in the same millisecond, and only one of them is visible to the first reading of changes.
  time += 60_000;
  for (const person of staff.slice(0, 2)) {
    person.holds = [];
    changed.set(person.id, time);
    expect((await w.run("plan")).exitCode).toBe(2);
    expect(await w.does("run", "staff")).toMatchObject({ exitCode: 0, sent: 1 });
    expect(wasWhole()).toBe(false);
  }

  // Somebody is gone. Changes alone never tell; a read of everything is due a day after the last one.
  staff.splice(2, 1);
  for (const _ of [1, 2, 3, 4]) expect(await w.does("run", "staff")).toMatchObject({ sent: 0 });
  for (const sent of [0, 0, 1]) {
    w.later(25);
    time += 25 * hour;
    expect(await w.does("run", "staff")).toMatchObject({ sent });
    expect(wasWhole()).toBe(true);
    await w.does("run", "staff");
    expect(wasWhole()).toBe(false);
  }
});

it("a retry maps the stored row again, also when the source of changes does not give it again", async () => {
  const { customers, orders, staff } = company(2, 2);
  const w = await world({ records: { customers, orders, staff: [] } });
  const time = w.clock.now() - hour;
  // The first gets a name that M1 does not take, the second has none at all, and one row is no record.
  const [one, two, ...others] = staff.map((person) => ({ ...staffRow(person), full: staffRow(person).name }));
  const rows: unknown[] = [one, { ...two, name: null }, 7, ...others];
  const isAsked = Promise.withResolvers<void>();
  const goesOn = Promise.withResolvers<void>();
  let isHeld = false;
  const service = await startService(async ({ query }) => {
    if (isHeld) {
      isAsked.resolve();
      await goesOn.promise;
    }
    return { headers: { date: new Date(time).toUTCString() }, body: query["since"] === undefined ? rows : [] };
  });
  w.extra = staffOver(service.origin, "overlapMs: 1000");
  w.write();
  expect(await w.does("run", "everything")).toMatchObject({ exitCode: 3, sent: 3 });
  rows[0] = { ...one, name: "x".repeat(31) };
  w.later(25);
  expect(await w.does("run", "staff")).toMatchObject({ exitCode: 3, sent: 0 });
  expect(await quarantined(w)).toHaveLength(3);

  const asked = service.asked.length;
  expect(await w.does("quarantine", "retry", "all")).toMatchObject({ exitCode: 3, calls: {} });
  expect(await quarantined(w)).toHaveLength(3);
  const own = { ...w.environment };
  isHeld = true;
  const running = w.run("run", "staff");
  await isAsked.promise;
  asKilledNow(w);
  goesOn.resolve();
  await running;
  w.extra = w.extra.replace('"name":"name"', '"name":"full"');
  w.write();
  await w.run("quarantine", "retry", "all");
  expect(await quarantined(w), "the read that was killed may have met a newer form").toHaveLength(3);
  w.environment = own;
  await w.run("quarantine", "retry", "all");
  expect(service.asked, "the source is not asked").toHaveLength(asked + 1);
  expect(await quarantined(w)).toHaveLength(1);
  expect(await w.does("run", "staff"), "the second is made and gets the asset").toMatchObject({ sent: 1 });
  expect(w.sandbox.state().assignments).toBe(4);
  w.later(25);
  expect((await w.does("run", "staff")).calls, "the same rows are known").toEqual({});
  expect(await w.does("quarantine", "retry", "q-nowhere")).toMatchObject({ exitCode: 64 });
});
