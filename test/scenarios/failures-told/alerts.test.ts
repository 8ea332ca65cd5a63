import { rmSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { openHolds, ran } from "../../support/asking.ts";
import { world, type World } from "../../support/cli.ts";
import { readScrape, valueOf } from "../../support/exposition.ts";
import { startServer } from "../../support/http-server.ts";
import { serves } from "../../support/serving.ts";
import { health } from "../../support/telling.ts";
import { lines } from "../../support/world/crm-files.ts";
import { company, staffRow } from "../../support/world/crm.ts";
import { amend, line, placedOrders, rule } from "../../support/world/placed-orders.ts";

/** @module-tag long */

interface Receiver {
  url: string;
  /** Each message that it took: its event and kind, or the method where it has none. */
  got: string[];
  /** How often it was called, whatever it answered. */
  calls: number;
  answer: number;
}

/** Somebody who takes messages, as long as they are up. */
async function receiver(): Promise<Receiver> {
  const made: Receiver = { url: "", got: [], calls: 0, answer: 200 };
  made.url = await startServer(({ body, method }, response) => {
    made.calls += 1;
    if (made.answer < 300) made.got.push(method === "POST" && body !== "" ? saidIn(body) : method);
    response.writeHead(made.answer).end();
  });
  return made;
}

function saidIn(body: string): string {
  const { event, kind } = JSON.parse(body);
  return `${event} ${kind}`;
}

/** The row of S1-1 has no name, so that it waits in quarantine; or it has one again. */
function spoil(w: World, isBad: boolean): void {
  const rows = w.staff.map(staffRow).map((row) => (row.id === "S1-1" && isBad ? { ...row, name: undefined } : row));
  writeFileSync(w.path("data/staff.ndjson"), lines(rows));
}

/** A world with two webhooks and with more settings of alerts. */
async function twoChannels(more = "", channelFields = ""): Promise<{ w: World; hook: Receiver; chat: Receiver }> {
  const [hook, chat] = [await receiver(), await receiver()];
  const w = await world({ records: company(2, 1) });
  w.extra = `alerts:
  channels: [{ kind: webhook, url: "${hook.url}" }, { kind: webhook, name: on-call, url: "${chat.url}"${channelFields} }]
${more}`;
  w.write();
  return { w, hook, chat };
}

/** What the channels say of themselves: their names, or those that fail. */
async function failing(w: World): Promise<string[]> {
  const { channels, switches } = await w.ask("alerts");
  return [...channels, ...switches].filter(({ problem }) => problem !== null).map(({ name }) => name);
}

it("a channel that is down loses no alert, repeats none on the other channel, and is itself an alert there", async () => {
  const { w, hook, chat } = await twoChannels();
  spoil(w, true);
  chat.answer = 503;
  const first = await w.run("run", "everything");
  expect(first.exitCode).toBe(3);
  expect([hook.got, chat.got]).toEqual([["started quarantine", "started channel-down"], []]);
  await w.run("run", "everything");
  expect(hook.got).toHaveLength(2);
  expect(await failing(w)).toEqual(["on-call"]);
  expect((await health(w)).wrong).toContain("alerts.not-delivered:on-call");
  const { alerts } = await w.ask("alerts");
  expect(alerts.find(({ kind }: { kind: string }) => kind === "quarantine").channels).toEqual([
    { channel: "log", toldAt: expect.any(String) },
    { channel: "webhook", toldAt: expect.any(String) },
    { channel: "on-call", toldAt: null },
  ]);

  chat.answer = 200;
  await w.run("run", "everything");
  expect([hook.got.slice(2), chat.got]).toEqual([["ended channel-down"], ["started quarantine"]]);
  expect(await failing(w)).toEqual([]);

  spoil(w, false);
  hook.answer = 500;
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  expect(chat.got.slice(1)).toEqual(["ended quarantine", "started channel-down"]);
  expect((await w.ask("alerts")).ending).toEqual([{ key: "quarantine:staff:missing", channel: "webhook" }]);
  hook.answer = 200;
  await w.run("run", "everything");
  expect([hook.got.slice(3), chat.got.slice(3)]).toEqual([["ended quarantine"], ["ended channel-down"]]);
  expect((await w.ask("alerts")).alerts).toEqual([]);
});

it("a channel gets what it is for and nothing else", async () => {
  const { w, hook, chat } = await twoChannels("", ", severity: critical");
  spoil(w, true);
  await w.run("run", "everything");
  expect([hook.got, chat.calls]).toEqual([["started quarantine"], 0]);
  expect((await w.ask("alerts")).alerts[0].channels).toHaveLength(2);
});

it.each([
  ["", 0],
  [", goodExits: [0, 3]", 1],
])(
  "a dead man's switch is called after each good run and nothing else (settings: %j)",
  async (fields, afterWaiting) => {
    const called = await receiver();
    const { w } = await twoChannels(`  deadMansSwitches: [{ name: ping, url: env:PING_URL${fields} }]\n`);
    w.environment["PING_URL"] = called.url;
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    expect((await w.run("run", "verify")).exitCode).toBe(0);
    expect(called.got).toEqual(["GET", "GET"]);
    for (const words of [["plan"], ["status"], ["alerts"], ["alerts", "test"], ["resync", "--customer", "C1"]])
      expect((await w.run(...words)).exitCode).toBe(0);
    expect(called.calls, "none of these is a run of a job").toBe(2);
    spoil(w, true);
    expect((await w.run("run", "everything")).exitCode).toBe(3);
    expect(called.calls, "a row waits in quarantine").toBe(2 + afterWaiting);
    spoil(w, false);
    w.sandbox.faults.add({ operation: "M5", fault: "http502" });
    expect((await w.run("run", "verify")).exitCode).toBe(7);
    expect(called.calls, "a service is down").toBe(2 + afterWaiting);
  },
);

it("a dead man's switch that cannot be called is an alert and is called after the next good run of its jobs", async () => {
  const called = await receiver();
  const { w, hook, chat } = await twoChannels(
    "  deadMansSwitches: [{ name: ping, url: env:PING_URL, jobs: [everything] }]\n",
  );
  w.extra += "jobs: { everything: { kind: sync, streams: [customers, orders, staff] } }\n";
  w.write();
  w.environment["PING_URL"] = `${called.url}/ping-secret?key=ping-secret`;
  called.answer = 500;
  const run = await w.run("run", "everything");
  expect(run.exitCode).toBe(0);
  expect([hook.got, chat.got]).toEqual([["started switch-not-called"], ["started switch-not-called"]]);
  expect(await failing(w)).toEqual(["ping"]);
  expect((await health(w)).wrong).toContain("switch.not-called:ping");
  for (const { stdout, stderr } of [run, await w.run("status"), await w.run("alerts"), await w.run("--json", "alerts")])
    expect(stdout + stderr).not.toMatch(/ping-secret|127\.0/u);
  await w.run("run", "verify");
  expect(called.calls, "only after the jobs that it is for").toBe(1);
  called.answer = 200;
  await w.run("run", "everything");
  expect([called.got, hook.got.slice(1)]).toEqual([["GET"], ["ended switch-not-called"]]);

  called.answer = 500;
  await w.run("run", "everything");
  w.extra = w.extra.replace(/ {2}deadMans.*\n/u, "");
  w.write();
  await w.run("run", "everything");
  expect(await failing(w), "one that is no longer configured is no trouble").toEqual([]);
  expect(hook.got.slice(2)).toEqual(["started switch-not-called", "ended switch-not-called"]);
});

it("a run that reached neither its source nor a service is no good run because something is held", async () => {
  const called = await receiver();
  const w = await placedOrders();
  w.extra = "alerts: { deadMansSwitches: [{ name: ping, url: env:PING_URL, goodExits: [0, 3, 4] }] }\n";
  w.environment["PING_URL"] = called.url;
  rule(w, "orders.ended", "ask");
  amend(w, "1", { products: [line("P1", "A1")] });
  expect((await ran(w)).exitCode).toBe(4);
  expect([called.calls, (await openHolds(w)).length]).toEqual([1, 1]);
  w.later(1);
  const second = w.clock.now() / 1_000;
  rmSync(w.path("data/orders.ndjson"));
  await w.sandbox.refuseConnections();
  const down = await w.run("run", "everything");
  expect(down.stdout).toContain("source crm/orders:");
  expect([down.exitCode, called.calls], "of the run that reached everything").toEqual([4, 1]);
  await w.sandbox.acceptConnections();
  const metrics = readScrape((await (await serves(w)).get("/metrics")).text);
  const completed = valueOf(metrics, "crm_sync_job_last_completion_timestamp_seconds", { job_name: "everything" });
  expect(completed).toBeLessThan(second);
});
