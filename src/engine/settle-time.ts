import { maybePaused } from "../ledger/journal/journal-tables.ts";
import type { JournalRow } from "../ledger/journal/journal-tables.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Operation } from "./model/operation.ts";
import { typeOf } from "./model/registry.ts";
import type { EngineDependencies } from "./customer.ts";
import type { Clock } from "../base/clock.ts";
import type { Intent } from "../ledger/journal/attempt-tables.ts";

type Dependencies = Pick<EngineDependencies, "ledger" | "clock" | "time" | "settle">;

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
export function landsWithin(operation: Operation, settle: EngineDependencies["settle"]): number {
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

/** What may be done about a call that was left in the middle. */
export interface Again {
  /**
   * `ended`: whoever was sending it is dead, so only the call itself may still land. `paused`: nobody knows, and it is
   * not sent again before the service refuses what that one would send. `asks`: nobody knows, and no time ends that, so
   * a person decides.
   */
  by: "ended" | "paused" | "asks";
  /** In how many milliseconds it may be sent again, or a person may say that it was not applied. */
  afterMs: number;
}

/**
 * When a call that was left in the middle may be sent again. The system frees the lock of a process that died, so
 * whoever has the same lock on the same running system knows that it did. Anybody else has a copy of the ledger, or
 * another computer: there the one that sent it may be paused and go on at any time, as long as its token is good. That
 * the platform shows the call settles it at once, all the same.
 */
export async function againAfter(
  { holder, taker, startedAt, acceptedUntil }: Intent & { taker: string | undefined },
  { landsMs, clockSkewMs, passedSince }: { landsMs: number; clockSkewMs: number; passedSince: PassedSince },
): Promise<Again> {
  if (holder !== undefined && holder === taker) return { by: "ended", afterMs: landsMs };
  if (acceptedUntil === undefined) return { by: "asks", afterMs: landsMs + clockSkewMs };
  const isAccepted = acceptedUntil - startedAt - (await passedSince(startedAt));
  return { by: "paused", afterMs: Math.max(landsMs, isAccepted) + clockSkewMs };
}

/** How many milliseconds have surely passed since an instant of another process's clock. */
type PassedSince = (instant: number) => Promise<number>;

/**
 * What has passed counts where the services agree with the clock of this computer, and where the instant is none of
 * before the clock was trusted last: then that of the other process was wrong too. Else its time begins now.
 */
export function passedSince({
  ledger,
  clock,
  time,
}: Pick<EngineDependencies, "ledger" | "clock" | "time">): PassedSince {
  return async (instant) => {
    const { lastTrusted = 0 } = ledger.time;
    const now = time === undefined ? clock.now() : (await time.now({ isFresh: true }))?.epochMs;
    return now === undefined || instant < lastTrusted ? 0 : Math.max(0, now - instant);
  };
}

/**
 * Begins the time in which a call may leave, when its intent is about to be committed, and answers whether it is over:
 * nobody else sends the call before twice that time, so what is late may have been sent by somebody else. Of the two
 * clocks that counts which has seen more time pass: the monotonic one may stop while a system is paused.
 */
export function timeToLeave(clock: Clock, clockSkewMs: number): () => boolean {
  const began = { monotonic: clock.monotonic(), now: clock.now() };
  return () => Math.max(clock.monotonic() - began.monotonic, clock.now() - began.now) >= clockSkewMs / 2;
}
