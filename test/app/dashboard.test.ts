import { copyFileSync, renameSync } from "node:fs";
import { expect, it } from "vitest";
import { world } from "../support/cli.ts";
import { operator, showing } from "../support/showing.ts";
import { company } from "../support/world/crm.ts";

it(
  "the pages read the ledger that lies there now, also where another file was put in its place",
  { tags: "long" },
  async () => {
    const w = await world({ records: company(2, 1) });
    await w.run("run", "everything");
    const path = w.path("ledger.db");
    copyFileSync(path, w.path("backup"));
    await w.run("run", "everything");
    const pages = await showing(w, operator, "beside a daemon");
    const listed = async (): Promise<string[]> =>
      [...new Set((await pages.get("/runs")).text.match(/\/run\/run_\w+/gu))].sort();
    const links = (): string[] =>
      w.rows<{ id: string }>("select id from run order by id").map(({ id }) => `/run/${id}`);
    expect(await listed()).toEqual(links());
    expect(links()).toHaveLength(2);
    await pages.get("/alerts");
    renameSync(w.path("backup"), path);
    expect(links()).toHaveLength(1);
    expect(await listed()).toEqual(links());
    w.tamper(`insert into alert (key, since, body) values ('of-the-backup', '2026-01-01T00:00:00.000Z', '{}')`);
    expect((await pages.get("/alerts")).text).toContain("of-the-backup");
  },
);

it("beside a daemon that shows none itself there are pages, of the machine itself alone", async () => {
  const w = await world({ records: company(1, 1) });
  await w.run("run", "everything");
  w.extra = "serve: { pages: false }\n";
  w.write();
  expect((await (await showing(w, operator, "beside a daemon")).get("/today")).status).toBe(200);
  expect((await (await showing(w)).get("/today")).status).toBe(404);
});

it("what one page shows is of one state of the ledger, whatever is written while it is read", async () => {
  const w = await world({ records: company(2, 1) });
  await w.run("run", "everything");
  const pages = await showing(w, operator, "beside a daemon");
  const [before, after] = await pages.dashboard.read(async (inquiry) => {
    const one = await inquiry.runs({ limit: 9 });
    w.tamper("update run set job = 'another'");
    return [one, await inquiry.runs({ limit: 9 })];
  });
  expect(before).toHaveLength(1);
  expect(after).toEqual(before);
  const [now] = await pages.dashboard.read(async (inquiry) => await inquiry.runs({ limit: 9 }));
  expect(now?.job).toBe("another");
});
