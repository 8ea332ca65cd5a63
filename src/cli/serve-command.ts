import type { ExitCode } from "../base/errors.ts";
import { Problem } from "../base/errors.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { RunRow } from "../ledger/runs.ts";
import { Schedule } from "../run/schedule.ts";
import { cronTicker } from "../run/schedule-ticker.ts";
import type { SlotStore } from "../run/schedule.ts";
import type { Health } from "../run/health.ts";
import { byHand, troubleOf } from "../report/last-runs.ts";
import { ok, withWorkplace } from "./command.ts";
import type { Invocation } from "./command.ts";
import { executeJob } from "./run-commands.ts";
import type { Workplace } from "./workplace.ts";

/** `serve`: runs the jobs on their schedule and answers /healthz, until SIGTERM or SIGINT; a run that is on is stopped cleanly. */
export async function serveCommand(invocation: Invocation): Promise<ExitCode> {
  return await withWorkplace(invocation, async (workplace) => {
    const ledger = await workplace.ledger();
    const jobs = workplace.jobs();
    const schedule = new Schedule({
      jobs,
      store: slotStore(ledger),
      clock: workplace.clock,
      logger: workplace.logger,
      ticker: cronTicker(workplace.clock),
      execute: async ({ job, slot, signal }) => {
        try {
          await executeJob(workplace, job, "schedule", signal, { slot, print: false });
          return (await ledger.unfinishedFireTimes(job.id)).includes(slot) ? "unfinished" : "done";
        } catch (error) {
          if (error instanceof Problem && error.code === "run.active") return "busy";
          throw error;
        }
      },
    });
    const health = await invocation.startHealth({
      settings: workplace.config.serve,
      clock: workplace.clock,
      logger: workplace.logger,
      read: () => readHealth(workplace, ledger, schedule),
    });
    workplace.output.note(
      `crm-sync serves ${jobs.filter((job) => job.schedule !== undefined).length} scheduled job(s); health at ${health.url}/healthz`,
    );
    schedule.start();
    const broken = await untilStopped(invocation.signal, ledger, workplace, schedule);
    workplace.logger.info({}, "stopping");
    await schedule.stop();
    await health.close();
    if (broken !== undefined) throw broken;
    return ok;
  });
}

function slotStore(ledger: Ledger): SlotStore {
  return {
    claim: (job, slot) => ledger.claimSlot(job, slot),
    last: (job) => ledger.lastSlot(job),
    finish: (job, slot) => ledger.finishFireTime(job, slot),
    unfinished: (job) => ledger.unfinishedFireTimes(job),
    rewind: (job, slot) => ledger.rewindSlot(job, slot),
  };
}

/**
 * Waits for the signal, or for a ledger that can no longer be written: then only a new start knows what is on disk. A slot that waits for another
 * program's run is tried again all the while, so that it fires soon after that run ended or was killed.
 */
async function untilStopped(
  signal: AbortSignal,
  ledger: Ledger,
  workplace: Workplace,
  schedule: Schedule,
): Promise<Problem | undefined> {
  while (!signal.aborted) {
    if (ledger.broken !== undefined) return ledger.broken;
    if (schedule.waits) void schedule.tick();
    await workplace.clock.sleep(500, signal).catch(() => {});
  }
  return undefined;
}

function troubleCodes(run: RunRow): string[] {
  return troubleOf(run).map(({ kind, count }) => `run.${kind}:${run.job}:${count}`);
}

async function readHealth(workplace: Workplace, ledger: Ledger, schedule: Schedule): Promise<Health> {
  if (ledger.broken !== undefined) throw ledger.broken;
  const state = await schedule.state();
  const last = await ledger.lastRunByJob();
  const open = await ledger.openOperations();
  const holds = await ledger.openHolds();
  const records = (await ledger.openRecords())
    .filter((group) => group.counts)
    .map(({ standing, stream, code, cause, owner, count, since }) => ({
      standing,
      stream,
      code,
      cause,
      owner,
      count,
      since,
    }));
  const breaker = (name: "orderService" | "memberCenter"): "closed" | "open" | "half-open" => {
    const { state: now } = workplace.platform().state()[name].breaker;
    return now === "probing" ? "half-open" : now;
  };
  return {
    ledger: { reachable: true },
    jobs: state.map((job) => {
      const run = last.get(job.job);
      return {
        job: job.job,
        nextSlot: job.nextSlot,
        lastSlot: job.lastSlot,
        running: job.running,
        clockBehind: job.clockBehind,
        lastRun:
          run === undefined
            ? undefined
            : {
                id: run.id,
                state: run.state,
                exitCode: run.exitCode,
                startedAt: run.startedAt,
                finishedAt: run.finishedAt,
              },
      };
    }),
    open: {
      unknown: open.length,
      holds: holds.filter((hold) => hold.state === "open").length,
      quarantined: records.filter((row) => row.standing === "quarantined").reduce((sum, row) => sum + row.count, 0),
      records,
      runs: [...last.values()].filter((run) => !byHand(run)).flatMap(troubleCodes),
      streams: (await ledger.troubledReads()).map((read) => `${read.source}/${read.stream}`),
    },
    breakers: { "order-service": breaker("orderService"), "member-center": breaker("memberCenter") },
  };
}
