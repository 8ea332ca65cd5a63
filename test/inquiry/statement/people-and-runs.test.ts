import { readFileSync, writeFileSync } from "node:fs";
import { expect, it, onTestFinished } from "vitest";
import { openApplication } from "../../../src/app/application.ts";
import { executeJob } from "../../../src/app/execute-job.ts";
import { jobNamed } from "../../../src/operate/job.ts";
import { standAsOf } from "../../../src/inquiry/as-of/as-of.ts";
import { ReadOnlyLedger } from "../../../src/inquiry/read-only-ledger.ts";
import { statementHeader, statements, type StatementKind } from "../../../src/inquiry/statement/statement.ts";
import { openReadOnly } from "../../../src/ledger/database/database.ts";
import { parsePeriod } from "../../../src/report/statement/period.ts";
import { streamBalances } from "../../../src/inquiry/statement/run.ts";
import type { Filters, Row, StatementRequest } from "../../../src/report/statement/shape.ts";
import { company } from "../../support/world/crm.ts";
import { auditEntries, operationsOf, unsettled } from "../../support/asking.ts";
import { environmentAt } from "../../support/program.ts";
import { world, type World } from "../../support/cli.ts";
import { rowsOf as statedRows } from "./stated.ts";

const wholeTime = { label: "all", zone: "UTC", from: "2000-01-01T00:00:00.000Z", to: "2100-01-01T00:00:00.000Z" };

const asked = (filters: Filters = {}, fields: Partial<StatementRequest> = {}): StatementRequest => ({
  period: wholeTime,
  by: "happened",
  filters,
  ...fields,
});

function connection(w: World): ReadOnlyLedger {
  const path = w.path("ledger.db");
  const ledger = new ReadOnlyLedger(path, openReadOnly(path));
  onTestFinished(() => ledger.close());
  return ledger;
}

/** The rows of a statement by part. */
async function rowsOf(w: World, kind: StatementKind, request = asked()): Promise<Map<string, Row[]>> {
  const ledger = connection(w);
  if (request.asOf !== undefined) standAsOf(ledger, request.asOf);
  return new Map(Object.entries(await statedRows(ledger, kind, request)));
}

/** Runs everything, as the daemon does at a fire time. */
async function bySchedule(w: World): Promise<number> {
  w.later(1);
  const face = { log: () => ({ write: () => {} }), progress: () => {}, clock: w.clock };
  const application = await openApplication(
    { config: w.path("crm-sync.yaml"), sandbox: w.sandbox.url },
    environmentAt(w.place),
    face,
  );
  onTestFinished(() => application.close());
  const fireTime = "2026-11-02T09:00:00.000Z";
  await (await application.ledger()).schedule.claim("everything", fireTime);
  const job = jobNamed(application.jobs(), "everything");
  return await executeJob(application, job, { trigger: "schedule", fireTime, signal: new AbortController().signal });
}

/** Two customers: an order in doubt is settled, what is held is approved or rejected, a hand and a schedule run. */
async function decided(): Promise<{ w: World; before: string }> {
  const w = await world({ records: company(3, 2) });
  w.extra = "orders: { unseen: ask }\npolicies: { assignments: { revoked: ask } }\n";
  w.write();
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  w.orders.push({ id: "O4", customer: "C1", assets: ["O4-A1"] });
  w.orders.push({ id: "O5", customer: "C2", assets: ["O5-A1"], products: [{ id: "X", parent: "O5-A1", nodes: -1 }] });
  w.write();
  w.sandbox.faults.add({ operation: "E5", fault: "resetBefore" });
  expect((await w.run("run", "everything")).exitCode).toBe(5);
  w.sandbox.faults.clear();
  const [open] = await unsettled(w);
  const before = new Date(w.clock.now()).toISOString();
  expect((await w.run("settle", open.id, "--not-applied", "--reason", "not there", "--by", "anna")).exitCode).toBe(0);
  for (const person of w.staff) if (["S1-1", "S3-1"].includes(person.id)) person.holds = [];
  w.write();
  expect(await bySchedule(w)).toBe(4);
  const held = [];
  for (const id of ["S1-1", "S3-1"]) held.push((await operationsOf(w, "staff", id))[0]);
  expect((await w.run("approve", held[0].id, "--reason", "asked for", "--by", "anna")).exitCode).toBe(0);
  expect((await w.run("reject", held[1].questionId, "--reason", "a mistake", "--by", "boris")).exitCode).toBe(0);
  return { w, before };
}

