import { programVersion } from "../base/program-version.ts";
import { toInstant } from "../base/clock.ts";
import { exitCodes, Problem, usage } from "../base/errors.ts";
import type { ExitCode } from "../base/errors.ts";
import { heldOfPlans } from "../engine/gate.ts";
import { TrustedClock } from "../engine/run/trusted-clock.ts";
import { planUndoRun } from "../engine/run/undo-run.ts";
import type { UndoSummary } from "../engine/run/undo-run.ts";
import type { Application } from "./application.ts";
import { planFormat, requirePlanPlace, writePlanFile } from "./plan-file.ts";
import { underRunLock } from "./run-lock.ts";

/**
 * Plans what takes a run back, `last` for the newest one that carried something out, shows it while the run lock is
 * held, and saves it to a file where one is named. Sends nothing but reads.
 */
export async function undoByHand(
  application: Application,
  named: string,
  {
    out,
    signal,
    show,
  }: { out: string | undefined; signal: AbortSignal; show: (summary: UndoSummary & { heldOfFile: number }) => void },
): Promise<ExitCode> {
  requirePlanPlace(out);
  const ledger = await application.existingLedger();
  const id = named === "last" ? await ledger.journal.newestRunWithDone() : named;
  if (id === undefined) throw usage("no run of this ledger carried anything out", "there is nothing to take back");
  const undone = await ledger.runs.byId(id);
  if (undone === undefined) throw unknownRun(id);
  const dependencies = await application.runDependencies();
  return await underRunLock(application, async () => {
    const header = application.runHeader();
    const time = new TrustedClock(dependencies);
    let heldOfFile = 0;
    const save = async ({ run, plans }: UndoSummary): Promise<void> => {
      if (out === undefined) return;
      const { limits } = application.config;
      const held = await heldOfPlans({ ...dependencies, time, limits: limits.removals }, plans);
      heldOfFile = held.size;
      const kept = plans.map(({ plan }) => ({ plan, shown: undefined }));
      await writePlanFile(
        ledger,
        out,
        {
          type: "plan",
          format: planFormat,
          version: programVersion(),
          ledger: await ledger.identity.name(),
          run,
          at: toInstant(application.clock.now()),
          config: application.header.hash,
          private: "withheld",
          undo: id,
        },
        kept,
        held,
      );
    };
    const summary = await planUndoRun(dependencies, { header, signal, undone }, save);
    show({ ...summary, heldOfFile });
    return summary.exitCode;
  });
}

function unknownRun(id: string): Problem {
  return new Problem({
    code: "run.unknown",
    message: `there is no run ${id}`,
    cure: "`crm-sync runs` lists the last runs",
    exitCode: exitCodes.usage,
  });
}
