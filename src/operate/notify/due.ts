import type { Alert, AlertKind, Severity } from "./alert.ts";
import { countOf, severities, severityOf } from "./alert.ts";

/** A state that stands, and since when (ISO instant). */
export interface Standing {
  alert: Alert;
  since: string;
}

/** What one channel told of a state last, and when. */
export interface Told extends Standing {
  toldAt: string;
}

/** Which states a channel tells of; without anything, of all. */
export interface Interest {
  kinds?: readonly AlertKind[] | undefined;
  /** From this severity on. */
  severity?: Severity | undefined;
}

export type AlertEvent = "started" | "grew" | "reminder" | "ended";

/** Something that a channel has to tell. */
export interface Change extends Standing {
  event: AlertEvent;
}

/** What one channel has to do, by what stands now and what it told before. */
export interface Due {
  changes: Change[];
  /** Became less since it was told: from now on the lower count is compared with, and nothing is told of it. */
  fewer: Alert[];
  /** Was told, and is of no interest to the channel any more: it is forgotten without a word. */
  forgotten: string[];
}

/** Whether a channel tells of a state. A channel is never asked to tell that it does not work itself. */
export function concerns(interest: Interest & { name: string }, alert: Alert): boolean {
  if (alert.key === channelDownKey(interest.name)) return false;
  if (interest.kinds !== undefined && !interest.kinds.includes(alert.kind)) return false;
  const least = interest.severity ?? "notice";
  return severities.indexOf(severityOf(alert.kind)) >= severities.indexOf(least);
}

/** The key of the state that a channel does not deliver. */
export function channelDownKey(name: string): string {
  return `channel-down:${name}`;
}

/**
 * What a channel has to tell now. It depends on this channel alone: what others delivered or did not changes nothing. A state
 * that began and ended between two looks, so that nobody was told of it, is not told. One that ended and began again is
 * told anew: a program that was killed may have told of its end.
 */
export function dueFor(
  channel: Interest & { name: string },
  standing: readonly Standing[],
  told: ReadonlyMap<string, Told>,
  at: { now: number; remindAfterMs: number | undefined },
): Due {
  const due: Due = { changes: [], fewer: [], forgotten: [] };
  const standingKeys = new Set<string>();
  for (const { alert, since } of standing) {
    standingKeys.add(alert.key);
    const before = told.get(alert.key);
    if (!concerns(channel, alert)) {
      if (before !== undefined) due.forgotten.push(alert.key);
    } else if (before?.since !== since) due.changes.push({ event: "started", alert, since });
    else if (countOf(alert) > countOf(before.alert)) due.changes.push({ event: "grew", alert, since });
    else if (isDue(before.toldAt, at)) due.changes.push({ event: "reminder", alert, since });
    else if (countOf(alert) < countOf(before.alert)) due.fewer.push(alert);
  }
  for (const [key, { alert, since }] of told)
    if (!standingKeys.has(key)) due.changes.push({ event: "ended", alert, since });
  return due;
}

/** A clock that was set back by more than that time reminds at once, rather than not for as long. */
function isDue(toldAt: string, { now, remindAfterMs }: { now: number; remindAfterMs: number | undefined }): boolean {
  return remindAfterMs !== undefined && Math.abs(now - Date.parse(toldAt)) >= remindAfterMs;
}
