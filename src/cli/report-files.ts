import { dirname, join } from "node:path";
import type { ExitCode } from "../base/errors.ts";
import { exitCodes } from "../base/errors.ts";
import { makePrivateFolder } from "../base/private-files.ts";
import { reportKinds } from "../report/document.ts";
import type { ReportKind, ReportPeriod, ReportRequest } from "../report/document.ts";
import type { BoundJob } from "../run/job.ts";
import { withReader } from "./command.ts";
import type { Invocation } from "./command.ts";
import { usage } from "./keys.ts";
import type { Workplace } from "./workplace.ts";
import { toStdoutFromOneState, writeWhole } from "./written-files.ts";

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
export function monthBefore(epochMs: number, zone: string): string {
  const date = Temporal.Instant.fromEpochMilliseconds(epochMs).toZonedDateTimeISO(zone).toPlainDate();
  return date.toPlainYearMonth().subtract({ months: 1 }).toString();
}

/** Writes a report to a file in a folder that is there. */
async function writeReport(workplace: Workplace, request: ReportRequest, format: string, path: string): Promise<void> {
  const queries = await workplace.queries();
  await writeWhole(path, queries.report(request, format), { what: "report", group: workplace.group });
}

/** The same into a folder of our own, which is made where it is missing. */
async function writeOwnReport(
  workplace: Workplace,
  request: ReportRequest,
  format: string,
  path: string,
): Promise<void> {
  makePrivateFolder(dirname(path), workplace.group);
  await writeReport(workplace, request, format, path);
}

export interface ReportOptions {
  period: string;
  format: string;
  by: string;
  out?: string | undefined;
}

function requestOf(workplace: Workplace, kind: string, options: Pick<ReportOptions, "period" | "by">): ReportRequest {
  const known = reportKinds.find((name) => name === kind);
  if (known === undefined)
    throw usage(`there is no report ${JSON.stringify(kind)}`, `use one of: ${reportKinds.join(", ")}`);
  const by = options.by;
  if (by !== "happened" && by !== "crm-date") throw usage(`--by ${by} is no date of a row`, "use happened or crm-date");
  return { kind: known, period: monthPeriod(options.period, workplace.config.zone), by };
}

/** `report KIND --period MONTH`: to a file, or to stdout. */
export async function reportCommand(invocation: Invocation, kind: string, options: ReportOptions): Promise<ExitCode> {
  return await withReader(invocation, async (workplace) => {
    const request = requestOf(workplace, kind, options);
    if (options.out !== undefined) {
      await writeReport(workplace, request, options.format, options.out);
      if (workplace.json) workplace.output.json({ report: kind, period: options.period, file: options.out });
      else workplace.output.note(`${options.out} written`);
      return exitCodes.ok;
    }
    const queries = await workplace.queries();
    await toStdoutFromOneState(queries.report(request, options.format));
    return exitCodes.ok;
  });
}

/** The reports of a job, for the month before its slot, into the folder `reports` beside the ledger; gives their paths. */
export async function writeReports(workplace: Workplace, job: BoundJob, slot: string | undefined): Promise<string[]> {
  const { zone } = workplace.config;
  const month = monthBefore(slot === undefined ? workplace.clock.now() : Date.parse(slot), zone);
  const paths: string[] = [];
  for (const report of job.reports) {
    const path = join(dirname(workplace.ledgerPath), "reports", `${report.kind}-${month}.${report.format}`);
    await writeOwnReport(
      workplace,
      { kind: report.kind, period: monthPeriod(month, zone), by: report.by },
      report.format,
      path,
    );
    workplace.logger.info({ job: job.id, report: report.kind, month, path }, "report written");
    paths.push(path);
  }
  return paths;
}

/** One report of a month into a folder; gives its path. */
export async function monthReport(
  workplace: Workplace,
  kind: ReportKind,
  month: string,
  folder: string,
): Promise<string> {
  const path = join(folder, `${kind}-${month}.csv`);
  await writeOwnReport(
    workplace,
    { kind, period: monthPeriod(month, workplace.config.zone), by: "happened" },
    "csv",
    path,
  );
  return path;
}
