import { accessSync, constants, existsSync, lstatSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { exitCodes, Problem } from "../../base/errors.ts";
import { lockBeside } from "./lock.ts";

/** A folder for what is not finished, for its owner alone. */
export interface HeldFolder {
  readonly path: string;
  /** Removes it with what is in it. */
  release(): void;
}

const beginning = "crm-sync-unfinished-";
const mostTries = 20;

/**
 * Where what is read from a ledger may be for a moment: beside it, where erasure looks. Who is not its owner makes
 * nothing there that the owner could not remove: that and a folder that only reads leave the temporary folder.
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

/**
 * Makes a folder inside another one. It holds a lock that the system frees when the
 * process dies, however it dies: what a dead process left is removed first.
 */
export function holdFolder(parent: string): HeldFolder {
  removeAbandoned(parent);
  for (let tries = 1; ; tries += 1) {
    const path = mkdtempSync(join(parent, beginning));
    const lock = lockOf(path);
    // Until it was locked, somebody else may have taken it for abandoned.
    if (lock === undefined && tries < mostTries) continue;
    if (lock === undefined) throw notHeld(parent);
    const release = (): void => {
      rmSync(path, { recursive: true, force: true });
      lock.release();
    };
    return { path, release };
  }
}

/** Whether something in a folder is one that is held, or was. */
export function isHeldFolder(name: string): boolean {
  return name.startsWith(beginning);
}

/** Removes folders of this user whose process is dead; `before` is told of what is in each. */
export function removeAbandoned(parent: string, before: (names: string[]) => void = () => {}): void {
  for (const name of namesIn(parent).filter(isHeldFolder)) {
    const path = join(parent, name);
    const lock = lockOf(path);
    if (lock === undefined) continue;
    try {
      before(namesIn(path));
      rmSync(path, { recursive: true, force: true });
    } catch {
      // It is in nobody's way: whoever starts next tries again.
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

/** The lock of such a folder; undefined where a living process has it, it is gone, or it is no folder of this user. */
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
