import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { request } from "undici";
import { describe, expect, it } from "vitest";
import { expectDecent, until, world } from "../support/cli.ts";
import type { World } from "../support/cli.ts";
import { notifySocket, untold } from "../support/notify-socket.ts";
import type { Running } from "../support/process.ts";
import { company } from "../support/world/crm.ts";

const never = `serve: { port: 0 }
jobs:
  customers-and-orders: { enabled: false }
  staff: { enabled: false }
  verify: { enabled: false }
  monthly-report: { enabled: false }
  everything: { kind: sync, streams: [customers, orders, staff] }
`;
/** A job whose fire time was missed in the ledger: it is due as soon as the program has it. */
const job = (id: string): string =>
  `  ${id}: { kind: sync, streams: [customers, orders, staff], schedule: "0 5 1 1 *" }\n`;

/** A world whose configuration says no schedule; jobs `early` and `late` are due once it says them. */
async function quiet(options: Parameters<typeof world>[0] = {}): Promise<World> {
  const w = await world({ isOnMachineTime: true, records: company(2, 1), ...options });
  says(w, never);
  expect((await w.run("migrate")).exitCode).toBe(0);
  for (const id of ["early", "late"])
    w.tamper(`insert into last_fire_time values ('${id}', '2020-01-01T00:00:00.000Z', '2020-01-01T00:00:00.000Z')`);
  return w;
}

function says(w: World, extra: string): void {
  w.extra = extra;
  w.write();
}

const runsOf = (w: World): { job: string; state: string; header: string }[] =>
  w.rows("select job, state, header from run order by started_at, id");

async function stopped(serving: Running): Promise<string> {
  serving.child.kill("SIGTERM");
  const ended = await serving.ended;
  expectDecent(["serve"], ended);
  expect(ended.exitCode).toBe(0);
  return ended.stderr;
}

const times = (serving: Running, text: RegExp): number => serving.stderr().match(new RegExp(text, "gu"))?.length ?? 0;
const takenOver = /the configuration is taken over; changed: ([^\n]+)/u;
const refused = "the configuration is not taken over; the one before stays in effect:";