it(
  "the statement of runs adds up each balance by itself, as the runs of the ledger kept it",
  { tags: "long" },
  async () => {
    const { w } = await decided();
    const parts = await rowsOf(w, "run");
    const runs = parts.get("run") ?? [];
    expect(runs.map(({ job, state, exit_code: exit, balances }) => [job, state, exit, balances])).toEqual([
      ["everything", "done", 0, true],
      ["everything", "done", 5, true],
      ["everything", "done", 4, true],
    ]);
    // Once more from the journal: each operation belongs to the run that sent it or left it.
    const [first, second, third] = runs;
    const counted = (run: Row | undefined, states: string): unknown =>
      w.rows<{ n: number }>(
        `select count(*) as n from operation where run_id = ? and state in (${states})`,
        run?.["run"],
      )[0]?.n;
    expect(first?.["done"]).toBe(counted(first, "'done'"));
    expect(second?.["unknown"]).toBe(1);
    // What a person rejected since is given up.
    expect(third?.["held"]).toBe(counted(third, "'held', 'dropped'"));
    const streams = parts.get("stream") ?? [];
    expect(streams).toHaveLength(9);
    expect(streams.every(({ balances }) => balances === true)).toBe(true);
    const orders = streams.filter(({ stream }) => stream === "orders");
    expect(orders.map(({ extracted, worked_on, quarantined }) => [extracted, worked_on, quarantined])).toEqual([
      [3, 3, 0],
      [5, 0, 1],
      [5, expect.any(Number), expect.any(Number)],
    ]);
    const reads = parts.get("read") ?? [];
    expect(reads).toHaveLength(9);
    expect(new Set(reads.map(({ source }) => source))).toEqual(new Set(["crm", "hr"]));
    const hr = await rowsOf(w, "run", asked({ source: "hr" }));
    expect(hr.get("read")).toHaveLength(3);
    expect((await rowsOf(w, "run", asked({ source: "none" }))).get("run")).toEqual([]);
    expect(runs[0]?.["sources"]).toEqual(["crm", "hr"]);

    w.tamper(
      `update run set balance = json_set(balance, '$.streams[0].workedOn', 77) where id = '${String(first?.["run"])}'`,
    );
    const changed = await rowsOf(w, "run");
    expect((changed.get("run") ?? []).map(({ balances }) => balances)).toEqual([false, true, true]);
    expect((changed.get("stream") ?? []).filter(({ balances }) => balances !== true)).toHaveLength(1);
  },
);

it(
  "the statement of runs says for each reading how many records its stream left out, where the run kept it",
  { tags: "long" },
  async () => {
    const w = await world({ records: company(3, 1) });
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    const settings = readFileSync(w.path("crm-sync.yaml"), "utf8");
    const leavesOut = (stream: string, ...ids: string[]): void => {
      const place = new RegExp(`^( +)${stream}:\n`, "mu");
      const skip = `skip: { path: id, in: [${ids.join(", ")}] }`;
      expect(settings).toMatch(place);
      writeFileSync(w.path("crm-sync.yaml"), settings.replace(place, `$1${stream}:\n$1  ${skip}\n`));
    };
    leavesOut("customers", "C2", "C3");
    await w.run("run", "everything");
    leavesOut("staff", "S1-1");
    await w.run("run", "everything");
    const read = (await rowsOf(w, "run")).get("read") ?? [];
    expect(read.map(({ stream, skipped }) => [stream, skipped])).toEqual([
      ["customers", 0],
      ["orders", 0],
      ["staff", 0],
      ["customers", 2],
      ["orders", 0],
      ["staff", 0],
      ["customers", 0],
      ["orders", 0],
      ["staff", 1],
    ]);
    const hr = await rowsOf(w, "run", asked({ source: "hr" }));
    expect((hr.get("read") ?? []).map(({ skipped }) => skipped)).toEqual([0, 0, 1]);
  },
);

it("a stream balances where both sides are the same and the run said so", () => {
  const sums = {
    stream: "orders",
    extracted: 5,
    takenUpAgain: 1,
    unchanged: 2,
    workedOn: 1,
    quarantined: 1,
    deferred: 1,
  };
  expect(streamBalances({ ...sums, rejected: 1, skipped: 0, adds: true })).toBe(true);
  expect(streamBalances({ ...sums, rejected: 0, skipped: 1, adds: true })).toBe(true);
  expect(streamBalances({ ...sums, rejected: 0, skipped: 0, adds: true })).toBe(false);
  expect(streamBalances({ ...sums, rejected: 1, skipped: 0, adds: false })).toBe(false);
});

it(
  "the header names the moment, whether the period was over, the head and the program, and refuses unknown filters",
  { tags: "long" },
  async () => {
    const { w, before } = await decided();
    const shape = statements.run.shape;
    const now = await statementHeader(connection(w), shape, asked());
    const last = (await auditEntries(w)).at(-1);
    expect(now).toMatchObject({
      kind: "run",
      version: 4,
      provisional: true,
      auditHead: { sequence: last?.sequence },
      program: expect.stringMatching(/^\d+\.\d+\.\d+/u),
      ledger: expect.stringMatching(/^ledger_/u),
    });
    expect((now.asOf ?? "") >= (last?.at ?? "")).toBe(true);
    const month = parsePeriod("2020-01", "UTC");
    expect((await statementHeader(connection(w), shape, asked({}, { period: month }))).provisional).toBe(false);

    const then = connection(w);
    standAsOf(then, before);
    const old = await statementHeader(then, shape, asked({}, { asOf: before }));
    expect(old.asOf).toBe(before);
    expect(old.auditHead?.sequence).toBeLessThan(last?.sequence ?? 0);
    const entry = (await auditEntries(w)).find(({ sequence }) => sequence === old.auditHead?.sequence);
    expect(old.auditHead?.hash).toBe(entry.hash);
    await expect(statementHeader(then, shape, asked()), "a header of now").rejects.toThrow(/reads as of/u);

    const known: Filters = { source: "crm", customer: "crm/C2", branch: "B1", product: "PID-1" };
    expect((await statementHeader(connection(w), shape, asked(known))).filters).toEqual(known);
    for (const [filters, message, cure] of [
      [{ source: "crn" }, 'no source "crn"', "crm, hr"],
      [{ customer: "crm/C22" }, 'no customer "crm/C22"', "crm/C2, crm/C1, crm/C3"],
      [{ customer: "other/C2" }, 'no customer "other/C2"', "crm/C2"],
      [{ branch: "B" }, 'no branch "B"', "B1?"],
      [{ product: "PID-2" }, 'no product "PID-2"', "PID-1"],
    ] as const)
      await expect(statementHeader(connection(w), shape, asked(filters))).rejects.toMatchObject({
        message: expect.stringContaining(message),
        cure: expect.stringContaining(cure),
        exitCode: 64,
      });
  },
);
