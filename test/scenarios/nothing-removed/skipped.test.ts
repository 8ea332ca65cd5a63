import { readFileSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { parse, stringify } from "yaml";
import type { Json } from "../../../src/base/canonical-json.ts";
import { quarantined, ran } from "../../support/asking.ts";
import { document, world, type Parsed, type World } from "../../support/cli.ts";
import { lines } from "../../support/world/crm-files.ts";
import { company, staffRow } from "../../support/world/crm.ts";
import { personOf } from "../../support/world/members.ts";

/** Two customers with two people each; what is missing for the second time counts as gone. */
async function twoCustomers(): Promise<World> {
  const w = await world({ records: company(2, 2) });
  w.environment["CRM_SYNC__limits__absenceReads"] = "2";
  w.environment["CRM_SYNC__limits__absenceTime"] = "0s";
  expect((await ran(w)).exitCode).toBe(0);
  return w;
}

/** Writes the files anew, and what their streams skip. */
function write(w: World, skips: { orders?: Json; staff?: Json }): void {
  w.write();
  const configuration = parse(readFileSync(w.path("crm-sync.yaml"), "utf8"));
  if (skips.orders !== undefined) configuration.sources.crm.streams.orders.skip = skips.orders;
  if (skips.staff !== undefined) configuration.sources.hr.streams.staff.skip = skips.staff;
  writeFileSync(w.path("crm-sync.yaml"), stringify(configuration));
}

const drafts = { staff: { path: "note", equals: "draft" } };

/** A run that sends nothing. */
async function quiet(w: World, exitCode = 0): ReturnType<typeof ran> {
  const run = await ran(w);
  expect([run.exitCode, run.calls], JSON.stringify(run.said)).toEqual([exitCode, {}]);
  return run;
}

const balanceOf = ({ said }: { said: Parsed }, stream = "staff"): Parsed =>
  said.balance.streams.find((row: Parsed) => row.stream === stream);

const recordOf = async (w: World, id: string): Promise<Parsed> => (await w.ask("explain", "staff", id)).record;

it("leaves a person whose row is skipped as they were, and takes from one who is gone", async () => {
  const w = await twoCustomers();
  Object.assign(personOf(w, "S1-1"), { note: "draft", holds: [] });
  w.staff = w.staff.filter(({ id }) => id !== "S2-2");
  write(w, drafts);
  const skipped = { extracted: 3, skipped: 1, quarantined: 0, adds: true };
  expect(balanceOf(await quiet(w))).toMatchObject({ ...skipped, unchanged: 2 });
  const gone = await ran(w);
  expect([gone.calls, balanceOf(gone)]).toMatchObject([{ M9: 1 }, skipped]);
  expect(await recordOf(w, "S1-1")).toMatchObject({ state: "current", missed: 0 });
  expect(await recordOf(w, "S2-2")).toMatchObject({ state: "absent", missed: 2 });
  await quiet(w);
  // A person asks why nothing happens.
  expect((await w.run("explain", "staff", "S1-1")).stdout).toContain("crm-sync map hr staff --record S1-1");
  write(w, {});
  expect((await ran(w)).calls, "what is no longer skipped is a change like any other").toMatchObject({ M9: 1 });
});

it("counts a person who was missed and is skipped then as seen", { tags: "long" }, async () => {
  const w = await twoCustomers();
  const all = w.staff;
  const without = all.filter(({ id }) => id !== "S1-1");
  Object.assign(personOf(w, "S1-1"), { note: "draft" });
  for (const staff of [without, all, without]) {
    w.staff = staff;
    write(w, drafts);
    await quiet(w);
  }
  expect((await ran(w)).calls).toEqual({ M9: 1 });
});

it("does not cancel an order that is skipped, and does not place a new one", { tags: "long" }, async () => {
  const w = await twoCustomers();
  for (const order of w.orders.slice(0, 1)) order.cancelled = true;
  w.orders.push({ id: "O3", customer: "C2", assets: ["O3-A1"], cancelled: true });
  const cancelled = { path: "cancelled", equals: true };
  write(w, { orders: { any: [cancelled, { path: "id", matches: "^X" }] } });
  for (let run = 2; run <= 4; run += 1)
    expect(balanceOf(await quiet(w), "orders")).toMatchObject({ extracted: 3, skipped: 2, unchanged: 1 });
  expect((await w.ask("explain", "order", "O1")).record).toMatchObject({ state: "current" });
  expect((await w.run("explain", "order", "O3")).exitCode).toBe(64);
  write(w, {});
  const held = await ran(w);
  expect([held.exitCode, held.said.summary.held]).toMatchObject([4, [{ customer: "crm/C1" }]]);
});

it("takes nobody for gone while a skipped row may be anybody's", { tags: "long" }, async () => {
  const w = await twoCustomers();
  const kept = w.staff.filter(({ id }) => id !== "S2-2");
  w.staff = [...kept, { ...personOf(w, "S1-1"), id: "9".repeat(300), note: "draft" }];
  write(w, drafts);
  for (let run = 2; run <= 4; run += 1) await quiet(w);
  const { absence } = await w.ask("status");
  expect(absence.find(({ stream }: Parsed) => stream === "staff")).toMatchObject({ judged: false });
  // A row without an id is no record.
  w.staff = kept;
  write(w, { staff: { path: "id", present: false } });
  writeFileSync(w.path("data/staff.ndjson"), lines([...kept.map(staffRow), { id: "", note: "Total: 3" }]));
  await quiet(w);
  const gone = await ran(w);
  expect([gone.calls, balanceOf(gone)]).toMatchObject([{ M9: 1 }, { extracted: 4, skipped: 1, adds: true }]);
});

it("ends the quarantine of a record that is skipped now", { tags: "long" }, async () => {
  const w = await twoCustomers();
  const bad = personOf(w, "S1-1");
  const { name } = bad;
  Object.assign(bad, { name: "", note: "draft" });
  w.write();
  await quiet(w, 3);
  write(w, drafts);
  const retried = document(await w.run("--json", "quarantine", "retry", "all"));
  expect(retried).toMatchObject({ results: [{ kind: "skipped" }] });
  expect(balanceOf(await quiet(w))).toMatchObject({ skipped: 1, quarantined: 0, adds: true });
  expect(await quarantined(w)).toEqual([]);
  expect(await recordOf(w, "S1-1")).toMatchObject({ state: "current" });
  Object.assign(bad, { name, note: null });
  write(w, drafts);
  await quiet(w);
});

it("does not count the skipped one of two rows of one id, whichever comes first", { tags: "long" }, async () => {
  const w = await twoCustomers();
  const old = { ...personOf(w, "S1-1"), note: "draft" };
  const others = w.staff.filter(({ id }) => id !== "S1-1");
  w.staff = [old, { ...old, note: null, holds: [] }, ...others];
  write(w, drafts);
  const first = await ran(w);
  expect([first.exitCode, first.calls]).toEqual([0, { M9: 1 }]);
  expect(balanceOf(first)).toMatchObject({ extracted: 5, skipped: 1, quarantined: 0, adds: true });
  w.staff = [{ ...old, note: null }, ...others, old];
  write(w, drafts);
  const back = await ran(w);
  expect([back.exitCode, back.calls]).toEqual([0, { M9: 1 }]);
});

it("puts a record into quarantine if the condition cannot be answered", { tags: "long" }, async () => {
  const w = await twoCustomers();
  Object.assign(personOf(w, "S1-1"), { note: "many" });
  write(w, { staff: { path: "note", above: 3 } });
  await quiet(w, 3);
  expect(await quarantined(w)).toMatchObject([{ field: "skip", code: "not-a-number" }]);
});