describe("SIGHUP while the program serves", () => {
  it(
    "takes a good configuration over and names the keys that changed: a job that is new fires",
    { tags: "long" },
    async () => {
      const w = await quiet();
      const serving = w.start("serve");
      await serving.says("serves 0 scheduled job(s)");
      says(w, `${never}${job("early")}concurrency: { customers: 3 }\n`);
      serving.child.kill("SIGHUP");
      await serving.says(takenOver);
      expect(takenOver.exec(serving.stderr())?.[1]).toBe("concurrency.customers, jobs.early");
      await until("the new job ran", () => runsOf(w).some((run) => run.state === "done"));
      expect(runsOf(w).map((run) => run.job)).toEqual(["early"]);
      expect(w.sandbox.state().assignments).toBe(2);
      // And again, with the ledger and the services of the first.
      says(w, `${never}${job("early")}${job("late")}`);
      serving.child.kill("SIGHUP");
      await until("the third configuration is in effect", () => runsOf(w).some((run) => run.job === "late"));
      await until("its job ran", () => runsOf(w).every((run) => run.state === "done"));
      await stopped(serving);
      expect(w.sandbox.duplicates()).toEqual({ enterprises: [], orders: [], products: [], staff: [] });
      expect((await w.run("audit", "verify")).exitCode).toBe(0);
    },
  );

  it(
    "refuses a bad one with file and line, and goes on with the one before until a good one comes",
    { tags: "long" },
    async () => {
      const w = await quiet();
      const serving = w.start("serve");
      await serving.says("serves 0 scheduled job(s)");
      const bad: Record<string, [text: string, told: RegExp]> = {
        "a key that is none": [`${never}${job("early")}nonsense: 1\n`, /crm-sync\.yaml:\d+:\d+: .*nonsense/u],
        "no YAML": [`${never}${job("early")}x: [\n`, /crm-sync\.yaml:\d+:\d+/u],
        "a secret that is missing": [
          `${never}${job("early")}notify: { kind: webhook, url: "http://127.0.0.1:1/", token: env:NOT_SET }\n`,
          /crm-sync\.yaml:\d+:\d+: `notify\.token` needs env:NOT_SET/u,
        ],
        "a schedule that is none": [`${never}${job("early").replace("0 5 1 1 *", "0 5 1 13 *")}`, /jobs\.early/u],
      };
      let tries = 0;
      for (const [what, [text, told]] of Object.entries(bad)) {
        says(w, text);
        serving.child.kill("SIGHUP");
        tries += 1;
        await until(what, () => times(serving, new RegExp(refused, "u")) === tries);
        const said = serving.stderr();
        expect(said.slice(said.lastIndexOf(refused)), what).toMatch(told);
        expect(said.slice(said.lastIndexOf(refused)), what).toContain("\n  → ");
      }
      renameSync(w.path("crm-sync.yaml"), w.path("gone.yaml"));
      serving.child.kill("SIGHUP");
      await until("the file is gone", () => times(serving, new RegExp(refused, "u")) === tries + 1);
      const [, url = ""] = /health at (\S+\/healthz)/u.exec(serving.stderr()) ?? [];
      expect((await request(url)).statusCode).toBe(200);
      expect(runsOf(w)).toEqual([]);
      says(w, `${never}${job("early")}`);
      serving.child.kill("SIGHUP");
      await until("the job of the good one ran", () => runsOf(w).some((run) => run.state === "done"));
      await stopped(serving);
    },
  );

  it(
    "takes nothing of a configuration over that is about another ledger or another address, and names those keys",
    { tags: "long" },
    async () => {
      const w = await quiet();
      const serving = w.start("serve");
      await serving.says("serves 0 scheduled job(s)");
      says(w, `${never.replace("port: 0", "port: 1")}${job("early")}`);
      const text = readFileSync(w.path("crm-sync.yaml"), "utf8");
      writeFileSync(w.path("crm-sync.yaml"), text.replace("path: ledger.db", "path: other.db"));
      serving.child.kill("SIGHUP");
      await serving.says(refused);
      await serving.says("`serve.port` cannot be changed while the program runs");
      expect(serving.stderr()).toContain("`ledger.path` cannot be changed while the program runs");
      expect(serving.stderr()).not.toMatch(takenOver);
      serving.child.kill("SIGHUP");
      await until("it is refused again", () => times(serving, new RegExp(refused, "u")) === 2);
      await stopped(serving);
      expect(runsOf(w)).toEqual([]);
    },
  );

  it(
    "during a run waits for its end: that run goes by the configuration that it began with",
    { tags: "long" },
    async () => {
      const w = await quiet({ records: company(4, 1), sandbox: { latencyMs: 60 } });
      says(w, `${never}${job("early")}`);
      const supervisor = untold === undefined ? await notifySocket() : undefined;
      if (supervisor !== undefined) w.environment["NOTIFY_SOCKET"] = supervisor.path;
      const serving = w.start("serve");
      await until("some orders are placed", () => (w.sandbox.counts().calls["E5"] ?? 0) >= 1);
      says(w, `${never}${job("early")}${job("late")}`);
      serving.child.kill("SIGHUP");
      await serving.says("SIGHUP: the configuration is read again as soon as no run is on");
      expect(runsOf(w).map((run) => run.state)).toEqual(["running"]);
      w.answerAtOnce();
      await serving.says(takenOver);
      await until("the job of the new one ran", () => runsOf(w).filter((run) => run.state === "done").length === 2);
      const [first, second] = runsOf(w);
      expect([first?.job, second?.job]).toEqual(["early", "late"]);
      expect(JSON.parse(first?.header ?? "{}").hash).not.toBe(JSON.parse(second?.header ?? "{}").hash);
      await stopped(serving);
      const reloads = supervisor?.all.filter((told) => /^(?:RELOADING|READY)=1$/u.test(told[0] ?? "")) ?? [];
      if (supervisor !== undefined) {
        expect(reloads.map((told) => told[0])).toEqual(["READY=1", "RELOADING=1", "READY=1"]);
        expect(reloads[1]?.[1]).toMatch(/^MONOTONIC_USEC=\d+$/u);
      }
      expect(w.sandbox.duplicates()).toEqual({ enterprises: [], orders: [], products: [], staff: [] });
    },
  );

  it("twice in a row ends with what was written last", { tags: "long" }, async () => {
    const w = await quiet();
    const serving = w.start("serve");
    await serving.says("serves 0 scheduled job(s)");
    says(w, `${never}concurrency: { customers: 3 }\n`);
    serving.child.kill("SIGHUP");
    says(w, `${never}${job("late")}`);
    serving.child.kill("SIGHUP");
    await until("the job of the last one ran", () => runsOf(w).some((run) => run.state === "done"));
    expect(runsOf(w).map((run) => run.job)).toEqual(["late"]);
    expect(times(serving, takenOver)).toBeLessThanOrEqual(2);
    serving.child.kill("SIGHUP");
    await serving.says("the configuration says what it said before");
    await stopped(serving);
  });
});
