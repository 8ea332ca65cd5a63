import { hashOf } from "../base/canonical-json.ts";
import { exitCodes, Problem, usage } from "../base/errors.ts";
import { decide, type Decision, type PersonsVerdict } from "../engine/settle-by-person.ts";
import { isAssumptionId } from "../engine/model/assumptions-met.ts";
import { typeOf } from "../engine/model/registry.ts";
import { TrustedClock } from "../engine/run/trusted-clock.ts";
import type { PauseWord } from "../ledger/pause.ts";
import type { Unread } from "../ledger/records/source-reads.ts";
import type { Correction } from "../ledger/time/correct-stamps.ts";
import { underRunLock, type Application, type LockPlace } from "../operate/application.ts";
import { streamsOf } from "../operate/job.ts";
import { SnapshotReader } from "../platform/snapshot.ts";

interface Whose {
  by: string;
  reason: string;
}

export interface GivenDecision {
  id: string;
  verdict: PersonsVerdict;
  reason: string;
}

/** Returns the function for one decision. A failed decision throws a Problem and stops no other. */
export async function openDecisions(
  application: Application,
  by: string,
  signal: AbortSignal,
): Promise<(given: GivenDecision) => Promise<Decision>> {
  const dependencies = await application.runDependencies();
  await application.requirePlatform();
  const time = new TrustedClock(dependencies);
  const reader = new SnapshotReader(dependencies.platform, dependencies.settings);
  return async ({ id, verdict, reason }) => {
    if (signal.aborted) throw stoppedBefore(id);
    return await decide({ ...dependencies, time, reader }, id, { verdict, reason, by }, signal);
  };
}

function stoppedBefore(id: string): Problem {
  return new Problem({
    code: "settle.stopped",
    message: `the operation ${id} was not decided, because the command was stopped`,
    cure: "run the command again; earlier decisions are kept",
  });
}

/** Leaves out E9, which settles by itself. */
export async function openOperationsOf(application: Application, run: string): Promise<string[]> {
  const inquiry = await application.inquiry();
  const wanted = run === "last" ? (await inquiry.runs({ limit: 1 }))[0]?.id : run;
  const found: string[] = [];
  for await (const row of inquiry.unsettled())
    if (row.runId === wanted && typeOf(row).onUnknown.by !== "lost") found.push(row.id);
  if (found.length === 0)
    throw usage(
      `the run ${run} has no operation with an unknown outcome`,
      "`crm-sync settle list` lists those of all runs",
    );
  return found;
}

interface Seen {
  since: string;
  evidence: string;
  about: readonly string[];
}

/** Identifies the contradiction that a page showed. */
export function contradictionMark({ since, evidence, about }: Seen): string {
  return hashOf([since, evidence, [...about]]);
}

/** Throws a usage Problem for a wrong row, and if the contradiction is not the one that the person saw (`shown`). */
export async function acceptAssumption(
  application: Pick<Application, "existingLedger">,
  row: string,
  whose: Whose,
  shown?: string,
): Promise<void> {
  const listed = "`crm-sync assumptions` lists them";
  if (!isAssumptionId(row)) throw usage(`${row} is no row of A1–A43`, listed);
  const ledger = await application.existingLedger();
  const requireShown = (standing: Seen): void => {
    if (shown !== undefined && shown !== contradictionMark(standing)) throw notShown(row);
  };
  if (!(await ledger.assumptions.accept(row, whose, requireShown)))
    throw usage(`${row} is not contradicted, so there is nothing to accept`, listed);
}

function notShown(row: string): Problem {
  return new Problem({
    code: "accept.not-shown",
    message: `the answers that contradict the assumption ${row} changed after you opened the page. Nothing was accepted`,
    cure: "open the page again, read the answers, then decide",
    exitCode: exitCodes.usage,
  });
}

/** The grace is added to the time that a call may take. */
const lookEveryMs = 100;
const graceMs = 10_000;

/** `goingOn`: calls that had started before. */
type PauseResult = PauseWord & { isNew: boolean; goingOn: number };

/** Stops all writing calls, in every process. Waits for calls in progress, as long as one may take. */
export async function pause(
  application: Pick<Application, "existingLedger" | "clock" | "config">,
  whose: Whose,
  signal: AbortSignal,
): Promise<PauseResult> {
  const ledger = await application.existingLedger();
  const word = await ledger.pause.begin(whose);
  const { orderService, memberCenter } = application.config;
  const { clock } = application;
  const until = clock.monotonic() + Math.max(orderService.callTimeoutMs, memberCenter.callTimeoutMs) + graceMs;
  while (ledger.pause.goingOn > 0 && clock.monotonic() < until && !signal.aborted)
    await clock.sleep(lookEveryMs, signal).catch(() => {});
  return { ...word, goingOn: ledger.pause.goingOn };
}

/** Throws a Problem if no service agrees with the computer's clock, or (75) if a run is in progress. */
export async function correctClock(
  application: LockPlace & Pick<Application, "requireLedger" | "runDependencies">,
  whose: Whose,
): Promise<Correction> {
  application.requireLedger();
  const dependencies = await application.runDependencies();
  return await underRunLock(application, async () => {
    const clock = new TrustedClock(dependencies);
    const time = await clock.agreed();
    if (time !== undefined) return await dependencies.ledger.time.correct(time, whose);
    const { message = "", cure = "" } = clock.doubt ?? {};
    throw new Problem({
      code: "clock.not-trusted",
      message: `nothing was corrected: ${message}`,
      cure,
      exitCode: exitCodes.recordsRejected,
    });
  });
}

/** Without `to` lets go of the records. Throws a usage Problem if there are none, and a Problem (75) during a run. */
export async function reassign(
  application: Pick<Application, "existingLedger" | "sources" | "jobs">,
  { from, to }: { from: string; to: string | undefined },
  whose: Whose,
): Promise<Unread[]> {
  const { runs, records } = await application.existingLedger();
  const streams = streamsOf(application.sources(), application.jobs());
  runs.takeLock();
  try {
    await records.configureStreams(streams);
    const left = (await records.removedSources.unread()).filter(({ source }) => source === from);
    if (left.length === 0)
      throw usage(
        `no record is left of a source ${from} that is configured no longer`,
        "`crm-sync status` lists the records that no source reads",
      );
    const given =
      to === undefined
        ? left
        : left.filter(({ stream }) => streams.some((one) => one.source === to && one.stream === stream));
    if (given.length === 0) {
      const all = left.map(({ stream }) => stream).join(", ");
      throw usage(`no source ${to} is configured that gives ${all}`, "name one that does, in place of the removed one");
    }
    await records.removedSources.reassign(given, to, whose);
    return given;
  } finally {
    runs.releaseLock();
  }
}
