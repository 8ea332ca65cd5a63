import { exitCodes } from "../base/errors.ts";
import type { RunDependencies } from "./request.ts";

/**
 * Runs whose process died are ended with the state `interrupted`; what they left open is settled by the run that found
 * them.
 */
export async function endInterruptedRuns(deps: RunDependencies): Promise<string[]> {
  const runs = await deps.ledger.runs.interrupted();
  for (const run of runs) {
    const open = (await deps.ledger.journal.open()).filter((row) => row.runId === run.id);
    deps.logger.warn(
      { run: run.id, job: run.job, startedAt: run.startedAt, inDoubt: open.length },
      "a run was interrupted; crm-sync settles its open operations now",
    );
    await deps.ledger.runs.finish(run.id, {
      state: "interrupted",
      exitCode: exitCodes.other,
      balance: { operations: await deps.ledger.journal.statesOf(run.id, []) },
      summary: { inDoubt: open.map((row) => row.id) },
    });
  }
  return runs.map((run) => run.id);
}
