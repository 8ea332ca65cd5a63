import { readFileSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { openApplication } from "../../src/app/application.ts";
import { executeJob, type EndedJob } from "../../src/app/execute-job.ts";
import { jobNamed } from "../../src/operate/job.ts";
import { world } from "../support/cli.ts";

/** A world with a job that writes these reports, in Berlin, and how its job goes that was due at a moment. */
async function monthly(reports: string) {
  const w = await world();
  w.extra = `jobs:\n  monthly-report: { reports: [${reports}] }\n`;
  w.write();
  const config = w.path("crm-sync.yaml");
  writeFileSync(config, readFileSync(config, "utf8").replace("zone: UTC", "zone: Europe/Berlin"));
  const face = { log: () => ({ write: () => undefined }), progress: () => undefined };
  const application = await openApplication({ config, sandbox: w.sandbox.url }, w.environment, face);
  onTestFinished(() => application.close());
  const ledger = await application.ledger();
  return async (fireTime: string): Promise<EndedJob[]> => {
    await ledger.schedule.claim("monthly-report", fireTime);
    const shown: EndedJob[] = [];
    await executeJob(application, jobNamed(application.jobs(), "monthly-report"), {
      trigger: "schedule",
      fireTime,
      signal: new AbortController().signal,
      show: async (ended) => void shown.push(ended),
    });
    return shown;
  };
}

it("a job writes the reports of the month that was over in the configured zone when it was due", async () => {
  const ended = await monthly("{ kind: orders, format: json }");
  const written = async (fireTime: string): Promise<{ name: string; from: unknown }[]> => {
    const shown = await ended(fireTime);
    return shown
      .flatMap((one) => (one.kind === "report" ? one.files : []))
      .map((path) => {
        const { header } = JSON.parse(readFileSync(path, "utf8")) as { header: { period: { from: string } } };
        return { name: basename(path), from: header.period.from };
      });
  };
  expect(await written("2026-10-31T22:30:00.000Z")).toEqual([
    { name: "orders-2026-09.json", from: "2026-08-31T22:00:00.000Z" },
  ]);
  // Half an hour after October was over in Berlin, and before it was in UTC.
  expect(await written("2026-10-31T23:30:00.000Z")).toEqual([
    { name: "orders-2026-10.json", from: "2026-09-30T22:00:00.000Z" },
  ]);
});

it("a job that asks a report for dates of the CRM that it does not have says so, and writes none of it", async () => {
  const ended = await monthly("{ kind: exceptions, format: json, by: crm-date }");
  await expect(ended("2026-11-01T01:00:00.000Z")).rejects.toMatchObject({
    code: "usage",
    message: "exceptions counts by what happened alone: nothing in it has a date of the CRM",
    cure: "leave --date out (in a job: `by`)",
  });
});
