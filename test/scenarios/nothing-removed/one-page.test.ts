import { expect, it } from "vitest";
import { startService, type Answer } from "../../source/http-service.ts";
import { ran } from "../../support/asking.ts";
import { world, type World } from "../../support/cli.ts";
import { mappingOf } from "../../support/world/crm-files.ts";
import { company, staffRow } from "../../support/world/crm.ts";

const people = company(2, 2).staff.map(staffRow);

/** A company whose people come from a service, and what changes how it is asked. */
interface Served {
  w: World;
  paging: (settings: string) => void;
}

async function served(answer: (asked: Record<string, string>) => Answer): Promise<Served> {
  const { customers, orders } = company(2, 2);
  const w = await world({ records: { customers, orders, staff: [] } });
  const service = await startService(({ query }) => answer(query));
  const paging = (settings: string): void => {
    w.extra = `  people:
    kind: http
    baseUrl: ${service.origin}
    streams:
      staff:
        url: staff
        records: people
        key: id
        ${settings}
        mapping: ${JSON.stringify(mappingOf("staff"))}
jobs:
  everything: { kind: sync, streams: [customers, orders, staff] }
`;
    w.write();
  };
  return { w, paging };
}

async function expectRun(w: World, exitCode: number, calls: Record<string, number>): Promise<void> {
  const run = await ran(w);
  expect([run.exitCode, run.calls]).toEqual([exitCode, calls]);
}

const everything = { E2: 2, E5: 2, E9: 1, M1: 2, M9: 4 };

it("takes nothing away when a service begins to answer with one page of several", async () => {
  let shown = people.length;
  const { w, paging } = await served(() => ({
    body: { people: people.slice(0, shown), paging: { total: people.length } },
  }));
  paging("");
  await expectRun(w, 0, everything);
  shown = 3;
  for (let read = 0; read < 4; read += 1) await expectRun(w, 7, {});
  expect((await w.run("run", "everything")).stderr).toContain("paging");
  shown = people.length;
  await expectRun(w, 0, {});
});

it("takes nothing away when the cursor of a list is looked for in the wrong place", { tags: "long" }, async () => {
  const { w, paging } = await served(({ after }) => {
    const [from, next] = after === "k2" ? [2, null] : [0, "k2"];
    return { body: { people: people.slice(from, from + 2), paging: { cursor: { next } } } };
  });
  const cursor = (next: string): void => paging(`paging: { kind: cursor, parameter: after, next: ${next} }`);
  cursor("paging.cursor.next");
  await expectRun(w, 0, everything);
  cursor("paging.next");
  for (let read = 0; read < 3; read += 1) await expectRun(w, 7, {});
  expect((await w.run("plan")).exitCode).toBe(7);
  cursor("paging.cursor.next");
  await expectRun(w, 0, {});
});

it("takes a total that is too small for no end of the list: all rows are taken, and nothing is taken away", async () => {
  let total = 2;
  const { w, paging } = await served(({ page }) => {
    const from = (Number(page) - 1) * 2;
    return { body: { people: people.slice(from, from + 2), total } };
  });
  paging("paging: { kind: page, size: 2 }\n        total: total");
  await expectRun(w, 7, everything);
  expect((await w.run("run", "everything")).stderr).toContain("says that it has 2 records, but gave 4");
  total = 4;
  await expectRun(w, 0, {});
});

it("takes no page for the last one because the service gives fewer records than it is asked for", async () => {
  const { w, paging } = await served(({ page }) => {
    const from = (Number(page) - 1) * 2;
    return { body: { people: people.slice(from, from + 2) } };
  });
  paging("paging: { kind: page, sizeParameter: size, size: 3, lastPage: short }");
  await expectRun(w, 0, everything);
  await expectRun(w, 0, {});
});
