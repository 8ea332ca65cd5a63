import { expect, it } from "vitest";
import { statusText } from "../../src/report/status-text.ts";
import type { StatusFacts } from "../../src/report/status.ts";
import { stateSentence, waitingOf } from "../../src/report/today.ts";
import { world } from "../support/cli.ts";
import { operationsOf } from "../support/asking.ts";

const now = "2026-11-02T09:00:00.000Z";

it("the sentence on how all is is good only where nothing of what is known says otherwise", async () => {
  const w = await world();
  await w.run("run", "everything");
  const status: StatusFacts = await w.ask("status");
  const run = status.lastRuns[0];
  if (run === undefined) throw new Error("a run was expected");
  const [operation] = await operationsOf(w, "order", "O1");
  const toneOf = (more: Partial<StatusFacts>, others: object = {}): string =>
    stateSentence({ status: { ...status, ...more }, assumptions: [], jobs: [], notFired: [], ...others }, now).tone;
  expect(toneOf({})).toBe("good");
  expect(toneOf({ running: [{ ...run, state: "running", finishedAt: null, exitCode: null }] })).toBe("on");
  expect(toneOf({ lastRuns: [] })).toBe("wait");
  const tones = [
    toneOf({ lastRuns: [{ ...run, state: "interrupted", exitCode: null }] }),
    toneOf({ lastRuns: [{ ...run, exitCode: 6 }] }),
    toneOf({ lastRuns: [{ ...run, exitCode: 7 }] }),
    toneOf({ openCircuits: [{ service: "order-service", since: now, reason: "503", probeAt: now }] }),
    toneOf({ openOperations: [{ ...operation, state: "unknown" }] }),
    toneOf({ differences: [{ class: "missing", count: 1, since: now }] as unknown as StatusFacts["differences"] }),
    toneOf({}, { notFired: [{ job: "staff", since: now }] }),
  ];
  for (const [at, tone] of tones.entries()) expect(["wait", "bad"], String(at)).toContain(tone);
});

it("operations that need a person come first, however many others are older than they are", async () => {
  const w = await world();
  await w.run("run", "everything");
  const status: StatusFacts = await w.ask("status");
  const [operation] = await operationsOf(w, "order", "O1");
  const openOperations = Array.from({ length: 20 }, () => ({ ...operation, state: "unknown" }));
  const operations = [
    { state: "unknown", count: 25 },
    { state: "parked", count: 3 },
  ];
  const facts = { status: { ...status, operations, openOperations }, assumptions: [], jobs: [], notFired: [] };
  const { items } = waitingOf(facts, now, Infinity);
  expect(items[0]).toMatchObject({ what: "3 more operations parked", owner: "operator", cure: "crm-sync settle list" });
  expect(items.filter(({ what }) => what === "5 more operations whose outcome is open")).toHaveLength(1);
  expect(items).toHaveLength(22);
});

it("status names the worst first, has one next step for all that share it, and at most 40 lines", async () => {
  const w = await world();
  await w.run("run", "everything");
  const status: StatusFacts = await w.ask("status");
  const group = (standing: "quarantined" | "deferred", code: string, at: number): StatusFacts["open"][number] => {
    const since = new Date(Date.parse(now) - (at + 1) * 60_000).toISOString();
    const examples = [{ record: `crm/O${at}`, reason: `reason ${at}`, since }];
    return {
      standing,
      stream: "orders",
      code,
      cause: code,
      owner: "crm",
      counts: true,
      nextRun: false,
      count: 1,
      since,
      examples,
    };
  };
  const waits = Array.from({ length: 30 }, (_, at) => group("deferred", "customer.not-orderable", at + 100));
  const bad = Array.from({ length: 30 }, (_, at) => group("quarantined", "missing", at));
  const facts = { status: { ...status, open: [...waits, ...bad] }, assumptions: [], jobs: [], notFired: [] };
  const lines = statusText(facts, now).trimEnd().split("\n");
  expect(lines).toHaveLength(40);
  expect(lines[0]).toBe("60 open issues, the oldest for 2h.");
  const first = "✗ 1 order is in quarantine (missing): crm/O0 (60s, CRM): reason 0";
  expect(lines.indexOf(first)).toBe(1);
  expect(lines.filter((line) => line === "  → crm-sync quarantine list")).toHaveLength(1);
  expect(lines.slice(-2)).toEqual(["and 25 more", "crm-sync status --all shows everything"]);
  const all = statusText(facts, now, { all: true });
  for (const { examples } of facts.status.open) expect(all).toContain(`${examples[0]?.record} (`);
  expect(all).not.toContain(" more\n");
});
