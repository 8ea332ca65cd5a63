import { dirname, join } from "node:path";
import { toInstant } from "../base/clock.ts";
import { exitCodes, Problem } from "../base/errors.ts";
import { programVersion } from "../base/program-version.ts";
import { openInquiry } from "../inquiry/inquiry.ts";
import type { Inquiry } from "../inquiry/inquiry.ts";
import type { StatementKind } from "../inquiry/statement/statements.ts";
import type { ClosedAs } from "../ledger/books/books.ts";
import type { Blocker, ClosedFileFacts, ClosingFacts } from "../report/books.ts";
import { parsePeriod } from "../report/statement/period.ts";
import { requireStatementFormat } from "../report/statement/render.ts";
import type { StatementFormat } from "../report/statement/render.ts";
import type { Period } from "../report/statement/shape.ts";
import { fileNameOf } from "../report/statement/writer.ts";
import type { Application } from "./application.ts";
import { FrozenFiles } from "./frozen-files.ts";
import { firstDifference } from "./same-figures.ts";
import { filesOf } from "./statement-files.ts";
import { writeWhole } from "./written-files.ts";

/** What of the application closing needs. */
export type BooksPlace = Pick<Application, "existingLedger" | "inquiry" | "ledgerPath" | "group" | "clock"> & {
  config: Pick<Application["config"], "zone" | "books">;
  header: Pick<Application["header"], "hash">;
};

/** The statements of closed books. */
export const closedKinds: readonly StatementKind[] = [
  "orders",
  "entitlements",
  "bridge",
  "reconciliation",
  "corrections",
  "exceptions",
  "activity",
  "run",
];

/** JSON is what a reprint is compared with; the others are for people. */
const comparedFormat: StatementFormat = "json";

/** A person, and their reason where one is given. */
interface Whose {
  by: string;
  reason: string | undefined;
}

/** What stands in the way of closing a period, with what was signed off. */
export async function blockersOf(application: BooksPlace, label: string): Promise<Blocker[]> {
  const period = parsePeriod(label, application.config.zone);
  return await (await application.inquiry()).blockers(period);
}

/** Signs off blockers by their ids. Throws a usage Problem for one that does not stand in the way. */
export async function signOff(
  application: BooksPlace,
  label: string,
  ids: readonly string[],
  whose: { by: string; reason: string },
): Promise<Blocker[]> {
  const ledger = await application.existingLedger();
  const standing = await blockersOf(application, label);
  const chosen = ids.map((id) => {
    const found = standing.find((blocker) => blocker.id === id);
    if (found !== undefined) return found;
    throw new Problem({
      code: "books.no-blocker",
      message: `nothing named ${JSON.stringify(id)} stands in the way of closing ${label}`,
      cure: `\`crm-sync report blockers ${label}\` lists what does`,
      exitCode: exitCodes.usage,
    });
  });
  await ledger.books.signOff(label, chosen, whose);
  return chosen;
}

/** What closing came to: the closing, or what stands in its way. */
export type Closed =
  | { closed: ClosedAs; files: readonly ClosedFileFacts[]; signedOff: readonly Blocker[] }
  | { closed: undefined; blockers: readonly Blocker[] };

/**
 * Closes a period: renders its statements as of now, freezes the files, and writes down what they stand on. Nothing is
 * closed while something stands in the way that nobody signed off. No run is on meanwhile (exit code 75).
 */
export async function closeBooks(application: BooksPlace, label: string, whose: Whose): Promise<Closed> {
  const period = parsePeriod(label, application.config.zone);
  const ledger = await application.existingLedger();
  ledger.runs.takeLock();
  try {
    // Everything that was written up to the millisecond before this one is there, and nothing is added to it.
    const asOf = toInstant(application.clock.now() - 1);
    ledger.books.requireClosable(period, asOf);
    const inquiry = await application.inquiry();
    const blockers = await inquiry.blockers(period);
    if (blockers.some(({ signedOff }) => signedOff === null)) return { closed: undefined, blockers };
    const { files, head } = await standing(application, asOf, async (then) => ({
      files: await freeze(application, then, period, asOf),
      head: await then.auditHead(),
    }));
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
    );
    return { closed, files, signedOff: blockers };
  } finally {
    ledger.runs.releaseLock();
  }
}

/** Asks the ledger as it stood at a moment, on a connection of its own. */
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
  period: Period,
  asOf: string,
): Promise<ClosedFileFacts[]> {
  const frozen = frozenFiles(application);
  const request = { period, by: "happened", filters: {}, asOf } as const;
  const files: ClosedFileFacts[] = [];
  for (const kind of closedKinds)
    for (const format of formatsOf(application)) {
      const asked = `${kind}-${period.label}.${format}`;
      for await (const { file, chunks } of filesOf(inquiry.statement(kind, request, format, asked)))
        files.push({ name: fileNameOf(asked, file), kind, format, ...(await frozen.keep(chunks)) });
    }
  return files;
}

function formatsOf({ config }: BooksPlace): StatementFormat[] {
  return [...new Set([comparedFormat, ...config.books.formats.map(requireStatementFormat)])];
}

/** The folder of frozen files: beside the ledger. */
function frozenFiles(application: BooksPlace): FrozenFiles {
  return new FrozenFiles(join(dirname(application.ledgerPath), "books"), application.group);
}

/** What printing closed books again came to. */
export interface Printed {
  closing: ClosingFacts;
  files: readonly ClosedFileFacts[];
  /** Where the figures, computed anew, are not those that were frozen: the statement, and the first line of it. */
  different: readonly { kind: string; line: number; frozen: string; now: string }[];
}

/**
 * Writes the frozen files of a closing into a folder that is there, byte for byte, and computes their figures anew from
 * the ledger as it was then. Without a number it is the last closing.
 */
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
  const frozen = frozenFiles(application);
  for (const file of files)
    await writeWhole(join(folder, file.name), await frozen.read(file), { what: "books", group: application.group });
  const { from, to, zone, asOf } = closing;
  const request = { period: { label, zone, from, to }, by: "happened", filters: {}, asOf } as const;
  const different = await standing(application, asOf, async (then) => {
    const found: Printed["different"][number][] = [];
    for (const file of files.filter(({ format }) => format === comparedFormat)) {
      const kind = closedKinds.find((one) => one === file.kind);
      if (kind === undefined) continue;
      for await (const { chunks } of filesOf(then.statement(kind, request, comparedFormat, file.name))) {
        const first = await firstDifference(await frozen.read(file), chunks);
        if (first !== undefined) found.push({ kind, ...first });
      }
    }
    return found;
  });
  return { closing, files, different };
}

function nothingWritten(label: string): Problem {
  return new Problem({
    code: "books.empty",
    message: `${label} cannot be closed: nothing was ever written in this ledger`,
    cure: "run a job first, such as `crm-sync run customers-and-orders`, or name the right file in ledger.path",
    exitCode: exitCodes.usage,
  });
}

function notClosed(label: string, closing: number | undefined): Problem {
  return new Problem({
    code: "books.not-closed",
    message: closing === undefined ? `${label} was never closed` : `${label} has no closing ${closing}`,
    cure: "`crm-sync report closings` lists what is closed",
    exitCode: exitCodes.usage,
  });
}
