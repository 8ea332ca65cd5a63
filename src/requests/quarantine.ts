import { exitCodes, Problem } from "../base/errors.ts";
import { QuarantineRetries, type Retried } from "../ingest/retry.ts";
import type { QuarantineGroup } from "../inquiry/quarantine.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Application } from "../operate/application.ts";
import type { QuarantineFacts } from "../report/facts.ts";
import { isSuspectCode } from "../report/next-steps.ts";

type ChosenRows = string | { group: QuarantineGroup | undefined; after?: RowBefore | undefined; limit: number };
export type RowBefore = Pick<QuarantineFacts, "firstSeen" | "id">;

/**
 * During a run the rows only get marked, and their source maps them. Returns the results of those that still waited.
 * A retry accepts a suspect, so a retry of all rows leaves suspects out.
 */
export async function retryQuarantine(application: Application, chosen: ChosenRows, by: string): Promise<Retried[]> {
  const { ids, suspects } = await chosenRows(application, chosen);
  const ledger = await application.existingLedger();
  const results = isBusy(ledger) ? await leave(ledger, ids, by) : await mapAnew(application, ledger, ids, by);
  const leftOut = suspects.map((id): Retried => ({ kind: "left-out", id }));
  return [...results.filter((result) => result.kind !== "unknown"), ...leftOut];
}

async function chosenRows(
  application: Application,
  chosen: ChosenRows,
): Promise<{ ids: string[]; suspects: string[] }> {
  if (chosen !== "all" && typeof chosen === "string") return { ids: [chosen], suspects: [] };
  const inquiry = await application.inquiry();
  if (chosen !== "all" && chosen.group !== undefined) {
    const { group, after, limit } = chosen;
    return { ids: (await inquiry.quarantineOfGroup(group, { after, limit })).map((row) => row.id), suspects: [] };
  }
  const limit = chosen === "all" ? Infinity : chosen.limit;
  const rows = { ids: new Array<string>(), suspects: new Array<string>() };
  for (const { id, code, state } of inquiry.quarantine()) {
    if (rows.ids.length === limit) break;
    (isSuspectCode(code) && state === "open" ? rows.suspects : rows.ids).push(id);
  }
  return rows;
}

/** A run in progress may be working on the same customers. */
async function leave(ledger: Ledger, ids: readonly string[], by: string): Promise<Retried[]> {
  const results: Retried[] = [];
  for (const id of ids)
    if (await ledger.records.retry.mark(id, by)) results.push({ kind: "waits-for-source", id, why: "a run is on" });
  return results;
}

async function mapAnew(
  application: Application,
  ledger: Ledger,
  ids: readonly string[],
  by: string,
): Promise<Retried[]> {
  const results: Retried[] = [];
  try {
    const sources = application.sources();
    const retries = new QuarantineRetries({ ledger, sources, settings: application.config.assumptions });
    for (const one of ids) results.push(await retries.retry(one, by));
    return results;
  } finally {
    ledger.runs.releaseLock();
  }
}

/** If no run is in progress, takes the run lock. */
function isBusy(ledger: Ledger): boolean {
  try {
    ledger.runs.takeLock();
    return false;
  } catch (error) {
    if (error instanceof Problem && error.exitCode === exitCodes.runActive) return true;
    throw error;
  }
}
