import Database from "better-sqlite3";
import { exitCodes, messageOf, Problem } from "../../base/errors.ts";
import type { Host } from "../../base/host.ts";
import { createPrivateFile } from "../../base/private-files.ts";
import { databaseProblem } from "./damage.ts";
import type { Sqlite } from "./database.ts";
import { accessSync, constants, existsSync, lstatSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export interface RunLock {
  /** The number of this lock. Every group of the writer checks it. */
  readonly epoch: number;
  readonly holder: string | undefined;
  release(): void;
}

/**
 * The system frees this lock when the process dies. Throws a Problem with exit code 75 if it is taken. The raised epoch
 * stops a suspended process from writing after another took over.
 */
export function takeRunLock(ledgerPath: string, ledger: Sqlite, host: Host): RunLock {
  const held = lockBeside(ledgerPath, ".lock", {
    code: "run.active",
    what: "another run is in progress for the ledger",
    cure: "wait for it to end, or stop it; `crm-sync status --all` shows it",
  });
  try {
    return { epoch: raiseEpoch(ledger), holder: host.holderOf(`${ledgerPath}.lock`), release: held.release };
  } catch (error) {
    held.release();
    throw databaseProblem(error, ledgerPath);
  }
}

/** True also for a lock that this user may not look at. */
export function isRunLockHeld(ledgerPath: string): boolean {
  const path = `${ledgerPath}.lock`;
  let side: Sqlite | undefined;
  try {
    side = new Database(path, { readonly: true, timeout: 0 });
    side.prepare("select 1 from sqlite_schema").get();
    return false;
  } catch {
    return existsSync(path);
  } finally {
    side?.close();
  }
}

/** Throws a Problem with exit code 75 if another has the file. `what` starts the message; the ledger's path follows. */
export function lockBeside(
  ledgerPath: string,
  ending: string,
  taken: { code: string; what: string; cure: string },
): { release: () => void } {
  const path = `${ledgerPath}${ending}`;
  let side: Sqlite | undefined;
  try {
    createPrivateFile(path);
    const held = new Database(path, { timeout: 0 });
    side = held;
    held.exec("begin exclusive");
    return {
      release: () => {
        if (held.open) held.close();
      },
    };
  } catch (error) {
    side?.close();
    if (!(error instanceof Database.SqliteError) || !error.code.startsWith("SQLITE_BUSY"))
      throw databaseProblem(error, path);
    throw new Problem({
      code: taken.code,
      message: `${taken.what} ${ledgerPath} (${messageOf(error)})`,
      cure: taken.cure,
      exitCode: exitCodes.runActive,
      place: path,
      cause: error,
    });
  }
}

export const epochKey = "epoch";

function raiseEpoch(ledger: Sqlite): number {
  const raise = ledger.transaction(() => {
    const next = readEpoch(ledger) + 1;
    ledger
      .prepare(
        "insert into meta (key, value) values ('epoch', ?) on conflict (key) do update set value = excluded.value",
      )
      .run(String(next));
    return next;
  });
  return raise.immediate();
}

function readEpoch(ledger: Sqlite): number {
  const row = ledger.prepare<[], { value: string }>("select value from meta where key = 'epoch'").get();
  return Number(row?.value ?? "0");
}

export interface HeldFolder {
  readonly path: string;
  release(): void;
}

const beginning = "crm-sync-unfinished-";
const mostTries = 20;

/** Beside the ledger, where erasure looks; the temporary folder if this user is not the owner or may not write. */
export function momentaryFolder(ledgerPath: string): string {
  const folder = dirname(ledgerPath);
  const now = statSync(ledgerPath, { throwIfNoEntry: false });
  return now !== undefined && isOwn(now.uid) && isWritable(folder) ? folder : tmpdir();
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function isOwn(uid: number): boolean {
  return uid === (process.geteuid?.() ?? uid);
}

/** The system frees the folder's lock when the process dies. First removes folders of dead processes. */
export function holdFolder(parent: string): HeldFolder {
  removeAbandoned(parent);
  for (let tries = 1; ; tries += 1) {
    const path = mkdtempSync(join(parent, beginning));
    const lock = lockOf(path);
    // Before the lock, another process may have removed the folder as abandoned.
    if (lock === undefined && tries < mostTries) continue;
    if (lock === undefined) throw notHeld(parent);
    const release = (): void => {
      rmSync(path, { recursive: true, force: true });
      lock.release();
    };
    return { path, release };
  }
}

/** Whether this name belongs to a held folder, living or abandoned. */
export function isHeldFolder(name: string): boolean {
  return name.startsWith(beginning);
}

/** Removes this user's folders of dead processes. `before` gets the names inside each. */
export function removeAbandoned(parent: string, before: (names: string[]) => void = () => {}): void {
  for (const name of namesIn(parent).filter(isHeldFolder)) {
    const path = join(parent, name);
    const lock = lockOf(path);
    if (lock === undefined) continue;
    try {
      before(namesIn(path));
      rmSync(path, { recursive: true, force: true });
    } catch {
    } finally {
      lock.release();
    }
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Undefined if a living process holds the lock, or if this is no folder of this user. */
function lockOf(path: string): { release: () => void } | undefined {
  try {
    const now = lstatSync(path);
    if (!now.isDirectory() || !isOwn(now.uid)) return undefined;
    const lock = lockBeside(join(path, "held"), ".lock", { code: "folder.held", what: "somebody holds", cure: "wait" });
    if (existsSync(join(path, "held.lock"))) return lock;
    lock.release();
    return undefined;
  } catch {
    return undefined;
  }
}

function notHeld(parent: string): Problem {
  return new Problem({
    code: "folder.cannot-hold",
    message: `crm-sync cannot make and lock a folder for temporary files in ${parent}`,
    cure: "check that this user may write there, and that the file system supports file locks",
    exitCode: exitCodes.other,
    place: parent,
  });
}
