import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ExitCode } from "../base/errors.ts";
import { streams } from "../crm/model.ts";
import { copyLedger } from "../ledger/database/copy.ts";
import type { ChangedForm } from "../ledger/records/stored-forms.ts";
import { rulesOf } from "../plan/rules.ts";
import { planRun } from "../run/plan-run.ts";
import type { Planned, PlanSummary } from "../run/plan-run.ts";
import { storedSource } from "../run/stored-source.ts";
import type { StoredCount } from "../run/stored-source.ts";
import type { Application } from "./application.ts";
import type { Scope } from "./by-hand.ts";
import { platformName } from "./platform-name.ts";

interface WhatIf {
  signal: AbortSignal;
  showPlan: (planned: Planned) => void;
  show: (summary: PlanSummary, changed: readonly ChangedForm[], count: StoredCount) => void;
}

/**
 * Plans from the stored raw forms what the configuration of this application would change, on a copy of the ledger in a
 * private folder that is removed in any case. No source is read, nothing is sent but reads, and the ledger itself is
 * only read.
 */
export async function planFromStored(
  application: Application,
  scope: Scope,
  { signal, showPlan, show }: WhatIf,
): Promise<ExitCode> {
  application.requireLedger();
  const folder = mkdtempSync(join(tmpdir(), "crm-sync-stored-"));
  try {
    const path = join(folder, "ledger.db");
    copyLedger(application.ledgerPath, path);
    const ledger = await application.ledgerAt(path);
    try {
      ledger.runs.takeLock();
      await ledger.identity.requirePlatform(await platformName(application));
      const count: StoredCount = { mapped: 0, left: 0 };
      const own = await application.runDependencies(ledger);
      const sources = own.sources.map((source) => storedSource(source, ledger, count));
      await ledger.records.wakeRules(rulesOf(own.policies));
      const { limits } = application.config;
      // Forms that were taken once are mapped as they are.
      const acceptDrift = sources.map(({ name }) => name);
      const header = application.runHeader();
      const request = {
        job: "plan",
        trigger: "hand" as const,
        streams,
        limits,
        signal,
        header,
        scope,
        read: true,
        acceptDrift,
      };
      const summary = await planRun({ ...own, ledger, sources }, request, showPlan);
      show(summary, await ledger.records.changedIn(summary.run), count);
      return summary.exitCode;
    } finally {
      ledger.runs.releaseLock();
      ledger.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
