import { maybePaused, type JournalRow, type Intent } from "../ledger/journal/journal-tables.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Operation } from "./model/operation.ts";
import { typeOf, handedIn } from "./model/registry.ts";
import type { EngineDependencies, CustomerState } from "./customer.ts";
import { type Clock, toInstant } from "../base/clock.ts";
import { canonicalJson, toJson } from "../base/canonical-json.ts";
import { formatKey } from "../crm/keys.ts";
import { absentKind, type Absences } from "../ledger/state/observations.ts";
import type { AbsentOf } from "./model/resource.ts";
import type { CustomerInput } from "./plan/input.ts";

type SettleDependencies = Pick<EngineDependencies, "ledger" | "clock" | "time" | "settle">;

/** When each settle time ends on the monotonic clock, by operation, subject or other key. */
const endsOf = new WeakMap<Ledger, Map<string, number>>();
/** Further ends are found again from the wall clock. */
const mostEnds = 10_000;

function setEnd(deps: SettleDependencies, key: string, left: number): void {
  const ends = endsOf.get(deps.ledger) ?? new Map<string, number>();
  endsOf.set(deps.ledger, ends);
  ends.delete(key);
  ends.set(key, deps.clock.monotonic() + left);
  if (ends.size <= mostEnds) return;
  const [oldest] = ends.keys();
  if (oldest !== undefined) ends.delete(oldest);
}

/** For how long an operation may take effect after its call ended, in milliseconds. */
export function landsWithin(operation: Operation, settle: EngineDependencies["settle"]): number {
  return isAsynchronous(operation) ? Math.max(settle.timeMs, settle.asyncDeadlineMs) : settle.timeMs;
}

export function isAsynchronous(operation: Operation): boolean {
  const { onUnknown } = typeOf(operation);
  return onUnknown.by === "observe" && onUnknown.async?.(operation) === true;
}

export function settleTimeBegins(
  deps: SettleDependencies,
  { id, subject }: { id: string; subject: string },
  landsMs: number,
): void {
  for (const key of [id, subject]) setEnd(deps, key, landsMs);
}

/**
 * Milliseconds in which a sent call may still take effect. `since`: when the call ended, in epoch milliseconds. `since`
 * counts only for calls of earlier processes. This process counts on its monotonic clock, so setting the wall clock
 * forward ends no settle time early. If the wall clock is not trusted or `since` is in the future, the time counts from
 * when this was first seen.
 */
export async function settleTimeLeft(
  deps: SettleDependencies,
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

async function isTold({ clock, time }: SettleDependencies, since: number): Promise<boolean> {
  return since <= clock.now() && (time === undefined || (await time.now({ isFresh: true })) !== undefined);
}

/**
 * From the end of the last attempt that may have left. The longer of the current settle time and the recorded one
 * counts. If the sender may only be paused, a person need not wait until its token expires.
 */
export async function settleTimeLeftOf(deps: SettleDependencies, row: JournalRow, who?: "person"): Promise<number> {
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

export interface Again {
  /**
   * `ended`: the sender is dead, only the call itself may still take effect. `paused`: nobody knows, so wait until the
   * service would reject the sender's call. `asks`: nobody knows and no time ends that, so a person decides.
   */
  by: "ended" | "paused" | "asks";
  /** Milliseconds until it may be sent again, or a person may decide `not-applied`. */
  afterMs: number;
}

/**
 * The system frees the lock of a dead process. So the same lock on the same running system proves that the sender died.
 * Elsewhere the sender may be paused, and may continue while its token is valid.
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

/** Milliseconds that surely passed since an instant of another process's clock. */
type PassedSince = (instant: number) => Promise<number>;

/** Time counts if the services agree with this clock. An instant before the last trusted time is from a wrong one. */
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
 * Begins just before the intent is committed. Returns whether a call may no longer leave. Nobody else sends the call
 * before twice that time. The clock that saw more time pass counts: the monotonic one may stop while a system is
 * paused.
 */
export function timeToLeave(clock: Clock, clockSkewMs: number): () => boolean {
  const began = { monotonic: clock.monotonic(), now: clock.now() };
  return () => Math.max(clock.monotonic() - began.monotonic, clock.now() - began.now) >= clockSkewMs / 2;
}

type AbsenceDependencies = SettleDependencies & Pick<EngineDependencies, "settings" | "policies">;

interface Counted {
  gone: Map<string, ReadonlySet<string>>;
  again: string | undefined;
}

/**
 * Counts a reading of M7. A thing is gone once `settle.readings` readings over the settle time left it out. Readings
 * within that time count as one. If M7 shows the thing again, or the CRM changes its order, the count starts again.
 */
export async function countAbsences(
  deps: AbsenceDependencies,
  knows: CustomerState,
  input: CustomerInput,
): Promise<Counted> {
  const counted: Counted = { gone: new Map(), again: undefined };
  const absents = handedIn().resources.flatMap((resource) => [...(resource.absent?.(input, deps) ?? [])]);
  for (const [order, absent] of absents) {
    const earlier = await deps.ledger.state.absences(input.customer, order);
    if (earlier === undefined && absent.names.length === 0) continue;
    const next = await countOne(deps, counted, `${formatKey(input.customer)} ${order}`, { ...absent, earlier });
    counted.gone.set(order, next.gone);
    const body = toJson(next.absences);
    if (!knows.keeps || (earlier !== undefined && canonicalJson(toJson(earlier)) === canonicalJson(body))) continue;
    await knows.record([{ type: "observed", customer: input.customer, kind: absentKind, subject: order, body }]);
  }
  return counted;
}

async function countOne(
  deps: AbsenceDependencies,
  counted: Counted,
  subject: string,
  { form, names, earlier }: AbsentOf & { earlier: Absences | undefined },
): Promise<{ absences: Absences; gone: Set<string> }> {
  const { clock, settle } = deps;
  const absences: Absences = { form, left: {} };
  const gone = new Set<string>();
  for (const name of names) {
    const before = earlier?.form === form ? earlier.left[name] : undefined;
    const since = before?.since ?? toInstant(clock.now());
    const left = await settleTimeLeft(deps, `absent ${subject} ${form} ${name} ${since}`, Date.parse(since));
    const readings = before === undefined ? 1 : Math.min(settle.readings, before.readings + (left > 0 ? 0 : 1));
    absences.left[name] = { since, readings };
    if (left === 0 && readings >= settle.readings) {
      gone.add(name);
      continue;
    }
    const pause = left > 0 ? left : Math.ceil(settle.timeMs / Math.max(1, settle.readings));
    const until = toInstant(clock.now() + pause);
    if (counted.again === undefined || until < counted.again) counted.again = until;
  }
  return { absences, gone };
}
