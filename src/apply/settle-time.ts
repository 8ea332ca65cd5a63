import { maybePaused } from "../ledger/journal/journal-tables.ts";
import type { JournalRow } from "../ledger/journal/journal-tables.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Operation } from "../engine/operation.ts";
import { typeOf } from "../engine/registry.ts";
import type { ApplyDependencies } from "./dependencies.ts";

type Dependencies = Pick<ApplyDependencies, "ledger" | "clock" | "time" | "settle">;

/**
 * When each settle time is over on the monotonic clock of this process, by the operation or the subject that it is of.
 */
const endsOf = new WeakMap<Ledger, Map<string, number>>();
/** Ends that are kept; those beyond are found anew from the wall clock. */
const mostEnds = 10_000;

function setEnd(deps: Dependencies, key: string, left: number): void {
  const ends = endsOf.get(deps.ledger) ?? new Map<string, number>();
  endsOf.set(deps.ledger, ends);
  ends.delete(key);
  ends.set(key, deps.clock.monotonic() + left);
  if (ends.size <= mostEnds) return;
  const [oldest] = ends.keys();
  if (oldest !== undefined) ends.delete(oldest);
}

/** How long an operation may still land after its call has ended, in milliseconds. */
export function landsWithin(operation: Operation, settle: ApplyDependencies["settle"]): number {
  return isAsynchronous(operation) ? Math.max(settle.timeMs, settle.asyncDeadlineMs) : settle.timeMs;
}

/** Whether it may be answered before it is carried out. */
export function isAsynchronous(operation: Operation): boolean {
  const { onUnknown } = typeOf(operation);
  return onUnknown.by === "observe" && onUnknown.async?.(operation) === true;
}

/** What became of a call is not known from now on: the time begins in which it may still land. */
export function settleTimeBegins(
  deps: Dependencies,
  { id, subject }: { id: string; subject: string },
  landsMs: number,
): void {
  for (const key of [id, subject]) setEnd(deps, key, landsMs);
}

/**
 * How many milliseconds what was sent may still land; 0 once its settle time is over. `since` is when the call ended by
 * the wall clock (epoch milliseconds), which counts for calls of an earlier process only: this one counts on its
 * monotonic clock, from when it opened the ledger, so that a wall clock that is set forward ends no settle time early.
 * Where it is not trusted, or was set back so that `since` lies in the future, the time counts from when that was first
 * seen, and not from a moment that may be years away.
 */
export async function settleTimeLeft(
  deps: Dependencies,
  key: string,
  since: number,
  timeMs = deps.settle.timeMs,
): Promise<number> {
  const { ledger, clock } = deps;
  if (endsOf.get(ledger)?.has(key) !== true) {
    const counted = (await isTold(deps, since)) ? since : await ledger.journal.countedFrom(key, since);
    setEnd(deps, key, Math.min(timeMs, Math.max(0, counted + timeMs - ledger.journal.surelyNow)));
  }
  return Math.max(0, (endsOf.get(ledger)?.get(key) ?? 0) - clock.monotonic());
}

/** Whether the wall clock may say what has passed since an instant. */
async function isTold({ clock, time }: Dependencies, since: number): Promise<boolean> {
  return since <= clock.now() && (time === undefined || (await time.now({ isFresh: true })) !== undefined);
}

/**
 * How long an operation in doubt may still land: from the end of its last attempt that may have left, over the settle
 * time of now or over the one that stood in the settings then, whichever is longer. Where whoever was sending it may
 * only be paused, a person need not wait until its token has ended.
 */
export async function settleTimeLeftOf(deps: Dependencies, row: JournalRow, who?: "person"): Promise<number> {
  const attempts = await deps.ledger.journal.attempts(row.id);
  const last = attempts.findLast((attempt) => attempt.outcome !== "not-sent");
  if (last === undefined) return 0;
  const since = Date.parse(last.finishedAt ?? last.startedAt);
  const promised = row.settleAfter === null ? 0 : Date.parse(row.settleAfter) - since;
  const landsMs = landsWithin(row.operation, deps.settle);
  if (who === "person" && row.verdict === maybePaused)
    return await settleTimeLeft(deps, `${row.id} by a person`, since, landsMs + deps.ledger.clockSkewMs);
  return await settleTimeLeft(deps, row.id, since, Math.max(landsMs, promised));
}
