import { isJsonObject, type Json } from "../../base/canonical-json.ts";

/** Least urgent first. */
export const severities = ["notice", "warning", "critical"] as const;
export type Severity = (typeof severities)[number];

/** `critical`: no work, or an unknown result. `warning`: a person must act. `notice`: it waits, and ends by itself. */
const kinds = {
  "does-not-balance": { severity: "critical", many: "runs do not balance" },
  "run-failed": { severity: "critical", many: "jobs failed" },
  "service-down": { severity: "critical", many: "customers were not reached" },
  breaker: { severity: "critical", many: "circuits are open" },
  unknown: { severity: "critical", many: "operations have no known outcome" },
  assumption: { severity: "critical", many: "assumptions were contradicted" },
  clock: { severity: "critical", many: "jobs ended and removed nothing by time, as the clock was not trusted" },
  "head-not-kept": {
    severity: "critical",
    many: "places outside the database did not get the head of the audit log",
  },
  "channel-down": { severity: "critical", many: "channels do not deliver" },
  "switch-not-called": { severity: "critical", many: "dead man's switches could not be called" },
  "source-down": { severity: "warning", many: "streams were not read completely" },
  paused: { severity: "warning", many: "pauses keep everything from being sent" },
  hold: { severity: "warning", many: "holds wait for approval" },
  settings: { severity: "warning", many: "settings are missing" },
  canary: { severity: "warning", many: "records wait, as the share before them was not read back as meant" },
  "not-as-placed": { severity: "warning", many: "things are not as they were placed" },
  quarantine: { severity: "warning", many: "records are in quarantine" },
  rejected: { severity: "warning", many: "records are rejected" },
  deferred: { severity: "notice", many: "records are deferred" },
} as const satisfies Record<string, { severity: Severity; many: string }>;

export type AlertKind = keyof typeof kinds;

export const alertKinds: readonly AlertKind[] = Object.keys(kinds).filter(isKind);

export function isKind(text: string): text is AlertKind {
  return Object.hasOwn(kinds, text);
}

export function severityOf(kind: AlertKind): Severity {
  return kinds[kind].severity;
}

export function manyOf(kind: AlertKind): string {
  return kinds[kind].many;
}

/** A state that needs a person. People are notified when it starts, grows and ends. */
export interface Alert {
  /** The same state has the same key in every run: `hold:h-0b3c5d7e`, `source-down:crm`. */
  key: string;
  kind: AlertKind;
  /** One sentence without personal data or secrets: only ids, counts and names of sources. */
  summary: string;
  cure: string;
  /** Default: 1. If it grows, people are notified again. */
  count?: number;
  /** When the newest of them began. A later time means a new one, so people are notified again. */
  newest?: string;
  page?: string;
}

export function countOf(alert: Alert): number {
  return alert.count ?? 1;
}

export function bodyOf(alert: Alert): Json {
  const { kind, summary, cure, newest, page } = alert;
  const rest = { ...(newest !== undefined && { newest }), ...(page !== undefined && { page }) };
  return { kind, summary, cure, count: countOf(alert), ...rest };
}

export function fromBody(key: string, body: Json): Alert {
  const fields = isJsonObject(body) ? body : {};
  const text = (value: Json | undefined): string => (typeof value === "string" ? value : "");
  const { kind, newest, page } = fields;
  return {
    key,
    kind: typeof kind === "string" && isKind(kind) ? kind : "run-failed",
    summary: text(fields["summary"]),
    cure: text(fields["cure"]),
    count: typeof fields["count"] === "number" ? fields["count"] : 1,
    ...(typeof newest === "string" && { newest }),
    ...(typeof page === "string" && { page }),
  };
}

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

/** A state that ended and started again is reported again, because a killed program may have reported its end. */
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
    else if (countOf(alert) > countOf(before.alert) || isNewer(alert, before.alert))
      due.changes.push({ event: "grew", alert, since });
    else if (isDue(before.toldAt, at)) due.changes.push({ event: "reminder", alert, since });
    else if (countOf(alert) < countOf(before.alert)) due.fewer.push(alert);
  }
  for (const [key, { alert, since }] of told)
    if (!standingKeys.has(key)) due.changes.push({ event: "ended", alert, since });
  return due;
}

function isNewer({ newest }: Alert, { newest: before }: Alert): boolean {
  return newest !== undefined && before !== undefined && newest > before;
}

/** A clock set back by more than the interval causes a reminder at once, instead of a long silence. */
function isDue(toldAt: string, { now, remindAfterMs }: { now: number; remindAfterMs: number | undefined }): boolean {
  return remindAfterMs !== undefined && Math.abs(now - Date.parse(toldAt)) >= remindAfterMs;
}
