import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { request } from "undici";
import { describe, expect, it, onTestFinished } from "vitest";
import { company } from "../support/world/crm.ts";
import { expectDecent, promptRetries, until, world } from "../support/cli.ts";
import type { Parsed, World } from "../support/cli.ts";
import type { Running } from "../support/process.ts";

const everyMinute = `serve: { port: 0 }
jobs:
  everything: { kind: sync, streams: [customers, orders, staff], schedule: "* * * * *" }
  customers-and-orders: { enabled: false }
  staff: { enabled: false }
  verify: { enabled: false }
  monthly-report: { enabled: false }
`;

/** A world whose one job runs every minute and has missed a fire time, so that it is due at once. */
async function due(options: Parameters<typeof world>[0]): Promise<World> {
  const w = await world({ isOnMachineTime: true, ...options });
  w.extra = everyMinute;
  w.write();
  expect((await w.run("migrate")).exitCode).toBe(0);
  w.tamper(
    "insert into last_fire_time (job, fire_time, fired_at) values ('everything', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z')",
  );
  return w;
}

async function health(running: Running): Promise<{ status: number; body: Parsed }> {
  await running.says(/health at \S+\/healthz/u);
  const [, url = ""] = /health at (\S+\/healthz)/u.exec(running.stderr()) ?? [];
  const answer = await request(url);
  return { status: answer.statusCode, body: JSON.parse(await answer.body.text()) };
}

interface RunRow {
  id: string;
  job: string;
  trigger: string;
  state: string;
  exit_code: number | null;
}
const runsOf = (w: World): RunRow[] =>
  w.rows<RunRow>("select id, job, trigger, state, exit_code from run order by started_at, id");

describe("serve", () => {
  it("runs a missed fire time once, is healthy, and ends at SIGTERM with 0", { tags: "long" }, async () => {
    const w = await due({ records: company(1, 1) });
    const serving = w.start("serve");
    const first = await health(serving);
    expect(first.status).toBe(200);
    expect(first.body).toMatchObject({ healthy: true, wrong: [] });
    await until("the run is done", () => runsOf(w).some((run) => run.state === "done"));
    const later = await health(serving);
    const job = later.body.jobs.find((item: { job: string }) => item.job === "everything");
    expect(job.lastRun).toMatchObject({ state: "done", exitCode: 0 });
    expect(Date.parse(job.nextSlot)).toBeGreaterThan(Date.now() - 60_000);
    serving.child.kill("SIGTERM");
    const ended = await serving.ended;
    expectDecent(["serve"], ended);
    expect(ended.exitCode).toBe(0);
    expect(ended.stdout).toBe("");
    expect(runsOf(w).filter((run) => run.trigger === "schedule").length).toBeLessThanOrEqual(2);
    expect(w.sandbox.duplicates()).toEqual({ enterprises: [], orders: [], products: [], staff: [] });
    expect(w.sandbox.state().assignments).toBe(1);
  });

  it("stops cleanly in the middle of a run, and the next run goes on from there", { tags: "long" }, async () => {
    const latencyMs = 80;
    const w = await due({ records: company(12, 1), sandbox: { latencyMs } });
    w.environment["CRM_SYNC__concurrency__customers"] = "2";
    const serving = w.start("serve");
    await until("some orders are placed", () => (w.sandbox.counts().calls["E5"] ?? 0) >= 3);
    const asked = performance.now();
    serving.child.kill("SIGTERM");
    const ended = await serving.ended;
    expect(performance.now() - asked, "the promise is 5 s and the longest call").toBeLessThan(5000 + latencyMs);
    expect(ended.exitCode).toBe(0);
    const calls = w.sandbox.counts().writingCalls;
    const [run] = runsOf(w);
    expect(run?.state).toBe("stopped");
    expect(w.sandbox.state().enterprises).toBeLessThan(12);
    expect(w.rows("select id from operation where state = 'sending'")).toEqual([]);
    w.answerAtOnce();
    const again = await w.run("run", "everything");
    expect(again.exitCode, again.stdout).toBe(0);
    expect(w.sandbox.counts().writingCalls).toBeGreaterThan(calls);
    expect(w.sandbox.state()).toMatchObject({ enterprises: 12, assignments: 12 });
    expect(w.sandbox.duplicates()).toEqual({ enterprises: [], orders: [], products: [], staff: [] });
  });

  it(
    "runs a monthly job again whose process was killed in the middle, once, and not what another program has run since",
    { tags: "long" },
    async () => {
      const w = await due({ records: company(6, 1), sandbox: { latencyMs: 60 } });
      w.extra = everyMinute.replace('"* * * * *"', '"0 5 1 * *"');
      w.environment["CRM_SYNC__concurrency__customers"] = "1";
      w.write();
      const serving = w.start("serve");
      await until("some orders are placed", () => (w.sandbox.counts().calls["E5"] ?? 0) >= 2);
      serving.child.kill("SIGKILL");
      await serving.ended;
      expect(runsOf(w).map((run) => run.state)).toEqual(["running"]);
      w.answerAtOnce();
      const again = w.start("serve");
      await until("the run is done", () => runsOf(w).some((run) => run.state === "done"));
      again.child.kill("SIGTERM");
      expect((await again.ended).stderr).toContain("schedule.interrupted");
      expect(w.sandbox.state()).toMatchObject({ enterprises: 6, assignments: 6 });
      expect(w.sandbox.duplicates()).toEqual({ enterprises: [], orders: [], products: [], staff: [] });
      const third = w.start("serve");
      await health(third);
      await until("the schedule was looked at", () => w.rows("select job from last_fire_time").length > 0);
      third.child.kill("SIGTERM");
      await third.ended;
      expect(runsOf(w).filter((run) => run.trigger === "schedule")).toHaveLength(2);
    },
  );

  it(
    "does not run beside another run: that one has the lock, and a run by hand is refused with 75",
    { tags: "long" },
    async () => {
      const w = await due({ records: company(8, 1), sandbox: { latencyMs: 150 } });
      w.environment["CRM_SYNC__concurrency__customers"] = "1";
      const serving = w.start("serve");
      await until("the run is on", () => runsOf(w).some((run) => run.state === "running"));
      const before = w.sandbox.counts().calls["token"] ?? 0;
      const second = await w.run("run", "everything");
      expect(second.exitCode).toBe(75);
      expect(second.stderr).toMatch(/another run/u);
      expect(second.stderr).toMatch(/^ +→ \w/mu);
      expect(w.sandbox.counts().calls["token"] ?? 0).toBe(before);
      for (const words of [["status"], ["runs"], ["audit", "verify"]]) {
        expect((await w.run(...words)).exitCode, words.join(" ")).toBe(0);
      }
      serving.child.kill("SIGTERM");
      expect((await serving.ended).exitCode).toBe(0);
    },
  );

  it("names a port that is taken, and does its jobs all the same", { tags: "long" }, async () => {
    const w = await due({ records: company(1, 1) });
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void taken.close());
    const address = taken.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    w.environment["CRM_SYNC__serve__port"] = String(port);
    const serving = w.start("serve");
    expect(await serving.says("web.not-served")).toBe(true);
    expect(serving.stderr()).toContain(`127.0.0.1:${port}`);
    await until("a run was made", () => runsOf(w).length > 0);
    serving.child.kill("SIGTERM");
    expect((await serving.ended).exitCode).toBe(0);
  });
});

