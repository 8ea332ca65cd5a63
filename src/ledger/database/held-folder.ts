import { accessSync, constants, existsSync, lstatSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { exitCodes, Problem } from "../../base/errors.ts";
import { lockBeside } from "./lock.ts";

export interface HeldFolder {
  readonly path: string;
  release(): void;
}

const beginning = "crm-sync-unfinished-";
const mostTries = 20;

/**
 * Beside the ledger, where erasure looks. The temporary folder if this user is not the owner or may not write there.
 */
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
