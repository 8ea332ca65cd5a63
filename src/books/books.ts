import { basename, join } from "node:path";
import { toInstant } from "../base/clock.ts";
import { exitCodes, Problem } from "../base/errors.ts";
import { makePrivateFolder } from "../base/private-files.ts";
import { programVersion } from "../base/program-version.ts";
import { openInquiry, type Inquiry } from "../inquiry/inquiry.ts";
import type { ClosedAs, SignedAs } from "../ledger/books/books.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { requireTrusted, type Application } from "../operate/application.ts";
import { writeFilesWhole } from "../operate/written-files.ts";
import type { Blocker, ClosedFileFacts, ClosingFacts, Signable } from "../report/books.ts";
import type { AuditHeadFacts } from "../report/facts.ts";
import { closedPeriod, parsePeriod, requireBegun } from "../report/statement/period.ts";
import { requireStatementFormat, type StatementFormat } from "../report/statement/render.ts";
import { statementKinds, type Period } from "../report/statement/shape.ts";
import { tolerancesOf } from "../report/statement/tolerances.ts";
import { fileNameOf } from "../report/statement/writer.ts";
import { headSigner, type SigningPlace } from "./audit-record.ts";
import { changed, FrozenFiles, requireAsClosed } from "./frozen-files.ts";
import { firstDifference, toleratedIn } from "./same-figures.ts";
import { filesOf, periodOf, type StatementFile } from "./statements.ts";

export type BooksPlace = Pick<Application, "existingLedger" | "inquiry" | "ledgerPath" | "group" | "clock"> &
  SigningPlace & {
    config: Pick<Application["config"], "zone" | "periods" | "reports">;
    header: Pick<Application["header"], "hash">;
  };

/** A reprint is compared with the JSON; the other formats are for people. */
const comparedFormat: StatementFormat = "json";

interface Whose {
  by: string;
  reason: string | undefined;
}

/** Blockers of closing a period, including those signed off. */
export async function blockersOf(application: BooksPlace, label: string): Promise<Blocker[]> {
  const inquiry = await application.inquiry();
  const period = await periodOf(application, label);
  return await inquiry.blockers(period, tolerancesOf(application.config.reports.tolerances));
}

/** Who signed off each; an earlier one stays. Throws a usage Problem for an unknown id or a period not begun. */
export async function signOff(
  application: BooksPlace,
  label: string,
  ids: readonly string[],
  whose: { by: string; reason: string },
): Promise<SignedAs[]> {
  const ledger = await application.existingLedger();
  const time = await requireTrusted(application, `nothing of ${label} can be signed off now`);
  const period = await periodOf(application, label);
  requireBegun(period, toInstant(time.epochMs));
  const standing: Signable[] = await blockersOf(application, label);
  const inquiry = await application.inquiry();
  const accepted = await inquiry.acceptable(period, ids);
  const chosen = [...new Set(ids)].flatMap((id) => {
    const found = [...standing, ...accepted].filter((one) => one.id === id);
    if (found.length > 0) return found;
    throw new Problem({
      code: "periods.no-blocker",
      message: `${label} has no blocker or open exception with the id ${JSON.stringify(id)}. Nothing was signed off`,
      cure:
        `\`crm-sync report blockers ${label}\` lists the ids of blockers. For exceptions, see the column ` +
        `sign_off_id of \`crm-sync report exceptions --period ${label} --part exceptions\``,
      exitCode: exitCodes.usage,
    });
  });
  return await ledger.books.signOff(label, chosen, whose, time);
}

export type Closed =
  | { closed: ClosedAs; files: readonly ClosedFileFacts[]; signedOff: readonly Blocker[] }
  | { closed: undefined; blockers: readonly Blocker[] };

