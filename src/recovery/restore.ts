import { createReadStream, existsSync, readdirSync, renameSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { canonicalJson, toJson } from "../base/canonical-json.ts";
import { toInstant } from "../base/clock.ts";
import { exitCodes, messageOf, Problem } from "../base/errors.ts";
import { flushFile, keepReadOnly, makePrivateFolder } from "../base/private-files.ts";
import { openRegular, UnfitFile } from "../base/regular-file.ts";
import { headsPath, KeptHeads, lastMark } from "../ledger/audit/audit-heads.ts";
import { ledgerFacts, noteRestored, saidAfter, type SaidSince } from "../ledger/database/backup.ts";
import { schemaVersion } from "../ledger/database/database.ts";
import { holdFolder, type HeldFolder, lockBeside } from "../ledger/database/lock.ts";
import { openSuffixes } from "../ledger/database/ledger-file.ts";
import { booksFolder, makeLedgerFolder, type Application } from "../operate/application.ts";
import { writeNew, writeWhole } from "../operate/written-files.ts";
import { digestOf, readManifest, requireSigned, type BackupManifest } from "./backup-manifest.ts";
import { verifiedCopy } from "./backup.ts";

/** The changes after the backup, by the file of heads beside the ledger. */
type Gap =
  | { kind: "none" }
  | { kind: "known"; commits: number; entries: number; at: string }
  /** There is no file of heads. */
  | { kind: "unknown" };

interface Restored {
  path: string;
  manifest: BackupManifest;
  gap: Gap;
  aside: string | undefined;
  periods: number;
  /** People erased after the backup: their data exists again. */
  erased: string[];
  paused: SaidSince["paused"];
  /** Parts of the previous ledger that could not be read. */
  unread: SaidSince["unread"];
}

/**
 * Replaces the ledger with a backup. First checks a copy page by page: manifest, signature, schema, audit log. The old
 * ledger and the file of heads stay. Until `rebuild`, no other command may write, because missing orders would be
 * placed twice. Throws a Problem and changes nothing if the backup is not trusted, a run is in progress, or the ledger
 * is another one.
 */
export async function restoreBackup(
  application: Application,
  file: string,
  verifiers: readonly string[],
): Promise<Restored> {
  const manifest = readManifest(file);
  requireSigned(application, file, manifest, verifiers);
  requireKnown(file, manifest);
  if (!existsSync(file)) throw changed(file, "the file is missing");
  const { ledgerPath, group } = application;
  makeLedgerFolder(ledgerPath, application.config.ledger.group);
  const held = lockBeside(ledgerPath, ".lock", {
    code: "run.active",
    what: "nothing was restored, because a run is using",
    cure: "wait until the run ends, stop every crm-sync process, also `crm-sync serve`, then restore again",
  });
  let work: HeldFolder | undefined;
  try {
    const name = requireSameLedger(ledgerPath, manifest);
    work = holdFolder(dirname(ledgerPath));
    const fresh = join(work.path, "ledger.db");
    await writeNew(fresh, createReadStream(file, { fd: openRegular(file) }), group);
    await requireWhole(fresh, file, manifest);
    const gap = gapOf(ledgerPath, fresh, manifest);
    const periods = await missingBooks(ledgerPath, file, manifest);
    const at = toInstant(application.clock.now());
    const { erased, paused, unread } = saidSince(ledgerPath, manifest);
    const note = { backup: manifest.file, at, unknown: gap.kind === "unknown" };
    noteRestored(fresh, gap.kind === "none" ? undefined : note, { name, paused });
    flushFile(fresh);
    // Marked before anything moves, so that a restore that stops here does not start a new ledger.
    if (gap.kind === "unknown") markBehind(ledgerPath, manifest, at);
    const aside = putAside(ledgerPath, at);
    renameSync(fresh, ledgerPath);
    flushFile(dirname(ledgerPath));
    for (const { from, to } of periods) {
      makePrivateFolder(dirname(to), group);
      await writeWhole(to, createReadStream(from, { fd: openRegular(from) }), { what: "periods", group });
      keepReadOnly(to, group);
    }
    return { path: ledgerPath, manifest, gap, aside, periods: periods.length, erased, paused, unread };
  } catch (error) {
    if (error instanceof UnfitFile) throw changed(file, error.message);
    if (error instanceof Problem || !(error instanceof Error) || !("syscall" in error)) throw error;
    throw new Problem({
      code: "restore.cannot-write",
      message: `the backup could not be written to ${ledgerPath}: ${messageOf(error)}`,
      cure:
        "check that this user may write there and that the disk has room. The old ledger still exists, there or " +
        "beside it",
      exitCode: exitCodes.other,
      place: ledgerPath,
      cause: error,
    });
  } finally {
    work?.release();
    held.release();
  }
}

function requireKnown(file: string, { schema, program }: BackupManifest): void {
  if (schema === schemaVersion) return;
  throw new Problem({
    code: "backup.unknown-version",
    message: `nothing was restored: ${file} was made by crm-sync ${program}, and this version cannot read it`,
    cure: `install version ${program} of crm-sync, then restore the backup again`,
    exitCode: exitCodes.ledgerRefused,
    place: file,
  });
}

async function requireWhole(fresh: string, file: string, manifest: BackupManifest): Promise<void> {
  const { sha256, bytes } = await digestOf(fresh);
  if (bytes !== manifest.bytes) throw changed(file, `it has ${bytes} bytes instead of ${manifest.bytes}`);
  if (sha256 !== manifest.sha256) throw changed(file, "its SHA-256 is not the one in its manifest");
  const found = await verifiedCopy(
    fresh,
    () => [],
    ({ code, why }) => changed(file, `${why} (${code})`),
  );
  const { ledger, schema, commits, audit } = manifest;
  if (canonicalJson(toJson(found)) !== canonicalJson(toJson({ ledger, schema, commits, audit })))
    throw changed(file, "its last audit entry is not the one in its manifest");
}

function changed(file: string, why: string): Problem {
  return new Problem({
    code: "backup.changed",
    message: `${file} is not the file that the backup wrote: ${why}. Nothing was restored`,
    cure: "restore another backup",
    exitCode: exitCodes.ledgerRefused,
    place: file,
  });
}

/** Throws for a backup of another ledger. Returns the ledger's name; null if it has none or cannot be read. */
function requireSameLedger(ledgerPath: string, manifest: BackupManifest): string | null {
  const name = nameOf(ledgerPath) ?? null;
  if (name === null || manifest.ledger === null || name === manifest.ledger) return name;
  throw new Problem({
    code: "restore.other-ledger",
    message: `nothing was restored: the backup is of ledger ${manifest.ledger}, but ${ledgerPath} is ledger ${name}`,
    cure: "set ledger.path to another file, or first move that ledger and its .heads file to another folder",
    exitCode: exitCodes.ledgerRefused,
    place: ledgerPath,
  });
}

function nameOf(ledgerPath: string): string | null | undefined {
  if (sizeOf(ledgerPath) === 0) return undefined;
  try {
    return ledgerFacts(ledgerPath).name;
  } catch {
    // A damaged ledger is a reason to restore.
    return undefined;
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function saidSince(ledgerPath: string, { audit }: BackupManifest): SaidSince {
  const path = lastLedger(ledgerPath);
  return path === undefined ? { erased: [], paused: undefined, unread: [] } : saidAfter(path, audit?.sequence ?? 0);
}

/** An interrupted restore may have moved the ledger aside already. */
function lastLedger(ledgerPath: string): string | undefined {
  if (sizeOf(ledgerPath) > 0) return ledgerPath;
  const [, ...beside] = openSuffixes;
  const begins = basename(asideOf(ledgerPath, ""));
  const names = readdirSync(dirname(ledgerPath)).filter(
    (name) => name.startsWith(begins) && !beside.some((suffix) => name.endsWith(suffix)),
  );
  const paths = names.sort().map((name) => join(dirname(ledgerPath), name));
  return paths.findLast((path) => sizeOf(path) > 0);
}

function asideOf(ledgerPath: string, at: string): string {
  return `${ledgerPath}.before-${at.replaceAll(/[-:]/gu, "")}`;
}

function gapOf(ledgerPath: string, fresh: string, manifest: BackupManifest): Gap {
  const last = lastMark(headsPath(ledgerPath));
  if (last === undefined) return { kind: "unknown" };
  const isOfIt = last.sequence === 0 || ledgerFacts(fresh, last.sequence).hash === last.hash;
  if (isOfIt && last.commit <= manifest.commits) return { kind: "none" };
  const entries = Math.max(0, last.sequence - (manifest.audit?.sequence ?? 0));
  return { kind: "known", commits: Math.max(0, last.commit - manifest.commits), entries, at: last.at };
}

function markBehind(ledgerPath: string, { commits, audit }: BackupManifest, at: string): void {
  const heads = new KeptHeads(ledgerPath);
  const { sequence, hash, root } = audit ?? { sequence: 0, hash: "", root: undefined };
  heads.keep({ commit: commits + 1, sequence, hash, root }, at);
  heads.close();
}

/** Moves the ledger last, after SQLite's files beside it, so that the moved ledger is complete. */
function putAside(ledgerPath: string, at: string): string | undefined {
  const aside = asideOf(ledgerPath, at);
  let moved = false;
  for (const suffix of openSuffixes.toReversed()) {
    if (!existsSync(ledgerPath + suffix)) continue;
    renameSync(ledgerPath + suffix, aside + suffix);
    moved = true;
  }
  return moved ? aside : undefined;
}

async function missingBooks(
  ledgerPath: string,
  file: string,
  { periods }: BackupManifest,
): Promise<{ from: string; to: string }[]> {
  const missing = periods.map((name) => ({
    name,
    from: join(dirname(file), booksFolder, name),
    to: join(dirname(ledgerPath), booksFolder, name),
  }));
  const wanted = missing.filter(({ to }) => !existsSync(to));
  for (const { name, from } of wanted)
    if (!existsSync(from) || (await digestOf(from)).sha256 !== name)
      throw changed(file, `the file ${name} of its closed periods is missing beside it, or was changed`);
  return wanted;
}
