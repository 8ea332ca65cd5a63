import { existsSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { toInstant } from "../base/clock.ts";
import { exitCodes, messageOf, Problem } from "../base/errors.ts";
import { flushFile, keepPrivate, keepReadOnly, makePrivateFolder } from "../base/private-files.ts";
import { programVersion } from "../base/program-version.ts";
import { TrustedTime, type ClockDoubt } from "../base/trusted-time.ts";
import { FrozenFiles, requireAsClosed } from "../books/frozen-files.ts";
import { openInquiry } from "../inquiry/inquiry.ts";
import { headsPath, readKeptHeads } from "../ledger/audit/audit-heads.ts";
import type { KeptHead } from "../ledger/audit/audit-log.ts";
import type { AuditFinding } from "../ledger/audit/verify-log.ts";
import { copyWhileWritten, requireIntact, type CopiedLedger } from "../ledger/database/backup.ts";
import { holdFolder, type HeldFolder } from "../ledger/database/lock.ts";
import { booksFolder, pathFrom, trustedNow, type Application } from "../operate/application.ts";
import { writeNew } from "../operate/written-files.ts";
import {
  backupsIn,
  digestOf,
  manifestForm,
  manifestPathOf,
  removeUnfinished,
  signedManifest,
  type BackupManifest,
} from "./backup-manifest.ts";

export interface MadeBackup {
  path: string;
  manifest: BackupManifest;
  removed: string[];
  /** Why nothing was removed: the clock is not trusted. */
  clock?: ClockDoubt | undefined;
}

interface BackupRequest {
  /** Relative to the configuration; created if missing. */
  to: string;
  keep?: number | undefined;
  progress?: (done: number, total: number) => void;
}

/**
 * Copies the ledger and closed periods, also during a run. The manifest is written last, after all pages, the audit
 * log and the period files are checked. With a trusted clock, older backups are then removed. Throws a Problem and
 * leaves only complete period files.
 */
export async function makeBackup(application: Application, request: BackupRequest): Promise<MadeBackup> {
  application.requireLedger();
  const { ledgerPath, clock, group } = application;
  const folder = pathFrom(application.directory, request.to);
  const at = toInstant(clock.now());
  const stem = basename(ledgerPath).replace(/\.db$/u, "");
  const path = join(folder, `${stem}-${at.replaceAll(/[-:]/gu, "")}.db`);
  if (existsSync(path))
    throw new Problem({
      code: "backup.in-the-way",
      message: `the backup ${path} exists already. No new backup was made`,
      cure: "run the command again in a second: the name of a backup is its time",
      exitCode: exitCodes.other,
      place: path,
    });
  let work: HeldFolder | undefined;
  try {
    makePrivateFolder(folder, group);
    removeUnfinished(folder);
    work = holdFolder(folder);
    const unfinished = join(work.path, basename(path));
    await copyWhileWritten(ledgerPath, unfinished, request.progress ?? (() => {}));
    const headsUpTo = (last: number): KeptHead[] =>
      readKeptHeads(headsPath(ledgerPath)).filter(({ sequence }) => sequence <= last);
    const verified = await verifiedCopy(unfinished, headsUpTo, (found) => recordChanged(ledgerPath, found));
    flushFile(unfinished);
    const periods = await copyBooks(application, unfinished, folder);
    const { sha256, bytes } = await digestOf(unfinished);
    const made = { at, program: programVersion(), file: basename(path), bytes, sha256, periods };
    const manifest = signedManifest(application, { form: manifestForm, ...verified, ...made });
    keepPrivate(unfinished, group);
    await writeNew(manifestPathOf(unfinished), [`${JSON.stringify(manifest, undefined, 2)}\n`], group);
    renameSync(unfinished, path);
    renameSync(manifestPathOf(unfinished), manifestPathOf(path));
    flushFile(folder);
    return { path, manifest, ...(await removeOlder(application, folder, { ...manifest, path }, request.keep)) };
  } catch (error) {
    takeAway([path, manifestPathOf(path)]);
    throw notMade(folder, error);
  } finally {
    work?.release();
  }
}

function recordChanged(ledgerPath: string, { code, why }: AuditFinding): Problem {
  return new Problem({
    code: "backup.record-changed",
    message: `no backup was made: the audit log of the ledger ${ledgerPath} was changed or damaged (${code}): ${why}`,
    cure: "keep all earlier backups; `crm-sync audit verify` shows the details",
    exitCode: exitCodes.ledgerRefused,
    place: ledgerPath,
  });
}

/** Copies missing files of closed periods and returns their names. Throws a Problem if a file is missing or changed. */
async function copyBooks({ ledgerPath, group }: Application, copy: string, folder: string): Promise<string[]> {
  const frozen = new FrozenFiles(ledgerPath, group);
  const to = join(folder, booksFolder);
  const named = await namedIn(copy);
  if (named.size > 0) makePrivateFolder(to, undefined);
  for (const [sha256, name] of named) {
    const bytes = await frozen.read({ name, sha256 });
    const kept = join(to, sha256);
    if (existsSync(kept) && (await digestOf(kept)).sha256 === sha256) continue;
    const made = join(dirname(copy), sha256);
    await writeNew(made, bytes, undefined);
    if ((await digestOf(made)).sha256 !== sha256)
      throw new Problem({
        code: "backup.periods-changed",
        message: `the file ${name} of a closed period changed while it was copied. No backup was made`,
        cure: "find out who changed the file; `crm-sync report print PERIOD` checks it against the audit log",
        exitCode: exitCodes.ledgerRefused,
        place: made,
      });
    keepReadOnly(made, undefined);
    renameSync(made, kept);
  }
  if (named.size > 0) flushFile(to);
  return [...named.keys()].toSorted();
}

async function namedIn(copy: string): Promise<ReadonlyMap<string, string>> {
  const named = new Map<string, string>();
  const inquiry = openInquiry(copy);
  try {
    for (const closing of await inquiry.closings()) {
      const files = await inquiry.closedFiles(closing.period, closing.closing);
      await requireAsClosed(inquiry, closing, files);
      for (const { name, sha256 } of files) named.set(sha256, name);
    }
  } finally {
    inquiry.close();
  }
  return named;
}

/** Never removes the new backup. Backups from the future have an unknown age: they stay and do not count. */
async function removeOlder(
  application: Application,
  folder: string,
  made: { ledger: string | null; path: string },
  keep: number | undefined,
): Promise<Pick<MadeBackup, "removed" | "clock">> {
  if (keep === undefined) return { removed: [] };
  const time = await trustedNow(application);
  if (!(time instanceof TrustedTime)) return { removed: [], clock: time };
  const now = toInstant(time.epochMs);
  const older = backupsIn(application, folder, made.ledger).filter(
    ({ path, manifest }) => path !== made.path && manifest.at <= now,
  );
  const gone = older.slice(0, Math.max(0, older.length - (keep - 1)));
  // The manifest goes first: without it a copy counts for nothing.
  for (const { path } of gone) for (const file of [manifestPathOf(path), path]) rmSync(file, { force: true });
  return { removed: gone.map(({ path }) => path) };
}

/** Errors are ignored, so that the first error is reported. */
function takeAway(files: readonly string[]): void {
  for (const file of files) {
    try {
      rmSync(file, { force: true });
    } catch {
      return;
    }
  }
}

function notMade(folder: string, error: unknown): unknown {
  if (error instanceof Problem) return error;
  return new Problem({
    code: "backup.cannot-write",
    message: `no backup was made: ${folder} cannot be written (${messageOf(error)})`,
    cure:
      "check that the folder exists, that this user may write in it and that the disk has room for a copy of the " +
      "ledger",
    exitCode: exitCodes.other,
    place: folder,
    cause: error,
  });
}

/** Checks a copy page by page, with its schema, audit log and heads. Throws `refuse` for the first fault. */
export async function verifiedCopy(
  copy: string,
  heads: (sequence: number) => readonly KeptHead[],
  refuse: (finding: AuditFinding) => Error,
): Promise<CopiedLedger & Pick<BackupManifest, "ledger" | "audit">> {
  const far = requireIntact(copy);
  const inquiry = openInquiry(copy);
  try {
    const head = await inquiry.auditHead();
    const { integrity, completeness } = await inquiry.auditVerdicts(heads(head?.sequence ?? 0));
    const bad = [integrity, completeness].find((verdict) => verdict.good === false);
    if (bad?.good === false) throw refuse(bad);
    const ledger = await inquiry.ledgerName();
    if (head === undefined) return { ...far, ledger, audit: null };
    const { sequence, hash, size, root } = head;
    return { ...far, ledger, audit: { sequence, hash, size, root } };
  } finally {
    inquiry.close();
  }
}
