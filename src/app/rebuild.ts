import { copyFileSync, existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ExitCode } from "../base/errors.ts";
import { headsPath } from "../ledger/audit/audit-heads.ts";
import { copyWhileWritten } from "../ledger/database/backup.ts";
import { holdFolder } from "../ledger/database/held-folder.ts";
import { requireUnused, runRebuild } from "../recovery/rebuild.ts";
import type { RebuildSummary } from "../recovery/rebuild.ts";
import type { Application } from "./application.ts";
import { underRunLock } from "./run-lock.ts";

interface Shown {
  /** Who has it rebuilt. */
  by: string;
  dryRun: boolean;
  signal: AbortSignal;
  show: (summary: RebuildSummary) => void;
}

/**
 * Builds the ledger anew from the platform and the sources. With `dryRun` a ledger in a folder of its own is built, and
 * goes again: what it came to is shown, and nothing is kept.
 */
export async function rebuild(application: Application, { by, dryRun, signal, show }: Shown): Promise<ExitCode> {
  await application.ledger({ fillsGap: true });
  const dependencies = await application.runDependencies();
  const request = { limits: application.config.limits, signal, header: application.runHeader(), by };
  return await underRunLock(application, async () => {
    if (!dryRun) {
      const summary = await runRebuild(dependencies, request);
      show(summary);
      return summary.exitCode;
    }
    await requireUnused(dependencies.ledger);
    const folder = holdFolder(dirname(application.ledgerPath));
    try {
      const path = join(folder.path, "ledger.db");
      // Of a restored ledger a copy is rebuilt, with the heads that say what it lacks.
      if (dependencies.ledger.gap.isOpen()) {
        await copyWhileWritten(application.ledgerPath, path, () => {});
        if (existsSync(headsPath(application.ledgerPath)))
          copyFileSync(headsPath(application.ledgerPath), headsPath(path));
      }
      return await rebuildAt(path);
    } finally {
      folder.release();
    }
  });

  async function rebuildAt(path: string): Promise<ExitCode> {
    const ledger = await application.ledgerAt(path, { fillsGap: true });
    try {
      ledger.runs.takeLock();
      const summary = await runRebuild({ ...dependencies, ledger }, request);
      show(summary);
      return summary.exitCode;
    } finally {
      ledger.close();
    }
  }
}