/** Refuses while a blocker is not signed off. Holds the run lock (exit code 75 if it is taken). */
export async function closeBooks(application: BooksPlace, label: string, whose: Whose): Promise<Closed> {
  parsePeriod(label, application.config.zone);
  const ledger = await application.existingLedger();
  ledger.runs.takeLock();
  try {
    const time = await requireTrusted(application, `${label} cannot be closed now`);
    const period = await periodOf(application, label);
    const inquiry = await application.inquiry();
    const { asOf, blockers } = await cutOffOf(application, { ledger, inquiry }, period);
    const frozen = frozenFiles(application);
    frozen.tidy(await inquiry.frozenDigests());
    if (blockers.some(({ signedOff }) => signedOff === null)) return { closed: undefined, blockers };
    const { files, head } = await rendered(application, frozen, period, asOf);
    if (head === undefined) throw nothingWritten(label);
    const closed = await ledger.books.close(
      {
        period,
        asOf,
        head,
        program: programVersion(),
        configuration: application.header.hash,
        files,
        signedOff: blockers,
      },
      whose,
      time,
    );
    frozen.settle(new Set(files.map(({ sha256 }) => sha256)));
    return { closed, files, signedOff: blockers };
  } finally {
    ledger.runs.releaseLock();
  }
}

/** Renders the files as of a moment. After a failure, removes the files rendered so far. */
async function rendered(
  application: BooksPlace,
  frozen: FrozenFiles,
  period: Period,
  asOf: string,
): Promise<{ files: ClosedFileFacts[]; head: AuditHeadFacts | undefined }> {
  try {
    const found = await standing(application, asOf, async (then) => ({
      files: await freeze(application, then, frozen, { period, asOf }),
      head: await then.auditHead(),
    }));
    frozen.flush();
    return found;
  } catch (error) {
    frozen.settle(new Set());
    throw error;
  }
}

async function standing<T>(application: BooksPlace, asOf: string, ask: (inquiry: Inquiry) => Promise<T>): Promise<T> {
  const inquiry = openInquiry(application.ledgerPath, asOf);
  try {
    return await ask(inquiry);
  } finally {
    inquiry.close();
  }
}

async function freeze(
  application: BooksPlace,
  inquiry: Inquiry,
  frozen: FrozenFiles,
  { period, asOf }: { period: Period; asOf: string },
): Promise<ClosedFileFacts[]> {
  const tolerances = tolerancesOf(application.config.reports.tolerances);
  const request = { period, by: "happened", filters: {}, asOf, tolerances } as const;
  const sign = headSigner(application);
  const files: ClosedFileFacts[] = [];
  for (const kind of statementKinds)
    for (const format of formatsOf(application)) {
      const asked = `${kind}-${period.label}.${format}`;
      for await (const { file, chunks } of filesOf(inquiry.statement(kind, request, format, sign)))
        files.push({ name: fileNameOf(asked, file), kind, format, ...(await frozen.keep(chunks)) });
    }
  return files;
}

function formatsOf({ config }: BooksPlace): StatementFormat[] {
  return [...new Set([comparedFormat, ...config.periods.formats.map(requireStatementFormat)])];
}

function frozenFiles(application: BooksPlace): FrozenFiles {
  return new FrozenFiles(application.ledgerPath, application.group);
}

export interface Printed {
  closing: ClosingFacts;
  files: readonly ClosedFileFacts[];
  /** Statements whose recomputed figures differ from the frozen ones, with the first such line. */
  different: readonly { kind: string; line: number; frozen: string; now: string }[];
  /** Statements that were not recomputed, and why. Their bytes are still the frozen ones. */
  notCompared: readonly { kind: string; why: string }[];
}

/** Writes byte for byte, and recomputes the figures from the ledger as of then. Default: the last closing. */
export async function printBooks(
  application: BooksPlace,
  label: string,
  { closing: number, folder }: { closing?: number | undefined; folder: string },
): Promise<Printed> {
  const inquiry = await application.inquiry();
  const all = await inquiry.closings(label);
  const closing = number === undefined ? all.at(-1) : all.find((one) => one.closing === number);
  if (closing === undefined) throw notClosed(label, number);
  const files = await inquiry.closedFiles(label, closing.closing);
  await requireAsClosed(inquiry, closing, files);
  makePrivateFolder(folder, application.group);
  await writeFilesWhole(ofEach(frozenFiles(application), files), {
    pathOf: (name) => join(folder, name),
    what: "books",
    group: application.group,
  });
  return { closing, files, ...(await computedAnew(application, closing, files)) };
}

/** Names come from the ledger. None may lead out of the target folder. */
async function* ofEach(
  frozen: FrozenFiles,
  files: readonly ClosedFileFacts[],
): AsyncGenerator<StatementFile, void, void> {
  for (const { name } of files)
    if (basename(name) !== name || !/^\w/u.test(name))
      throw changed(
        `the ledger lists ${JSON.stringify(name)} as a file of a closed period, which is not a valid file name`,
      );
  for (const file of files) yield { file: file.name, chunks: await frozen.read(file) };
}

