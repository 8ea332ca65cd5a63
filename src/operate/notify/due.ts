import { type Alert, type AlertKind, type Severity, countOf, severities, severityOf } from "./alert.ts";

/** An open state, and since when (ISO instant). */
export interface Standing {
  alert: Alert;
  since: string;
}

/** A channel's last message about a state, and when. */
export interface Told extends Standing {
  toldAt: string;
}

/** The states that a channel reports; by default, all. */
export interface Interest {
  kinds?: readonly AlertKind[] | undefined;
  /** The lowest severity that it reports. */
  severity?: Severity | undefined;
}

export type AlertEvent = "started" | "grew" | "reminder" | "ended";

/** A change that a channel must report. */
export interface Change extends Standing {
  event: AlertEvent;
}

/** The work of one channel, by the open states and its earlier messages. */
export interface Due {
  changes: Change[];
  /** The count became less than reported. Nothing is sent; from now on the lower count is compared. */
  fewer: Alert[];
  /** The channel reported it, and is no longer interested. It is forgotten without a message. */
  forgotten: string[];
}

/** Whether a channel reports a state. A channel never reports its own failure. */
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
 * The messages that a channel must send now. Deliveries of other channels do not matter. A state that started and ended
 * between two looks is not reported. A state that ended and started again is reported again, because a program that was
 * killed may have reported its end.
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

/** A clock that was set back by more than that time causes a reminder at once, instead of a long silence. */
function isDue(toldAt: string, { now, remindAfterMs }: { now: number; remindAfterMs: number | undefined }): boolean {
  return remindAfterMs !== undefined && Math.abs(now - Date.parse(toldAt)) >= remindAfterMs;
}
