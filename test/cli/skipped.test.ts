import { readFileSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { parse, stringify } from "yaml";
import type { Json } from "../../src/base/canonical-json.ts";
import { lines } from "../support/world/crm-files.ts";
import { company, staffRow } from "../support/world/crm.ts";
import { document, world } from "../support/cli.ts";
import type { Parsed, World } from "../support/cli.ts";

/** Two customers with two people each, whose readings believe at the second time that something is gone. */
async function twoCustomers(): Promise<World> {
  const w = await world({ records: company(2, 2) });
  w.environment["CRM_SYNC__limits__absenceReads"] = "2";
  w.environment["CRM_SYNC__limits__absenceTime"] = "0s";
  const first = await w.does("run", "everything");
  expect(first.exitCode, first.stdout + first.stderr).toBe(0);
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

function person(w: World, id: string): World["staff"][number] {
  const found = w.staff.find((one) => one.id === id);
  if (found === undefined) throw new Error(`no ${id}`);
  return found;
}

async function ran(w: World): Promise<Parsed> {
  const ended = await w.does("run", "everything", "--json");
  return { ...ended, said: document(ended) };
}

/** The run ended so, and nothing was sent. */
function expectQuiet(run: Parsed, exitCode = 0): void {
  expect({ exitCode: run.exitCode, calls: run.calls }, run.stdout + run.stderr).toEqual({ exitCode, calls: {} });
}

const staffOf = (run: Parsed): Parsed => run.said.balance.streams.find((row: Parsed) => row.stream === "staff");

it(
  "a person whose row is skipped stays as they were, however often it is read, while one who is gone goes",
  { tags: "long" },
  async () => {
    const w = await twoCustomers();
    Object.assign(person(w, "S1-1"), { note: "draft", holds: [] });
    w.staff = w.staff.filter(({ id }) => id !== "S2-2");
    write(w, { staff: { path: "note", equals: "draft" } });
    const skipped = { extracted: 3, skipped: 1, quarantined: 0, adds: true };

    const second = await ran(w);
    expectQuiet(second);
    expect(staffOf(second)).toMatchObject({ ...skipped, unchanged: 2 });
    expect(second.said.summary.sources).toMatchObject([
      { skipped: 0 },
      { skipped: 0 },
      { stream: "staff", skipped: 1, absent: 0 },
    ]);
    const third = await ran(w);
    expect(third.calls, "who is gone for the second time").toMatchObject({ M9: 1 });
    expect(staffOf(third)).toMatchObject(skipped);
    expectQuiet(await ran(w));
    expect(w.sandbox.state().assignments).toBe(3);
    expect(w.rows("select id, state, missed from record where stream = 'staff' order by id")).toEqual([
      { id: "S1-1", state: "current", missed: 0 },
      { id: "S1-2", state: "current", missed: 0 },
      { id: "S2-1", state: "current", missed: 0 },
      { id: "S2-2", state: "absent", missed: 2 },
    ]);

    const explained = (await w.run("explain", "staff", "S1-1")).stdout;
    expect(explained).toContain(
      "the last reading of hr/staff left 1 record out by its skip, maybe this one, and what is left out stays as it was last",
    );
    expect(explained).toContain("crm-sync map hr staff --record S1-1");
    expect((await w.run("explain", "order", w.orders[0]?.id ?? "")).stdout).not.toContain("skip");
    expect((await w.run("explain", "staff", "S9-9")).stdout).toContain(
      "left 1 record out by its skip, maybe this one\n",
    );

    write(w, {});
    const meant = await ran(w);
    expect(meant.calls, "what is no longer skipped is a change like any other").toMatchObject({ M9: 1 });
    expect(staffOf(meant)).toMatchObject({ skipped: 0, adds: true });
    expect(w.sandbox.state().assignments).toBe(2);
  },
);

it(
  "a person who was missed and is skipped then is not missed any more: the count begins anew",
  { tags: "long" },
  async () => {
    const w = await twoCustomers();
    const all = w.staff;
    const without = all.filter(({ id }) => id !== "S1-1");
    const skip = { staff: { path: "note", equals: "draft" } };
    w.staff = without;
    write(w, skip);
    expectQuiet(await ran(w));
    w.staff = all;
    Object.assign(person(w, "S1-1"), { note: "draft" });
    write(w, skip);
    expectQuiet(await ran(w));
    expect(w.rows("select missed from record where id = 'S1-1'")).toEqual([{ missed: 0 }]);
    w.staff = without;
    write(w, skip);
    expectQuiet(await ran(w));
    expect((await ran(w)).calls).toMatchObject({ M9: 1 });
  },
);

it(
  "an order that is skipped is not one that is cancelled, and a new one that is skipped is not placed",
  { tags: "long" },
  async () => {
    const w = await twoCustomers();
    const [first] = w.orders;
    if (first !== undefined) first.cancelled = true;
    w.orders.push({ id: "O3", customer: "C2", assets: ["O3-A1"], cancelled: true });
    write(w, {
      orders: {
        any: [
          { path: "cancelled", equals: true },
          { path: "id", matches: "^X" },
        ],
      },
    });
    for (let run = 2; run <= 4; run += 1) {
      const ended = await ran(w);
      expectQuiet(ended);
      expect(ended.said.balance.streams.find((row: Parsed) => row.stream === "orders")).toMatchObject({
        extracted: 3,
        skipped: 2,
        unchanged: 1,
      });
    }
    expect(w.rows("select id from record where stream = 'orders' order by id")).toEqual([{ id: "O1" }, { id: "O2" }]);
    write(w, {});
    const cancelled = await ran(w);
    expect(cancelled.exitCode, "without `skip` it is cancelled, and what that takes away waits for a person").toBe(4);
    expect(cancelled.said.summary.held).toMatchObject([{ customer: "crm/C1" }]);
  },
);

it(
  "while a skipped row may be any record, nothing counts as gone; a row that names none is no record",
  { tags: "long" },
  async () => {
    const w = await twoCustomers();
    w.staff = w.staff.filter(({ id }) => id !== "S2-2");
    const odd = { ...person(w, "S1-1"), id: "9".repeat(300), note: "draft" };
    const kept = w.staff;
    w.staff = [...kept, odd];
    write(w, { staff: { path: "note", equals: "draft" } });
    for (let run = 2; run <= 4; run += 1) expectQuiet(await ran(w));
    const [last] = w.rows<{ absence: string }>(
      "select absence from source_read where stream = 'staff' order by number desc limit 1",
    );
    expect(last?.absence).toMatch(/1 skipped row has an id that cannot be read/u);
    w.staff = kept;
    write(w, { staff: { path: "id", present: false } });
    const rows = [...kept.map(staffRow), { id: "", note: "Total: 3" }];
    writeFileSync(w.path("data/staff.ndjson"), lines(rows));
    expectQuiet(await ran(w));
    const gone = await ran(w);
    expect(gone.calls).toMatchObject({ M9: 1 });
    expect(staffOf(gone)).toMatchObject({ extracted: 4, skipped: 1, adds: true });
  },
);

it(
  "a bad form that waits in quarantine waits no more when its record is skipped, and the record goes on as it was",
  { tags: "long" },
  async () => {
    const w = await twoCustomers();
    const skip = { staff: { path: "note", matches: "(?i)^draft" } };
    const bad = person(w, "S1-1");
    const { name } = bad;
    bad.name = "";
    write(w, skip);
    expectQuiet(await ran(w), 3);
    bad.note = "Draft 2";
    write(w, skip);
    const good = await ran(w);
    expectQuiet(good);
    expect(staffOf(good)).toMatchObject({ skipped: 1, quarantined: 0, adds: true });
    expect(w.rows("select state, resolution from quarantine")).toEqual([
      { state: "resolved", resolution: "the record is skipped now" },
    ]);
    expect(w.rows("select state from record where id = 'S1-1'")).toEqual([{ state: "current" }]);
    Object.assign(bad, { name, note: null });
    write(w, skip);
    expectQuiet(await ran(w));
  },
);

it("a row of the quarantine that is mapped again and is skipped by now is told so", { tags: "long" }, async () => {
  const w = await twoCustomers();
  const bad = person(w, "S1-1");
  Object.assign(bad, { name: "", note: "draft" });
  w.write();
  expect(await ran(w)).toMatchObject({ exitCode: 3 });
  write(w, { staff: { path: "note", equals: "draft" } });
  const retried = await w.run("quarantine", "retry", "all");
  expect(retried.stdout).toMatch(/its stream skips it now/u);
  expectQuiet(await ran(w));
});

it(
  "of two rows of one id the one that is skipped counts for nothing, whichever comes first",
  { tags: "long" },
  async () => {
    const w = await twoCustomers();
    const old = { ...person(w, "S1-1"), note: "old" };
    const changed = { ...person(w, "S1-1"), holds: [] };
    const others = w.staff.filter(({ id }) => id !== "S1-1");
    w.staff = [old, changed, ...others];
    write(w, { staff: { path: "note", equals: "old" } });
    const first = await ran(w);
    expect(first).toMatchObject({ exitCode: 0, calls: { M9: 1 } });
    expect(staffOf(first)).toMatchObject({ extracted: 5, skipped: 1, quarantined: 0, adds: true });
    const back = { ...old, note: null };
    w.staff = [back, ...others, old];
    write(w, { staff: { path: "note", equals: "old" } });
    expect(await ran(w)).toMatchObject({ exitCode: 0, sent: 1 });
  },
);

it("where it cannot be told whether a record is skipped, it goes into quarantine with the place of the condition", async () => {
  const w = await twoCustomers();
  Object.assign(person(w, "S1-1"), { note: "many" });
  write(w, { staff: { path: "note", above: 3 } });
  expectQuiet(await ran(w), 3);
  expect(w.rows("select field, code, record_id from quarantine")).toEqual([
    { field: "skip", code: "not-a-number", record_id: "S1-1" },
  ]);
});

it("a run shows what it skipped on its screen, in its report and to programs", { tags: "long" }, async () => {
  const w = await twoCustomers();
  Object.assign(person(w, "S1-1"), { note: "draft" });
  write(w, { staff: { path: "note", equals: "draft" } });
  const screen = await w.run("run", "everything");
  expect(screen.stdout).toMatch(/records.*carried in.*quarantined.*deferred.*rejected.*skipped/u);
  expect(screen.stdout).toMatch(/staff +4 .* 1 +adds up/u);
  const period = new Date().toISOString().slice(0, 7);
  const report = await w.run("report", "run", "--period", period, "--format", "json", "--out", w.path("runs.json"));
  expect(report.exitCode, report.stdout + report.stderr).toBe(0);
  expect(readFileSync(w.path("runs.json"), "utf8")).toMatch(/"skipped": ?"?1\b/u);
});
