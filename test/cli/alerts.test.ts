import { readFileSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { world, document } from "../support/cli.ts";
import type { World } from "../support/cli.ts";
import { startServer } from "../support/http-server.ts";
import { health } from "../support/telling.ts";
import { startMailServer } from "../support/mail-server.ts";
import { lines } from "../support/world/crm-files.ts";
import { company, staffRow } from "../support/world/crm.ts";

interface Receiver {
  url: string;
  /** `started rejected`, of each message that it took. */
  got: string[];
  /** How often it was called, whatever it answered. */
  calls: number;
  answer: number;
}

/** Somebody elsewhere who takes messages, as long as they are up. */
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
  const { event, kind, blocks } = JSON.parse(body) as {
    event?: string;
    kind?: string;
    blocks?: { text: { text: string } }[];
  };
  return blocks === undefined ? `${event} ${kind}` : (blocks[0]?.text.text ?? "");
}

/** Spoils somebody's row, so that it waits in quarantine, or makes it good again. */
function spoil(w: World, isBad: boolean): void {
  const rows = w.staff
    .map(staffRow)
    .map((row) => ("id" in row && row.id === "S1-1" && isBad ? { ...row, name: undefined } : row));
  writeFileSync(w.path("data/staff.ndjson"), lines(rows));
}

/** A world with two ways, one of which has a secret address. */
async function twoWays(more = ""): Promise<{ w: World; hook: Receiver; chat: Receiver }> {
  const [hook, chat] = [await receiver(), await receiver()];
  const w = await world({ records: company(2, 1) });
  w.environment["CHAT_URL"] = `${chat.url}/T0/chat-secret`;
  w.extra = `instance: north
serve: { publicUrl: "https://sync.example.com/" }
notify: { kind: webhook, url: "${hook.url}" }
alerts:
  ways: [{ kind: slack, name: on-call, url: env:CHAT_URL }]
${more}`;
  w.write();
  return { w, hook, chat };
}

it(
  "a way that is down for two runs loses nothing, repeats nothing on the other, and is itself told there",
  { tags: "long" },
  async () => {
    const { w, hook, chat } = await twoWays();
    spoil(w, true);
    chat.answer = 503;
    const first = await w.run("run", "everything");
    expect(first.exitCode).toBe(3);
    expect(first.stderr).toContain('"event":"alert.not-delivered","by":"on-call"');
    expect(first.stdout + first.stderr).not.toContain("chat-secret");
    expect(hook.got).toEqual(["started quarantine", "started way-down"]);
    expect(chat.got).toEqual([]);

    await w.run("run", "everything");
    expect(hook.got).toHaveLength(2);
    const status = await w.run("status");
    expect(status.stdout).toMatch(/on-call has not delivered alerts for .*: Slack answered HTTP 503/u);
    expect((await health(w)).wrong).toContain("alerts.not-delivered:on-call");
    const listed = await w.run("alerts");
    expect(listed.stdout).toMatch(/^warning {2}quarantine:staff:missing, since /mu);
    expect(listed.stdout).toMatch(/told by webhook \d{4}-\S+ \S+ UTC, not yet by on-call/u);
    expect(listed.stdout).toContain("https://sync.example.com/today");
    expect(listed.stdout).toMatch(/on-call \(slack\): never yet; fails for .*HTTP 503/u);
    expect(listed.exitCode).toBe(0);

    chat.answer = 200;
    await w.run("run", "everything");
    expect(chat.got).toEqual(["started: quarantine (1)"]);
    expect(hook.got.slice(2)).toEqual(["ended way-down"]);
    expect(document(await w.run("alerts", "--json"))).toMatchObject({
      alerts: [{ ways: [{ way: "webhook" }, { way: "on-call", toldAt: expect.any(String) }] }],
      ways: [
        { name: "webhook", problem: null },
        { name: "on-call", kind: "slack", problem: null },
      ],
    });

    spoil(w, false);
    hook.answer = 500;
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    expect(chat.got.slice(1)).toEqual(["ended: quarantine (1)", "started: way down (1)"]);
    expect((await w.run("alerts")).stdout).toContain("quarantine:staff:missing, by webhook");
    hook.answer = 200;
    await w.run("run", "everything");
    expect(hook.got.slice(3)).toEqual(["ended quarantine"]);
    expect(chat.got.slice(3)).toEqual(["ended: way down (1)"]);
    expect((await w.run("alerts")).stdout).toContain("nothing stands that needs a person");
  },
);