describe("a person is told when something starts to need one and when that ends, once each", () => {
  it("by a command", { tags: "long" }, async () => {
    const w = await world({ isOnMachineTime: true, records: company(1, 1) });
    writeFileSync(w.path("tell.sh"), `#!/bin/sh\ncat >> "${w.path("told.ndjson")}"\n`);
    chmodSync(w.path("tell.sh"), 0o755);
    w.extra = `notify: { kind: command, command: ["${w.path("tell.sh")}"] }\n`;
    await brokenAndMended(w);
    expect(readFileSync(w.path("told.ndjson"), "utf8")).not.toMatch(/zqcanary/iu);
    const told = readFileSync(w.path("told.ndjson"), "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(told.map((alert) => [alert.event, alert.kind])).toEqual([
      ["started", "source-down"],
      ["ended", "source-down"],
    ]);
    expect(told[0].summary).toContain("hr/staff");
    expect(told[0].cure).toMatch(/crm-sync/u);
  });

  it("by a webhook, and again after it could not be reached", async () => {
    const w = await world({ isOnMachineTime: true, records: company(1, 1) });
    const told: { event: string; kind: string }[] = [];
    let failing = true;
    const server = createServer((message, reply) => {
      let body = "";
      message.on("data", (chunk: Buffer) => (body += chunk.toString()));
      message.on("end", () => {
        if (!failing) told.push(JSON.parse(body));
        reply.statusCode = failing ? 503 : 204;
        reply.end();
        failing = false;
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    w.extra = `notify: { kind: webhook, url: "http://127.0.0.1:${port}/hook" }\n`;
    await brokenAndMended(w);
    expect(told.map((alert) => [alert.event, alert.kind])).toEqual([
      ["started", "source-down"],
      ["ended", "source-down"],
    ]);
  });

  it("when the platform cannot be reached, and when it can again", { tags: "long" }, async () => {
    const w = await world({ isOnMachineTime: true, records: company(1, 1) });
    writeFileSync(w.path("tell.sh"), `#!/bin/sh\ncat >> "${w.path("told.ndjson")}"\n`);
    chmodSync(w.path("tell.sh"), 0o755);
    w.extra = `notify: { kind: command, command: ["${w.path("tell.sh")}"] }\n`;
    w.write();
    Object.assign(w.environment, promptRetries);
    await w.sandbox.refuseConnections();
    expect((await w.run("run", "everything")).exitCode).toBe(7);
    expect((await w.run("run", "everything")).exitCode).toBe(7);
    expect(existsSync(w.path("told.ndjson")), "nobody was told").toBe(true);
    await w.sandbox.acceptConnections();
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    const told = readFileSync(w.path("told.ndjson"), "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(told.map((alert) => alert.event)).toEqual(["started", "ended"]);
  });
});

/** Two runs without the staff source, then two with it. */
async function brokenAndMended(w: World): Promise<void> {
  w.write();
  const records = readFileSync(w.path("data/staff.ndjson"));
  rmSync(w.path("data/staff.ndjson"));
  expect((await w.run("run", "everything")).exitCode).toBe(7);
  expect((await w.run("run", "everything")).exitCode).toBe(7);
  writeFileSync(w.path("data/staff.ndjson"), records);
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  expect((await w.run("run", "everything")).exitCode).toBe(0);
}
