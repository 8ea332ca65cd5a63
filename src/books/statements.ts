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

/** The chunks of the files of a statement. */
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

/** Throws a usage Problem for a format that there is not, and for dates of the CRM where a statement knows none. */
export function requireAsked(kind: StatementKind, { by }: StatementRequest, format: string): void {
  requireStatementFormat(format);
  const { happenedOnly }: Statement = statements[kind];
  if (by === "crm-date" && happenedOnly === true)
    throw usage(
      `${kind} counts by what happened alone: nothing in it has a date of the CRM`,
      "leave --date out (in a job: `by`)",
    );
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
  const chunks = reportChunks(application, kind, request, format);
  const files = part === undefined ? filesOf(chunks) : [{ file: "", chunks: partOf(kind, chunks, part) }];
  return await writeFilesWhole(files, {
    pathOf: (file) => fileNameOf(path, file),
    what: "report",
    group: application.group,
  });
}

/** The name of the first part of a statement. Throws a usage Problem for a part that there is not. */
function requirePart(kind: StatementKind, part: string | undefined): string | undefined {
  const parts: string[] = statements[kind].shape.parts.map(({ name }) => name);
  if (part === undefined || parts.includes(part)) return parts[0];
  throw usage(`${kind} has no part ${JSON.stringify(part)}`, `use one of: ${parts.join(", ")}`);
}

/** The chunks of one part alone; without a name those of the first. Throws a usage Problem where it has no file. */
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

/**
 * The reports of a job, for the month before its fire time, each into the folder that it names or into the folder
 * `reports` beside the ledger; gives their paths.
 */
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

/** One of the files that a statement is written into. Its chunks are taken before the next file is asked for. */
export interface StatementFile {
  file: string;
  chunks: AsyncIterable<string | Buffer>;
}

/** The files of a statement, one after the other, as their chunks come. */
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
      // What was not taken of it is passed over.
      while ((await own.next()).done !== true);
    }
  } finally {
    await from.return?.();
  }
}

/**
 * A period as it is asked for, in the configured zone; it joins the closed one before it. Throws a usage Problem for
 * what is no period.
 */
export async function periodOf(
  application: Pick<Application, "inquiry"> & { config: Pick<Application["config"], "zone"> },
  label: string,
): Promise<Period> {
  const period = parsePeriod(label, application.config.zone);
  const inquiry = await application.inquiry();
  return await inquiry.joinedPeriod(period);
}

/** The months from the one in which the ledger began to this one, as a person writes them. */
export async function monthsKnown(application: Application): Promise<string> {
  const now = toInstant(application.clock.now());
  const began = await (await application.inquiry()).began();
  return [began ?? now, now].map((at) => periodLike("2026-10", at, application.config.zone)).join("..");
}

/** A statement as pages offer it. */
interface OfferedStatement {
  kind: string;
  title: string;
  about: string;
  /** The tables that it has; in CSV each is a file of its own. */
  parts: { name: string; title: string }[];
}

/** The statements that pages offer. */
export function offeredStatements(): OfferedStatement[] {
  return Object.entries(statements).map(([kind, { shape }]) => ({
    kind,
    title: shape.title,
    about: shape.about,
    parts: shape.parts.map(({ name, title }) => ({ name, title })),
  }));
}

/** What was asked for of a statement, checked, and how a process of its own is asked for it. */
interface AskedStatement {
  kind: StatementKind;
  format: StatementFormat;
  /** The name that its file gets where it is saved. */
  name: string;
  read: Pick<LongRead, "what" | "words">;
}

/** Throws a usage Problem for a period, a kind, a format or a part that there is not. */
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