it("what each way is for goes there, and nothing else", { tags: "long" }, async () => {
  const { w, hook, chat } = await twoWays();
  w.extra = w.extra.replace("url: env:CHAT_URL }", "url: env:CHAT_URL, severity: critical }");
  w.write();
  spoil(w, true);
  await w.run("run", "everything");
  expect(hook.got).toEqual(["started quarantine"]);
  expect(chat.calls).toBe(0);
  expect((await w.run("alerts")).stdout).not.toContain("not yet by on-call");
});

const ping = (fields = ""): string => `  deadMansSwitches: [{ name: ping, url: env:PING_URL${fields} }]\n`;

it(
  "a dead man's switch is called after each good run, after no other one, and by nothing else",
  { tags: "long" },
  async () => {
    const called = await receiver();
    const { w } = await twoWays(ping());
    w.environment["PING_URL"] = `${called.url}/ping-secret`;
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    expect(called.got).toEqual(["GET"]);
    expect((await w.run("run", "verify")).exitCode).toBe(0);
    expect(called.calls).toBe(2);

    // Neither a look, nor a test, nor one customer alone is a run of a job.
    for (const words of [["plan"], ["status"], ["alerts"], ["alerts", "test"], ["resync", "--customer", "C1"]])
      expect((await w.run(...words)).exitCode).toBe(0);
    expect(called.calls).toBe(2);

    // A row that waits in quarantine, a source that is gone, a service that is down, and a run that was stopped.
    spoil(w, true);
    expect((await w.run("run", "everything")).exitCode).toBe(3);
    const good = readFileSync(w.path("data/customers.ndjson"), "utf8");
    writeFileSync(w.path("data/customers.ndjson"), "{broken");
    expect((await w.run("run", "everything")).exitCode).not.toBe(0);
    writeFileSync(w.path("data/customers.ndjson"), good);
    spoil(w, false);
    w.sandbox.faults.add({ operation: "M5", fault: "http502" });
    expect((await w.run("run", "verify")).exitCode).not.toBe(0);
    expect(called.calls).toBe(2);
    w.sandbox.faults.clear();
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    expect(called.calls).toBe(3);
  },
);

