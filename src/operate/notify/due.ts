import { type Alert, type AlertKind, type Severity, countOf, severities, severityOf } from "./alert.ts";

/** `since`: ISO instant. */
export interface Standing {
  alert: Alert;
  since: string;
}

export interface Told extends Standing {
  toldAt: string;
}

export interface Interest {
  kinds?: readonly AlertKind[] | undefined;
  severity?: Severity | undefined;
}

export type AlertEvent = "started" | "grew" | "reminder" | "ended";

export interface Change extends Standing {
  event: AlertEvent;
}

export interface Due {
  changes: Change[];
  /** The count fell. Nothing is sent; later counts are compared with the lower one. */
  fewer: Alert[];
  /** Reported earlier, but no longer of interest. Forgotten without a message. */
  forgotten: string[];
}

export function concerns(interest: Interest & { name: string }, alert: Alert): boolean {
  if (alert.key === channelDownKey(interest.name)) return false;
  if (interest.kinds !== undefined && !interest.kinds.includes(alert.kind)) return false;
  const least = interest.severity ?? "notice";
  return severities.indexOf(severityOf(alert.kind)) >= severities.indexOf(least);
}

export function channelDownKey(name: string): string {
  return `channel-down:${name}`;
}

/**
 * A state that started and ended between two looks is not reported. One that ended and started again is reported again,
 * because a killed program may have reported its end.
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

/** A clock set back by more than the interval causes a reminder at once, instead of a long silence. */
function isDue(toldAt: string, { now, remindAfterMs }: { now: number; remindAfterMs: number | undefined }): boolean {
  return remindAfterMs !== undefined && Math.abs(now - Date.parse(toldAt)) >= remindAfterMs;
}
