import { dirname, join } from "node:path";
import { openInquiry } from "../inquiry/inquiry.ts";
import type { Inquiry } from "../inquiry/inquiry.ts";
import { copyWhileWritten } from "../ledger/database/backup.ts";
import { holdFolder } from "../ledger/database/held-folder.ts";
import type { RunDependencies } from "../engine/run/request.ts";
import type { Application } from "./application.ts";

/** Where a plan is made. */
export interface PlanPlace {
  dependencies: RunDependencies;
  /** Questions to the ledger that the plan is made in. */
  inquiry: Inquiry;
}

/** Whether records are read or mapped otherwise than in the last run: such a plan is a trial, and must not be kept. */
export async function isTrial(application: Application, { ledger }: RunDependencies): Promise<boolean> {
  const runs = [...(await ledger.runs.lastByJob()).values()].filter(({ kind }) => kind === "sync");
  const [last] = runs.toSorted((one, other) => (one.startedAt < other.startedAt ? 1 : -1));
  return last !== undefined && last.header["sources"] !== application.sourcesHash;
}

/** Does the work on a copy of the ledger, which is removed afterwards: nothing that it reads or decides is kept. */
export async function onCopy<T>(application: Application, work: (place: PlanPlace) => Promise<T>): Promise<T> {
  const folder = holdFolder(dirname(application.ledgerPath));
  try {
    const path = join(folder.path, "ledger.db");
    await copyWhileWritten(application.ledgerPath, path, () => {});
    const ledger = await application.ledgerAt(path);
    try {
      ledger.runs.takeLock();
      const inquiry = openInquiry(path);
      try {
        return await work({ dependencies: await application.runDependencies(ledger), inquiry });
      } finally {
        inquiry.close();
      }
    } finally {
      ledger.close();
    }
  } finally {
    folder.release();
  }
}