it(
  "a dead man's switch that cannot be called is logged, shown, told, tried again, and never names its address",
  { tags: "long" },
  async () => {
    const called = await receiver();
    const { w, hook, chat } = await twoWays(ping(", method: POST, jobs: [everything]"));
    w.environment["PING_URL"] = `${called.url}/ping-secret?key=ping-secret`;
    w.extra += "jobs: { everything: { kind: sync, streams: [customers, orders, staff] } }\n";
    w.write();
    called.answer = 500;
    const failing = await w.run("run", "everything");
    expect(failing.exitCode).toBe(0);
    expect(failing.stderr).toContain('"event":"dead-mans-switch.not-called","switch":"ping"');
    expect(hook.got).toEqual(["started switch-not-called"]);
    expect(chat.got).toEqual(["started: switch not called (1)"]);
    const status = await w.run("status");
    expect(status.stdout).toMatch(/the dead man's switch ping was not called for .*: its address answered HTTP 500/u);
    const listed = await w.run("alerts");
    expect(listed.stdout).toContain("the dead man's switch ping could not be called after a good run");
    for (const { stdout, stderr } of [failing, status, listed])
      expect(stdout + stderr).not.toMatch(/ping-secret|127\.0/u);
    expect(JSON.stringify(w.rows("select * from delivery"))).not.toContain("ping-secret");

    // Only after the jobs that it is for.
    await w.run("run", "verify");
    expect(called.calls).toBe(1);
    called.answer = 200;
    await w.run("run", "everything");
    expect(called.got).toEqual(["POST"]);
    expect(hook.got.slice(1)).toEqual(["ended switch-not-called"]);

    // One that is configured no more is no trouble either.
    called.answer = 500;
    await w.run("run", "everything");
    w.extra = w.extra.replace(/ {2}deadMans.*\n/u, "");
    w.write();
    await w.run("run", "everything");
    expect((await w.run("status")).stdout).not.toContain("dead man's switch");
    expect(hook.got.slice(2)).toEqual(["started switch-not-called", "ended switch-not-called"]);
  },
);

it("a run after which records wait counts as good where the configuration says so", async () => {
  const called = await receiver();
  const { w } = await twoWays(ping(", goodExits: [0, 3]"));
  w.environment["PING_URL"] = called.url;
  spoil(w, true);
  expect((await w.run("run", "everything")).exitCode).toBe(3);
  expect(called.calls).toBe(1);
});

it("`alerts test` sends a message by each way, says what each answered, and fails where one failed", async () => {
  const { w, hook, chat } = await twoWays();
  const server = await startMailServer();
  w.extra = `mail: { host: 127.0.0.1, port: ${server.port}, tls: none, from: crm-sync@example.com }\n${w.extra.replace(
    "ways: [",
    "ways: [{ kind: mail, to: [ops@example.com] }, ",
  )}`;
  w.write();
  const good = await w.run("alerts", "test");
  expect(good.exitCode).toBe(0);
  expect(good.stdout.split("\n").filter(Boolean)).toEqual([
    "good  webhook: delivered",
    "good  mail: delivered",
    "good  on-call (slack): delivered",
  ]);
  expect(hook.got).toEqual(["test settings"]);
  expect(chat.got).toEqual(["test"]);
  expect(server.received[0]?.raw).toContain("Subject: crm-sync, north: test");

  chat.answer = 404;
  const failing = await w.run("alerts", "test", "--json");
  expect(failing.exitCode).toBe(1);
  expect(document(failing)).toEqual({
    ways: [
      { way: "webhook", kind: "webhook", problem: null, partly: null },
      { way: "mail", kind: "mail", problem: null, partly: null },
      { way: "on-call", kind: "slack", problem: "Slack answered HTTP 404", partly: null },
    ],
  });
  const one = await w.run("alerts", "test", "webhook");
  expect([one.exitCode, chat.calls]).toEqual([0, 2]);
  const unknown = await w.run("alerts", "test", "pager");
  expect(unknown.exitCode).toBe(64);
  expect(unknown.stderr).toContain("use one of: webhook, mail, on-call");
});

it("ways and switches that do not fit together are all named by `check`, and nothing runs", async () => {
  const { w, hook } = await twoWays();
  w.environment["PING_URL"] = "https://ping.example.com";
  w.extra = w.extra.replace("ways: [", "ways: [{ kind: log, name: on-call }, { kind: mail, to: [ops@example.com] }, ");
  w.extra += ping(", jobs: [no-such-job]").replace("[{", "[{ name: ping, url: env:PING_URL }, {");
  w.write();
  for (const words of [["check"], ["run", "everything"]]) {
    const ended = await w.run(...words);
    expect(ended.exitCode).toBe(78);
    expect(ended.stderr).toContain("has two ways called on-call");
    expect(ended.stderr).toContain("has two called ping");
    expect(ended.stderr).toContain("no mail server is configured");
    expect(ended.stderr).toContain("names the job no-such-job for ping");
  }
  expect(hook.calls).toBe(0);
});

it("an address that stands in the configuration itself is refused and not repeated", async () => {
  const { w } = await twoWays();
  w.extra = w.extra.replace("env:CHAT_URL", "https://hooks.example.com/T0/chat-secret");
  w.write();
  const ended = await w.run("check");
  expect(ended.exitCode).toBe(78);
  expect(ended.stderr).toContain("alerts.ways.0.url");
  expect(ended.stdout + ended.stderr).not.toContain("chat-secret");
});
