import { dirname, join, resolve } from "node:path";
import { toInstant } from "../base/clock.ts";
import { usage } from "../base/errors.ts";
import { makePrivateFolder } from "../base/private-files.ts";
import { openInquiry, type Inquiry } from "../inquiry/inquiry.ts";
import { statements, type Statement, type StatementKind } from "../inquiry/statement/statement.ts";
import type { Application } from "../operate/application.ts";
import type { BoundJob } from "../operate/job.ts";
import type { LongRead } from "../operate/long-reads.ts";
import { writeFilesWhole } from "../operate/written-files.ts";
import { monthBefore, parsePeriod, periodLike } from "../report/statement/period.ts";
import { requireStatementFormat, type StatementFormat } from "../report/statement/render.ts";
import type { Period, PeriodBy, StatementRequest } from "../report/statement/shape.ts";
import { tolerancesOf } from "../report/statement/tolerances.ts";
import { fileNameOf, type FileChunk } from "../report/statement/writer.ts";
import { headSigner } from "./audit-record.ts";

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

export async function* reportChunks(
  application: Application,
  kind: StatementKind,
  request: StatementRequest,
  format: string,
): AsyncGenerator<FileChunk, void, void> {
  const known = requireStatementFormat(format);
  const sign = headSigner(application);
  if (request.asOf === undefined) {
    yield* (await application.inquiry()).statement(kind, request, known, sign);
    return;
  }
  application.requireLedger();
  const then: Inquiry = openInquiry(application.ledgerPath, request.asOf);
  try {
    yield* then.statement(kind, request, known, sign);
  } finally {
    then.close();
  }
}

/** Throws a usage Problem for an unknown format, and for CRM dates in a statement that has none. */
export function requireAsked(kind: StatementKind, { by }: StatementRequest, format: string): void {
  requireStatementFormat(format);
  const { happenedOnly }: Statement = statements[kind];
  if (by === "crm-date" && happenedOnly === true)
    throw usage(
      `${kind} counts by what happened alone: nothing in it has a date of the CRM`,
      "leave --date out (in a job: `by`)",
    );
}

export async function writeReport(
  application: Application,
  kind: StatementKind,
  request: StatementRequest,
  { format, path, part }: { format: string; path: string; part?: string | undefined },
): Promise<string[]> {
  const chunks = reportChunks(application, kind, request, format);
  const files = part === undefined ? filesOf(chunks) : [{ file: "", chunks: partOf(kind, chunks, part) }];
  return await writeFilesWhole(files, {
    pathOf: (file) => fileNameOf(path, file),
    what: "report",
    group: application.group,
  });
}

function requirePart(kind: StatementKind, part: string | undefined): string | undefined {
  const parts: string[] = statements[kind].shape.parts.map(({ name }) => name);
  if (part === undefined || parts.includes(part)) return parts[0];
  throw usage(`${kind} has no part ${JSON.stringify(part)}`, `use one of: ${parts.join(", ")}`);
}

/** The chunks of one part; default: the first. Throws a usage Problem if the format has no separate parts. */
export async function* partOf(
  kind: StatementKind,
  chunks: AsyncIterable<FileChunk>,
  part: string | undefined,
): AsyncGenerator<string, void, void> {
  const first = requirePart(kind, part);
  const wanted = part === undefined || part === first ? "" : part;
  let isFound = false;
  for await (const { file, chunk } of chunks) {
    if (file === wanted) yield chunk;
    else if (isFound) return;
    isFound ||= file === wanted;
  }
  if (!isFound) throw usage("this format has all parts in one file", "leave --part out, or use --format csv");
}

/** Writes the reports of a job for the month before its fire time. Default folder: `reports` beside the ledger. */
export async function writeReports(
  application: Application,
  job: BoundJob,
  fireTime: string | undefined,
): Promise<string[]> {
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
  return paths;
}

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

/** Take all `chunks` before the next file. */
export interface StatementFile {
  file: string;
  chunks: AsyncIterable<string | Buffer>;
}

export async function* filesOf(chunks: AsyncIterable<FileChunk>): AsyncGenerator<StatementFile, void, void> {
  const from = chunks[Symbol.asyncIterator]();
  try {
    let next = await from.next();
    while (next.done !== true) {
      const { file } = next.value;
      async function* ofFile(): AsyncGenerator<string, void, void> {
        while (next.done !== true && next.value.file === file) {
          yield next.value.chunk;
          next = await from.next();
        }
      }
      const own = ofFile();
      yield { file, chunks: own };
      while ((await own.next()).done !== true);
    }
  } finally {
    await from.return?.();
  }
}

/** In the configured zone, joined to the closed period before it. Throws a usage Problem. */
export async function periodOf(
  application: Pick<Application, "inquiry"> & { config: Pick<Application["config"], "zone"> },
  label: string,
): Promise<Period> {
  const period = parsePeriod(label, application.config.zone);
  const inquiry = await application.inquiry();
  return await inquiry.joinedPeriod(period);
}

export async function monthsKnown(application: Application): Promise<string> {
  const now = toInstant(application.clock.now());
  const began = await (await application.inquiry()).began();
  return [began ?? now, now].map((at) => periodLike("2026-10", at, application.config.zone)).join("..");
}

interface OfferedStatement {
  kind: string;
  title: string;
  about: string;
  parts: { name: string; title: string }[];
}

export function offeredStatements(): OfferedStatement[] {
  return Object.entries(statements).map(([kind, { shape }]) => ({
    kind,
    title: shape.title,
    about: shape.about,
    parts: shape.parts.map(({ name, title }) => ({ name, title })),
  }));
}

/** A checked request, and the form in which another process gets it. */
interface AskedStatement {
  kind: StatementKind;
  format: StatementFormat;
  name: string;
  read: Pick<LongRead, "what" | "words">;
}

/** Throws a usage Problem for an unknown period, kind, format or part. */
export function askedStatement(
  zone: string,
  {
    period,
    kind: named,
    format: asked,
    part,
  }: Record<"period" | "kind" | "format", string> & { part?: string | undefined },
): AskedStatement {
  parsePeriod(period, zone);
  const kind = statementKind(named);
  const format = requireStatementFormat(asked);
  const first = requirePart(kind, part);
  const ofPart = part === undefined || part === first ? [] : ["--part", part];
  return {
    kind,
    format,
    name: fileNameOf(`${kind}-${period}.${format}`, ofPart[1] ?? ""),
    read: {
      what: `the statement ${kind} of ${period}`,
      words: ["report", kind, `--period=${period}`, `--format=${format}`, ...ofPart],
    },
  };
}
