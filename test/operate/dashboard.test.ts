import { copyFileSync, renameSync } from "node:fs";
import { expect, it } from "vitest";
import { runsOf } from "../support/asking.ts";
import { world, type World } from "../support/cli.ts";
import { showing } from "../support/showing.ts";
import { company } from "../support/world/crm.ts";

async function ran(): Promise<World> {
  const w = await world({ records: company(1, 1) });
  await w.run("run", "everything");
  return w;
}

it("the pages read the ledger that lies there now, also where another file was put in its place", async () => {
  const w = await ran();
  copyFileSync(w.path("ledger.db"), w.path("backup"));
  await w.run("run", "everything");
  const pages = await showing(w);
  const listed = async (): Promise<string[]> =>
    [...(await pages.get("/runs")).text.matchAll(/href="\/run\/(run_\w+)"/gu)].map(([, id = ""]) => id);
  expect(await listed()).toHaveLength(2);
  renameSync(w.path("backup"), w.path("ledger.db"));
  expect(await listed()).toEqual((await runsOf(w)).map(({ id }) => id));
  expect(await listed()).toHaveLength(1);
});

it("where the configuration says so, there are no pages", { tags: "long" }, async () => {
  const w = await ran();
  w.extra = "serve: { pages: false }\n";
  w.write();
  expect((await (await showing(w)).get("/today")).status).toBe(404);
});

it("what one page shows is of one state of the ledger, whatever is written while it is read", async () => {
  const w = await ran();
  const { dashboard } = await showing(w);
  const [before, after] = await dashboard.read(async (inquiry) => {
    const one = await inquiry.runs({ limit: 9 });
    await w.run("run", "everything");
    return [one, await inquiry.runs({ limit: 9 })];
  });
  expect(before).toHaveLength(1);
  expect(after).toEqual(before);
  expect(await dashboard.read(async (inquiry) => await inquiry.runs({ limit: 9 }))).toHaveLength(2);
});

it("pages that follow each other leave a turn to what else asks, such as whether the program is alive", async () => {
  const { dashboard } = await showing(await ran());
  const read = { count: 0 };
  const reads = Array.from({ length: 20 }, async () => {
    await dashboard.read(async (inquiry) => await inquiry.runs({ limit: 9 }));
    read.count += 1;
  });
  const turns: number[] = [];
  while (read.count < 20) {
    await new Promise((done) => setImmediate(done));
    turns.push(read.count);
  }
  await Promise.all(reads);
  expect(turns.filter((count) => count > 0 && count < 20).length).toBeGreaterThan(10);
});

it("of one person ten pages are made at once; the next is refused, and other people get theirs", async () => {
  const pages = await showing(await ran());
  const [anna, ben] = [pages.as("anna"), pages.as("ben")];
  const goesOn = Promise.withResolvers<void>();
  const blocked = pages.dashboard.read(async () => await goesOn.promise);
  const ofAnna = Array.from({ length: 30 }, () => anna.get("/today"));
  const refused: number[] = [];
  for (const one of ofAnna) void one.then(({ status }) => refused.push(status));
  await expect.poll(() => refused).toEqual(Array.from({ length: 20 }, () => 429));
  const ofBen = ben.get("/today");
  goesOn.resolve();
  await blocked;
  expect((await ofBen).status).toBe(200);
  const statuses = (await Promise.all(ofAnna)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(10);
  expect((await anna.get("/today")).status).toBe(200);
});

it("a job that did not fire when it should have is named", async () => {
  const w = await world();
  w.extra = "jobs:\n  everything: { kind: sync, streams: [staff], schedule: '0 * * * *' }\n";
  w.write();
  await w.run("status");
  const { dashboard } = await showing(w);
  const late = (lastSlot: string | null) => dashboard.notFired([{ job: "everything", lastSlot }]);
  expect(late("2026-10-30T08:00:00.000Z")).toEqual([{ job: "everything", since: "2026-10-30T09:00:00.000Z" }]);
  for (const slot of ["2026-11-02T08:00:00.000Z", null]) expect(late(slot)).toEqual([]);
});
