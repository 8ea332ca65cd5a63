import Database from "better-sqlite3";
import { exitCodes, messageOf, Problem } from "../../base/errors.ts";
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
  release(): void;
}

/**
 * Takes the run lock or throws a Problem with exit code 75 at once. The epoch is raised inside the ledger, so that a
 * process that was paused while another took over can no longer write.
 */
export function takeRunLock(ledgerPath: string, ledger: Sqlite): RunLock {
  const held = lockSideFile(ledgerPath);
  try {
    return {
      epoch: raiseEpoch(ledger),
      release: () => {
        if (held.open) held.close();
      },
    };
  } catch (error) {
    held.close();
    throw databaseProblem(error, ledgerPath);
  }
}

function lockSideFile(ledgerPath: string): Sqlite {
  const path = `${ledgerPath}.lock`;
  let side: Sqlite | undefined;
  try {
    createPrivateFile(path);
    side = new Database(path, { timeout: 0 });
    side.exec("begin exclusive");
    return side;
  } catch (error) {
    side?.close();
    if (!(error instanceof Database.SqliteError) || !error.code.startsWith("SQLITE_BUSY"))
      throw databaseProblem(error, path);
    throw new Problem({
      code: "run.active",
      message: `another run is on for the ledger ${ledgerPath} (${messageOf(error)})`,
      cure: "wait for it to end, or stop it; `crm-sync status` shows it",
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
