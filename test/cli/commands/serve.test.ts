import { createServer, type AddressInfo } from "node:net";
import { request } from "undici";
import { describe, expect, it, onTestFinished } from "vitest";
import { runsOf } from "../../support/asking.ts";
import { expectDecent, world, type Parsed, type World } from "../../support/cli.ts";
import type { Running } from "../../support/process.ts";
import { hasMissedAll, serves } from "../../support/serving.ts";
import { company } from "../../support/world/crm.ts";

const others = `  customers-and-orders: { schedule: null }
  staff: { schedule: null }
  verify: { schedule: null }
  monthly-report: { schedule: null }
`;

/** Jobs that do everything, at this time. */
const jobs = (cron: string, ...ids: string[]): string =>
  `jobs:\n${others}${ids.map((id) => `  ${id}: { kind: sync, streams: [customers, orders, staff], schedule: "${cron}" }\n`).join("")}`;

const yearly = "0 5 1 1 *";

function says(w: World, extra: string): void {
  w.extra = extra;
  w.write();
}

/** A world whose jobs `early` and `late` are due whenever the configuration has them. */
async function due(options: Parameters<typeof world>[0]): Promise<World> {
  const w = await world(options);
  w.environment["CRM_SYNC__serve__port"] = "0";
  says(w, jobs(yearly, "early", "late"));
  await hasMissedAll(w);
  return w;
}

const ranOf = async (w: World): Promise<string[]> =>
  (await runsOf(w)).map(({ job, state }) => `${job} ${state}`).toReversed();

const nothingTwice = { enterprises: [], orders: [], products: [], staff: [] };
const runEnded = '"msg":"run ended"';

async function healthOf(running: Running): Promise<{ status: number; body: Parsed }> {
  await running.says(/health at \S+\/healthz/u);
  const [, url = ""] = /health at (\S+\/healthz)/u.exec(running.stderr()) ?? [];
  const answer = await request(url);
  return { status: answer.statusCode, body: JSON.parse(await answer.body.text()) };
}

/** As SIGTERM ends it. */
async function terminated(running: Running): Promise<string> {
  running.child.kill("SIGTERM");
  const ended = await running.ended;
  expectDecent(["serve"], ended);
  expect([ended.exitCode, ended.stdout]).toEqual([0, ""]);
  return ended.stderr;
}

describe("a process that serves", () => {
  it("runs a missed fire time once, is healthy, and ends with 0 at SIGTERM", async () => {
    const w = await due({ isOnMachineTime: true, records: company(1, 1) });
    w.environment["CRM_SYNC__log__level"] = "info";
    says(w, jobs(yearly, "early"));
    const serving = w.start("serve");
    expect(await healthOf(serving)).toMatchObject({ status: 200, body: { healthy: true, wrong: [] } });
    await serving.says(runEnded);
    // It is read once a second.
    await expect
      .poll(async () => (await healthOf(serving)).body.jobs.find(({ job }: Parsed) => job === "early").lastRun)
      .toMatchObject({ state: "done", exitCode: 0 });
    await terminated(serving);
    expect(await ranOf(w)).toEqual(["early done"]);
    expect(w.sandbox.state().assignments).toBe(1);
  });

  it("runs a job again after a kill in the middle, once", { tags: "long" }, async () => {
    const w = await due({ isOnMachineTime: true, records: company(3, 1) });
    Object.assign(w.environment, { CRM_SYNC__concurrency__customers: "1", CRM_SYNC__log__level: "info" });
    says(w, jobs(yearly, "early"));
    const stop = w.stopsAt("E5", { nth: 2, when: "after" });
    const first = w.start("serve");
    await stop.reached;
    first.child.kill("SIGKILL");
    await first.ended;
    stop.goOn();
    expect(await ranOf(w)).toEqual(["early interrupted"]);
    const second = w.start("serve");
    await second.says(runEnded);
    expect(await terminated(second)).toContain("schedule.interrupted");
    expect(w.sandbox.state()).toMatchObject({ enterprises: 3, assignments: 3 });
    expect(w.sandbox.duplicates()).toEqual(nothingTwice);
    const third = w.start("serve");
    await healthOf(third);
    await terminated(third);
    expect(await ranOf(w)).toEqual(["early interrupted", "early done"]);
  });
});

describe("serve", () => {
  it("stops in the middle of a run, which the next run goes on with", { tags: "long" }, async () => {
    const w = await due({ records: company(4, 1) });
    w.environment["CRM_SYNC__concurrency__customers"] = "1";
    const stop = w.stopsAt("E5", { nth: 2 });
    const serving = await serves(w);
    await stop.reached;
    const ending = serving.ends();
    stop.goOn();
    expect((await ending).exitCode).toBe(0);
    expect(await ranOf(w)).toEqual(["early stopped"]);
    expect(w.sandbox.state().enterprises).toBeLessThan(4);
    expect(await w.ask("settle", "list")).toEqual([]);
    expect((await w.run("run", "early")).exitCode).toBe(0);
    expect(w.sandbox.state()).toMatchObject({ enterprises: 4, assignments: 4 });
    expect(w.sandbox.duplicates()).toEqual(nothingTwice);
  });

  it("names a port that is taken, and does its jobs all the same", { tags: "long" }, async () => {
    const w = await due({ records: company(1, 1) });
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void taken.close());
    const { port } = taken.address() as AddressInfo;
    w.environment["CRM_SYNC__serve__port"] = String(port);
    const serving = await serves(w);
    await serving.says("web.not-served");
    expect(serving.said()).toContain(`127.0.0.1:${port}`);
    await serving.says(runEnded, 2);
  });
});
