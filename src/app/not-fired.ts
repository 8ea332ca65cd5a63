import { toInstant } from "../base/clock.ts";
import { nextFireTime } from "../operate/fire-times.ts";
import type { Application } from "./application.ts";

/** A daemon that is there fires long before. */
const firedWithinMs = 10 * 60_000;

/**
 * Jobs that should have fired a while ago and did not, each with that time. By the schedule: from the last fire time on,
 * which the first look of a daemon gives each job. `slots`: the last fire time of each job.
 */
export function notFired(
  application: Application,
  slots: readonly { job: string; lastSlot: string | null }[],
): { job: string; since: string }[] {
  const now = application.clock.now();
  return application.jobs().flatMap(({ id, schedule }) => {
    const last = Date.parse(slots.find(({ job }) => job === id)?.lastSlot ?? "");
    if (schedule === undefined || Number.isNaN(last)) return [];
    const due = nextFireTime(schedule.cron, schedule.zone, last);
    return due === undefined || due > now - firedWithinMs ? [] : [{ job: id, since: toInstant(due) }];
  });
}
