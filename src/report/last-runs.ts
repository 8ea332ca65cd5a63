import { isJsonObject, type Json } from "../base/canonical-json.ts";
import { z } from "zod";
import type { RunFacts } from "./facts.ts";
import { whenDown } from "./next-steps.ts";
import { serviceTrouble } from "./open.ts";
import { counted } from "./text.ts";

export interface RunTrouble {
  kind: "does-not-balance" | "run-failed" | "not-as-placed" | "service-down" | "clock";
  what: string;
  next: string;
  count: number;
}

type LastRun = Pick<RunFacts, "id" | "job" | "kind" | "state" | "exitCode" | "summary">;

/** Only a person starts runs of these kinds, and these jobs, which no configuration names. */
const byHandOnly = { kinds: ["plan", "requests", "rebuild"], jobs: ["apply", "resync"] };

/** Whether only a person starts such a run. That person sees the outcome at once, so nobody else needs an alert. */
export function byHand(run: Pick<RunFacts, "kind" | "job">): boolean {
  return byHandOnly.kinds.includes(run.kind) || byHandOnly.jobs.includes(run.job);
}

/** Runs of a job that is no longer configured: no later run ends their problems. */
export function isOfJobs(jobs: readonly string[]): (run: Pick<RunFacts, "kind" | "job">) => boolean {
  return (run) => jobs.includes(run.job) || byHand(run);
}

/**
 * Problems of the last run of each job. A later run of any job that trusted the clock ends the doubt of the others. Who
 * started a run by hand saw that it failed.
 */
export function troublesOf<Run extends LastRun>(
  lastRuns: readonly Run[],
): { run: Run; troubles: RunTrouble[]; clockEnded: boolean }[] {
  const trusted = lastRuns.filter(trustedClock).reduce((newest, { id }) => (id > newest ? id : newest), "");
  return lastRuns.map((run) => {
    const isOver = (kind: RunTrouble["kind"]): boolean =>
      kind === "clock" ? run.id < trusted : kind === "run-failed" && byHand(run);
    return { run, troubles: troubleOf(run).filter(({ kind }) => !isOver(kind)), clockEnded: run.id < trusted };
  });
}

function trustedClock({ state, kind, summary }: LastRun): boolean {
  return state === "done" && kind !== "plan" && kind !== "rebuild" && !clockDoubt.safeParse(summary).success;
}

/**
 * Problems of a job's last run, for `status`, `/healthz` and alerts. Customers that a stopped run did not reach are not
 * a problem: the next run reaches them.
 */
export function troubleOf(run: LastRun): RunTrouble[] {
  const troubles: RunTrouble[] = [];
  const next = `crm-sync run show ${run.id}`;
  const add = (kind: RunTrouble["kind"], what: string, count = 1, cure = next): void => {
    troubles.push({ kind, what, next: cure, count });
  };
  if (run.exitCode === 6) add("does-not-balance", `the last run of ${run.job} (${run.id}) does not balance`);
  else if (run.state === "failed") add("run-failed", `the last run of ${run.job} (${run.id}) failed`);
  else if (run.state === "interrupted" && !byHand(run))
    add("run-failed", `the last run of ${run.job} (${run.id}) was interrupted`);
  const clock = clockDoubt.safeParse(run.summary);
  if (clock.success) {
    const { message, cure } = clock.data.clock;
    add("clock", `nothing was ended or removed by time in the last run of ${run.job}, as ${message}`, 1, cure);
  }
  if (byHand(run)) return troubles;
  const different = differencesIn(run.summary);
  if (different > 0)
    add(
      "not-as-placed",
      `the last run of ${run.job} found differences between the ledger and the platform: ${different}`,
      different,
      `${next}; crm-sync report reconciliation has each of them. Nothing is sent again by itself`,
    );
  const unreached = run.state === "stopped" ? 0 : unreachedIn(run.summary);
  if (unreached > 0)
    add(
      "service-down",
      `the last run of ${run.job} did not reach ${counted(unreached, "customer")}: ${whyUnreached(run.summary)}`,
      unreached,
      whenDown,
    );
  return troubles;
}

function whyUnreached(summary: Json): string {
  const left = z.object({ open: z.array(waitsForService) }).safeParse(summary);
  return serviceTrouble(left.success ? left.data.open : []) ?? "a service did not answer, or did not let crm-sync in";
}

const waitsForService = z.object({ code: z.string(), examples: z.array(z.object({ reason: z.string() })) });

const clockDoubt = z.object({ clock: z.object({ message: z.string(), cure: z.string() }) });

function differencesIn(summary: Json): number {
  const counts = verifyCounts.safeParse(summary);
  return counts.success ? Object.values(counts.data.findings.counts).reduce((sum, count) => sum + count, 0) : 0;
}

const verifyCounts = z.object({ findings: z.object({ counts: z.record(z.string(), z.int()) }) });

/** `customers.unreadable` of a sync, `failed` of a verify. */
function unreachedIn(summary: Json): number {
  if (!isJsonObject(summary)) return 0;
  const { customers, failed } = summary;
  if (typeof failed === "number") return failed;
  if (!isJsonObject(customers)) return 0;
  return typeof customers["unreadable"] === "number" ? customers["unreadable"] : 0;
}
