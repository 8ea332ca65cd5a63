import Database from "better-sqlite3";
import { exitCodes, messageOf, Problem } from "../../base/errors.ts";
import type { Host } from "../../base/host.ts";
import { createPrivateFile } from "../../base/private-files.ts";
import { databaseProblem } from "./damage.ts";
import type { Sqlite } from "./database.ts";

/**
 * The lock of the run: an exclusive transaction on a file beside the ledger. The system frees it when the process dies,
 * however it dies.
 */
export interface RunLock {
  /** Which taking of the lock this is; checked in every group the writer commits. */
  readonly epoch: number;
  /** Who holds it, as `Host` has it. */
  readonly holder: string | undefined;
  release(): void;
}

/**
 * Takes the run lock or throws a Problem with exit code 75 at once. The epoch is raised inside the ledger, so that a
 * process that was paused while another took over can no longer write.
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

/** Whether somebody holds the run lock of a ledger. */
export function isRunLockHeld(ledgerPath: string): boolean {
  try {
    lockBeside(ledgerPath, ".lock", {
      code: "run.active",
      what: "a run is in progress for",
      cure: "wait for it",
    }).release();
    return false;
  } catch (error) {
    if (error instanceof Problem && error.code === "run.active") return true;
    throw error;
  }
}

/**
 * Holds the file beside the ledger with that ending until it is released or the process dies. Throws a Problem with
 * exit code 75 at once where another has it: `what` begins its message, which goes on with the ledger's path.
 */
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

/** The key under which `meta` counts how often the run lock was taken. */
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
