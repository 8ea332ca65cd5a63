import Database from "better-sqlite3";
import { exitCodes, messageOf, Problem } from "../../base/errors.ts";
import type { Host } from "../../base/host.ts";
import { createPrivateFile } from "../../base/private-files.ts";
import { databaseProblem } from "./damage.ts";
import type { Sqlite } from "./database.ts";

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
