import { basename, dirname, join, resolve } from "node:path";
import { usage } from "../base/errors.ts";
import { makePrivateFolder } from "../base/private-files.ts";
import { openInquiry } from "../inquiry/inquiry.ts";
import type { Inquiry } from "../inquiry/inquiry.ts";
import { statements } from "../inquiry/statement/statement.ts";
import type { Statement, StatementKind } from "../inquiry/statement/statement.ts";
import { monthBefore } from "../report/statement/period.ts";
import { requireStatementFormat } from "../report/statement/render.ts";
import { tolerancesOf } from "../report/statement/tolerances.ts";
import type { PeriodBy, StatementRequest } from "../report/statement/shape.ts";
import { fileNameOf } from "../report/statement/writer.ts";
import type { FileChunk } from "../report/statement/writer.ts";
import type { BoundJob } from "../operate/job.ts";
import type { Application } from "./application.ts";
import { headSigner } from "./sign-head.ts";
import { periodOf } from "./statement-period.ts";
import { filesOf } from "./statement-files.ts";
import { writeFilesWhole } from "./written-files.ts";

/** The kind of statement of that name. Throws a usage Problem for one that there is not. */
export function statementKind(kind: string): StatementKind {
  if (isKind(kind)) return kind;
  throw usage(
    `there is no report ${JSON.stringify(kind)}`,
    `use one of: ${Object.keys(statements).toSorted().join(", ")}`,
  );
}

function isKind(kind: string): kind is StatementKind {
  return Object.hasOwn(statements, kind);
}

/** The chunks of the files of a statement; `name` is the name of the first of them. */
export async function* reportChunks(
  application: Application,
  kind: StatementKind,
  request: StatementRequest,
  format: string,
  name: string,
): AsyncGenerator<FileChunk, void, void> {
  const known = requireStatementFormat(format);
  const sign = headSigner(application);
  if (request.asOf === undefined) {
    yield* (await application.inquiry()).statement(kind, request, known, name, sign);
    return;
  }
  application.requireLedger();
  const then: Inquiry = openInquiry(application.ledgerPath, request.asOf);
  try {
    yield* then.statement(kind, request, known, name, sign);
  } finally {
    then.close();
  }
}

/** Throws a usage Problem for a format that there is not, and for dates of the CRM where a statement knows none. */
export function requireAsked(kind: StatementKind, { by }: StatementRequest, format: string): void {
  requireStatementFormat(format);
  const { happenedOnly }: Statement = statements[kind];
  if (by === "crm-date" && happenedOnly === true)
    throw usage(`${kind} counts by what happened alone: nothing in it has a date of the CRM`, "leave --by out");
}

/**
 * Writes a statement to a file in a folder that exists, with the files of its other parts beside it: all of them, or
 * none. `part`: that part alone. Gives their paths, that of the file first.
 */
export async function writeReport(
  application: Application,
  kind: StatementKind,
  request: StatementRequest,
  { format, path, part }: { format: string; path: string; part?: string | undefined },
): Promise<string[]> {
  const chunks = reportChunks(application, kind, request, format, basename(path));
  const pathOf = part === undefined ? (file: string): string => fileNameOf(path, file) : (): string => path;
  return await writeFilesWhole(filesOf(part === undefined ? chunks : partOf(kind, chunks, part)), {
    pathOf,
    what: "report",
    group: application.group,
  });
}

/** The chunks of one part alone; without a name those of the first. Throws a usage Problem where it has no file. */
export async function* partOf(
  kind: StatementKind,
  chunks: AsyncIterable<FileChunk>,
  part: string | undefined,
): AsyncGenerator<FileChunk, void, void> {
  const parts: string[] = statements[kind].shape.parts.map(({ name }) => name);
  const [first] = parts;
  if (part !== undefined && !parts.includes(part))
    throw usage(`${kind} has no part ${JSON.stringify(part)}`, `use one of: ${parts.join(", ")}`);
  const wanted = part === undefined || part === first ? "" : part;
  let isFound = false;
  for await (const { file, chunk } of chunks) {
    if (file === wanted) yield { file: "", chunk };
    else if (isFound) return;
    isFound ||= file === wanted;
  }
  if (!isFound) throw usage("this format has all parts in one file", "leave --part out, or use --format csv");
}

/**
 * The reports of a job, for the month before its fire time, each into the folder that it names or into the folder
 * `reports` beside the ledger; gives their paths, and the month.
 */
export async function writeReports(
  application: Application,
  job: BoundJob,
  fireTime: string | undefined,
): Promise<{ month: string; files: string[] }> {
  const { zone } = application.config;
  const month = monthBefore(fireTime === undefined ? application.clock.now() : Date.parse(fireTime), zone);
  const paths: string[] = [];
  for (const { kind, format, by, to } of job.reports) {
    const folder = to === undefined ? undefined : resolve(application.directory, to);
    const written = await monthReport(application, { kind, format, by, month, folder });
    application.logger.info(
      { job: job.id, report: kind, month, path: written[0], files: written.length },
      "report written",
    );
    paths.push(...written);
  }
  return { month, files: paths };
}

/** One report of a month into a folder, which is made where it is missing; gives the paths of its files. */
export async function monthReport(
  application: Application,
  report: { kind: string; format: string; by: PeriodBy; month: string; folder: string | undefined },
): Promise<string[]> {
  const { kind, format, by, month } = report;
  const folder = report.folder ?? join(dirname(application.ledgerPath), "reports");
  makePrivateFolder(folder, application.group);
  const tolerances = tolerancesOf(application.config.reports.tolerances);
  const request = { period: await periodOf(application, month), by, filters: {}, tolerances };
  requireAsked(statementKind(kind), request, format);
  const path = join(folder, `${kind}-${month}.${format}`);
  return await writeReport(application, statementKind(kind), request, { format, path });
}
