import { readFileSync, statSync } from "node:fs";
import { expect, it, onTestFinished } from "vitest";
import { openApplication } from "../../src/app/application.ts";
import type { Application } from "../../src/operate/application.ts";
import { executeJob, type EndedJob } from "../../src/app/execute-job.ts";
import { jobNamed } from "../../src/operate/job.ts";
import { verifyAudit } from "../../src/books/audit-record.ts";
import { runsOf } from "../support/asking.ts";
import { world, type World } from "../support/cli.ts";

/** An application over a world, with a face that keeps what it is told. */
async function opened(w: World, told: string[] = []): Promise<Application> {
  const application = await openApplication(
    { config: w.path("crm-sync.yaml"), sandbox: w.sandbox.url },
    w.environment,
    { log: () => ({ write: (line) => told.push(line) }), progress: (phase) => told.push(phase), clock: w.clock },
  );
  onTestFinished(() => application.close());
  return application;
}

it("jobs are executed without a command line: each tells its face what it came to, under the run lock, and a fire time is done once", async () => {
  const w = await world();
  w.extra = `jobs:
  deals: { kind: sync, streams: [customers, orders] }
  people: { kind: sync, streams: [staff] }
`;
  w.write();
  const told: string[] = [];
  const application = await opened(w, told);
  const other = await opened(w);
  const ledger = await application.ledger();
  const rival = await other.ledger();
  const shown: EndedJob[] = [];
  const show = async (ended: EndedJob): Promise<void> => {
    expect(() => rival.runs.takeLock(), "what a job came to is shown under the run lock").toThrow("run");
    shown.push(ended);
  };
  const { signal } = new AbortController();
  const execute = async (id: string, fireTime?: string): Promise<{ exit: number; ended: EndedJob | undefined }> => {
    const job = jobNamed(application.jobs(), id);
    const trigger = fireTime === undefined ? "hand" : "schedule";
    const exit = await executeJob(application, job, {
      trigger,
      signal,
      show,
      ...(fireTime === undefined ? {} : { fireTime }),
    });
    return { exit, ended: shown.splice(0)[0] };
  };

  expect(await execute("deals")).toMatchObject({
    exit: 0,
    ended: { kind: "sync", summary: { job: "deals", state: "done", customers: { finished: 2 } } },
  });
  expect(told, "the face is told how far it is").not.toEqual([]);
  expect(await execute("people")).toMatchObject({ exit: 0, ended: { kind: "sync", summary: { job: "people" } } });
  expect(await execute("verify")).toMatchObject({ exit: 0, ended: { kind: "verify", found: 0 } });

  // A fire time is executed once, whoever comes to it first.
  const fireTime = "2026-10-01T05:00:00.000Z";
  await ledger.schedule.claim("monthly-report", fireTime);
  const { exit, ended } = await execute("monthly-report", fireTime);
  expect({ exit, kind: ended?.kind }).toEqual({ exit: 0, kind: "report" });
  const files = ended?.kind === "report" ? ended.files : [];
  expect(files.length).toBeGreaterThan(1);
  for (const file of files) {
    expect(file).toContain("-2026-09.");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, "utf8")).not.toBe("");
  }
  expect(await ledger.schedule.unfinished("monthly-report")).toEqual([]);
  expect(await execute("monthly-report", fireTime), "it was done by another").toEqual({ exit: 0, ended: undefined });

  // Another run that is on ends a job at once, and nothing of it is begun.
  const runs = async (): Promise<unknown> =>
    (await runsOf(w)).map(({ job, kind, state, exitCode }) => ({ job, kind, state, exitCode })).toReversed();
  const before = await runs();
  rival.runs.takeLock();
  await expect(execute("people")).rejects.toMatchObject({ code: "run.active", exitCode: 75 });
  rival.runs.releaseLock();
  expect(await runs()).toEqual(before);
  expect(before).toEqual([
    { job: "deals", kind: "sync", state: "done", exitCode: 0 },
    { job: "people", kind: "sync", state: "done", exitCode: 0 },
    { job: "verify", kind: "verify", state: "done", exitCode: 0 },
    { job: "monthly-report", kind: "report", state: "done", exitCode: 0 },
  ]);
  expect(await verifyAudit(application, { copies: [], within: "26h", verifiers: [] })).toMatchObject({ good: true });
});
