import { dirname, join } from "node:path";
import { usage } from "../base/errors.ts";
import { makePrivateFolder } from "../base/private-files.ts";
import type { ReportKind, ReportPeriod, ReportRequest } from "../report/document.ts";
import type { BoundJob } from "../run/job.ts";
import type { Application } from "./application.ts";
import { writeWhole } from "./written-files.ts";

/** A month such as `2026-10` in a zone, as the instants it lasts from and to (the end is the first one after it). */
export function monthPeriod(label: string, zone: string): ReportPeriod {
  if (!/^\d{4}-(0[1-9]|1[0-2])$/u.test(label))
    throw usage(`${JSON.stringify(label)} is no month`, "write it as 2026-10");
  const first = Temporal.PlainDate.from(`${label}-01`);
  const instant = (date: Temporal.PlainDate): string =>
    new Date(date.toZonedDateTime(zone).epochMilliseconds).toISOString();
  return { label, zone, from: instant(first), to: instant(first.add({ months: 1 })) };
}

/** The month before an instant, in a zone: what a monthly report is about. */
function monthBefore(epochMs: number, zone: string): string {
  const date = Temporal.Instant.fromEpochMilliseconds(epochMs).toZonedDateTimeISO(zone).toPlainDate();
  return date.toPlainYearMonth().subtract({ months: 1 }).toString();
}

/** Writes a report to a file in a folder that is there. */
export async function writeReport(
  application: Application,
  request: ReportRequest,
  format: string,
  path: string,
): Promise<void> {
  const inquiry = await application.inquiry();
  await writeWhole(path, inquiry.report(request, format), { what: "report", group: application.group });
}

/** The same into a folder of our own, which is made where it is missing. */
async function writeOwnReport(
  application: Application,
  request: ReportRequest,
  format: string,
  path: string,
): Promise<void> {
  makePrivateFolder(dirname(path), application.group);
  await writeReport(application, request, format, path);
}

/**
 * The reports of a job, for the month before its fire time, into the folder `reports` beside the ledger; gives their
 * paths.
 */
export async function writeReports(
  application: Application,
  job: BoundJob,
  fireTime: string | undefined,
): Promise<string[]> {
  const { zone } = application.config;
  const month = monthBefore(fireTime === undefined ? application.clock.now() : Date.parse(fireTime), zone);
  const paths: string[] = [];
  for (const report of job.reports) {
    const path = join(dirname(application.ledgerPath), "reports", `${report.kind}-${month}.${report.format}`);
    await writeOwnReport(
      application,
      { kind: report.kind, period: monthPeriod(month, zone), by: report.by },
      report.format,
      path,
    );
    application.logger.info({ job: job.id, report: report.kind, month, path }, "report written");
    paths.push(path);
  }
  return paths;
}

/** One report of a month into a folder; gives its path. */
export async function monthReport(
  application: Application,
  kind: ReportKind,
  month: string,
  folder: string,
): Promise<string> {
  const path = join(folder, `${kind}-${month}.csv`);
  await writeOwnReport(
    application,
    { kind, period: monthPeriod(month, application.config.zone), by: "happened" },
    "csv",
    path,
  );
  return path;
}