async function computedAnew(
  application: BooksPlace,
  closing: ClosingFacts,
  files: readonly ClosedFileFacts[],
): Promise<Pick<Printed, "different" | "notCompared">> {
  const { period: label, from, to, zone, asOf } = closing;
  const asked = { period: closedPeriod({ label, zone, from, to }), by: "happened", filters: {}, asOf } as const;
  const frozen = frozenFiles(application);
  try {
    return await standing(application, asOf, async (then) => {
      const different: Printed["different"][number][] = [];
      const notCompared: Printed["notCompared"][number][] = [];
      for (const { named, ...file } of comparedOf(files, label)) {
        const kind = statementKinds.find((one) => one === named);
        if (kind === undefined) {
          notCompared.push({ kind: named, why: "this program has no such statement" });
          continue;
        }
        // Uses the tolerances of that time; the configuration may have changed.
        const request = { ...asked, tolerances: await toleratedIn(await frozen.read(file)) };
        for await (const { chunks } of filesOf(then.statement(kind, request, comparedFormat))) {
          const found = await firstDifference(await frozen.read(file), chunks);
          if (found === "another version")
            notCompared.push({ kind, why: "another version of the program makes other columns of it" });
          else if (found !== undefined) different.push({ kind, ...found });
        }
      }
      return { different, notCompared };
    });
  } catch (error) {
    if (!(error instanceof Problem) || error.exitCode !== exitCodes.usage) throw error;
    const compared = comparedOf(files, label);
    return { different: [], notCompared: compared.map(({ named }) => ({ kind: named, why: error.message })) };
  }
}

/** The frozen JSON files, with the statement kind from their names. The closing's audit entry protects the names. */
function comparedOf(files: readonly ClosedFileFacts[], label: string): (ClosedFileFacts & { named: string })[] {
  const end = `-${label}.${comparedFormat}`;
  const compared = files.filter(({ name }) => name.endsWith(end));
  if (compared.length === 0) throw changed(`the closing of ${label} has no file with figures to compare`);
  return compared.map((file) => ({ ...file, named: file.name.slice(0, -end.length) }));
}

function nothingWritten(label: string): Problem {
  return new Problem({
    code: "periods.empty",
    message: `${label} cannot be closed: this ledger is still empty`,
    cure: "correct ledger.path in the configuration. If no job ever ran here, run one: `crm-sync run customers-and-orders`",
    exitCode: exitCodes.usage,
  });
}

function notClosed(label: string, closing: number | undefined): Problem {
  return new Problem({
    code: "periods.not-closed",
    message: closing === undefined ? `${label} was never closed` : `${label} has no closing ${closing}`,
    cure: "`crm-sync report closings` lists the closed periods",
    exitCode: exitCodes.usage,
  });
}

const mostTries = 5;

/**
 * Finds a moment for the figures after which nobody wrote until the blockers were counted, so that all sign-offs are in
 * the figures. Throws a Problem if somebody keeps writing.
 */
async function cutOffOf(
  { clock, config }: BooksPlace,
  { ledger, inquiry }: { ledger: Ledger; inquiry: Inquiry },
  period: Period,
): Promise<{ asOf: string; blockers: Blocker[] }> {
  const tolerances = tolerancesOf(config.reports.tolerances);
  for (let tries = 0; tries < mostTries; tries += 1) {
    // Waits, so that everything written before that millisecond is included, also the last sign-off.
    await clock.sleep(2);
    const asOf = toInstant(clock.now() - 1);
    ledger.books.requireClosable(period, asOf);
    const blockers = await inquiry.blockers(period, tolerances);
    const newest = await inquiry.auditHead();
    if (newest === undefined || newest.at <= asOf) return { asOf, blockers };
  }
  throw new Problem({
    code: "periods.written-meanwhile",
    message:
      `${period.label} was not closed: each time its blockers were counted, somebody wrote into the ledger, so the ` +
      "figures could miss the newest sign-offs",
    cure: `wait until nobody signs off or decides, then run \`crm-sync report close ${period.label}\` again`,
    exitCode: exitCodes.runActive,
  });
}
