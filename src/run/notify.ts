import { isJsonObject } from "../base/canonical-json.ts";
import { spawn } from "node:child_process";
import type { Json } from "../base/canonical-json.ts";
import type { Clock } from "../base/clock.ts";
import { toInstant } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import type { NotifySettings } from "./run-settings.ts";
import { postJson } from "./webhook.ts";

/** A state that needs a person. It is told when it starts and when it ends, not in between. */
export interface Alert {
  /** The same state has the same key in every run, such as `hold:rev_0mb3` or `source-down:crm`. */
  key: string;
  kind:
    | "source-down"
    | "hold"
    | "unknown"
    | "assumption"
    | "quarantine"
    | "rejected"
    | "deferred"
    | "canary"
    | "does-not-balance"
    | "breaker"
    | "settings"
    | "service-down"
    | "not-as-placed"
    | "head-not-kept"
    | "run-failed";
  /** One sentence. No personal data and no secret: ids, counts and names of sources only. */
  summary: string;
  /** What to type or do next. */
  cure: string;
  /** How many things stand so; 1 where nothing is said. Where it grows, people are told again. */
  count?: number;
}

/** What is told: all that began, grew or ended together and is of one kind, as one message. */
export interface AlertMessage extends Alert {
  event: "started" | "grew" | "ended";
  /** Who speaks: the name of this instance, and its ledger. */
  instance: string;
  count: number;
  /** The first few states of the message, where it tells of several. */
  states: { key: string; summary: string; cure: string }[];
  /** Since when the oldest of the states lasts, ISO instant. */
  since: string;
  /** When this message was made, ISO instant. */
  at: string;
}

/** The states that were there at the last look, and whether people were told. */
export interface AlertStore {
  alerts(): Promise<Map<string, { since: string; body: Json; sent: boolean }>>;
  setAlert(key: string, body: Json): Promise<void>;
  alertSent(key: string): Promise<void>;
  dropAlert(key: string): Promise<void>;
}

export interface NotifyDependencies {
  settings: NotifySettings;
  /** Who speaks: the name of this instance, and its ledger. */
  instance: string;
  store: AlertStore;
  clock: Clock;
  logger: Logger;
  /** The value behind a reference such as `env:NAME`. */
  secret: (reference: string) => string;
}

/** A state and what is known of it: a change that waits to be told. */
interface Change {
  event: AlertMessage["event"];
  alert: Alert;
  since: string;
}

const mostNamed = 3;

/**
 * Tells people what has changed since the last call: states in `now` that were not there or have grown, and states that
 * are there no longer, one message for each kind. What could not be delivered is logged and tried again by the next
 * call. Never rejects because of a delivery. Answers the messages that were delivered.
 */
export async function notifyChanges(now: readonly Alert[], deps: NotifyDependencies): Promise<AlertMessage[]> {
  const at = toInstant(deps.clock.now());
  const delivered: AlertMessage[] = [];
  for (const changes of groupsOf(await changesSince(now, deps.store, at))) {
    const message = composed(changes, deps.instance, at);
    if (!(await delivers(message, deps))) continue;
    delivered.push(message);
    for (const { event, alert } of changes) {
      if (event === "ended") await deps.store.dropAlert(alert.key);
      else await keep(deps.store, alert);
      if (event !== "ended") await deps.store.alertSent(alert.key);
    }
  }
  return delivered;
}

/**
 * Compares the states of now with those of the last look. A state that nobody was told of and that is gone is dropped
 * without a word.
 */
async function changesSince(now: readonly Alert[], store: AlertStore, at: string): Promise<Change[]> {
  const before = await store.alerts();
  const changes: Change[] = [];
  const seen = new Set<string>();
  for (const alert of now) {
    if (seen.has(alert.key)) continue;
    seen.add(alert.key);
    const known = before.get(alert.key);
    if (known?.sent !== true) {
      if (known === undefined) await keep(store, alert);
      changes.push({ event: "started", alert, since: known?.since ?? at });
      continue;
    }
    const told = countOf(fromBody(alert.key, known.body));
    if (countOf(alert) > told) changes.push({ event: "grew", alert, since: known.since });
    else if (countOf(alert) < told) {
      await keep(store, alert);
      await store.alertSent(alert.key);
    }
  }
  for (const [key, known] of before) {
    if (seen.has(key)) continue;
    if (known.sent) changes.push({ event: "ended", alert: fromBody(key, known.body), since: known.since });
    else await store.dropAlert(key);
  }
  return changes;
}

function countOf(alert: Alert): number {
  return alert.count ?? 1;
}

async function keep(store: AlertStore, alert: Alert): Promise<void> {
  const { key, kind, summary, cure } = alert;
  await store.setAlert(key, { kind, summary, cure, count: countOf(alert) });
}

/** What ended comes first: a receiver that goes by the key hears last of what stands. */
function groupsOf(changes: readonly Change[]): Change[][] {
  const groups = new Map<string, Change[]>();
  for (const change of changes.toSorted(
    (one, other) => Number(other.event === "ended") - Number(one.event === "ended"),
  )) {
    const name = `${change.event} ${change.alert.kind}`;
    groups.set(name, [...(groups.get(name) ?? []), change]);
  }
  return [...groups.values()];
}

const many: Record<Alert["kind"], string> = {
  "source-down": "streams were not read completely",
  hold: "holds wait for approval",
  unknown: "operations have no known outcome",
  quarantine: "records are in quarantine",
  rejected: "records are rejected",
  canary: "records wait, as the share before them was not read back as meant",
  deferred: "records are deferred",
  "does-not-balance": "runs do not balance",
  assumption: "assumptions were contradicted",
  breaker: "circuits are open",
  settings: "settings are missing",
  "service-down": "jobs did not reach a service",
  "run-failed": "jobs failed",
  "head-not-kept": "places outside the database did not get the head of the audit record",
  "not-as-placed": "jobs found things that are not as they were placed",
};

function isKind(text: string): text is Alert["kind"] {
  return Object.hasOwn(many, text);
}

function composed(changes: readonly Change[], instance: string, at: string): AlertMessage {
  const [first] = changes;
  if (first === undefined) throw new TypeError("a message tells of one state at least");
  const count = changes.reduce((sum, change) => sum + countOf(change.alert), 0);
  const since = changes.map((change) => change.since).reduce((a, b) => (a < b ? a : b));
  const { event } = first;
  const base = { kind: first.alert.kind, event, instance, count, since, at };
  const said = (summary: string, cure: string): Pick<AlertMessage, "summary" | "cure"> =>
    event === "ended" ? { summary: `this has ended: ${summary}`, cure: "nothing: it has ended" } : { summary, cure };
  if (changes.length === 1)
    return { ...base, key: first.alert.key, ...said(first.alert.summary, first.alert.cure), states: [] };
  const named = changes.slice(0, mostNamed).map(({ alert: { key, summary, cure } }) => ({ key, summary, cure }));
  const more = changes.length > mostNamed ? [`and ${changes.length - mostNamed} more`] : [];
  const summary = `${count} ${many[base.kind]}: ${[...named.map((item) => item.summary), ...more].join("; ")}`;
  const cure = [...new Set(named.map((item) => item.cure))].join("; ");
  return { ...base, key: base.kind, ...said(summary, cure), states: named };
}

/** A state as it was kept. */
export function fromBody(key: string, body: Json): Alert {
  const fields = isJsonObject(body) ? body : {};
  const text = (value: Json | undefined): string => (typeof value === "string" ? value : "");
  const { kind } = fields;
  return {
    key,
    kind: typeof kind === "string" && isKind(kind) ? kind : "run-failed",
    summary: text(fields["summary"]),
    cure: text(fields["cure"]),
    count: typeof fields["count"] === "number" ? fields["count"] : 1,
  };
}

async function delivers(message: AlertMessage, deps: NotifyDependencies): Promise<boolean> {
  try {
    await deliver(message, deps);
    return true;
  } catch (thrown) {
    deps.logger.error(
      { event: "alert.not-delivered", by: deps.settings.kind, key: message.key, reason: messageOf(thrown) },
      "an alert could not be delivered; it is tried again after the next run",
    );
    return false;
  }
}

async function deliver(message: AlertMessage, deps: NotifyDependencies): Promise<void> {
  const { settings, logger } = deps;
  switch (settings.kind) {
    case "none":
      return;
    case "log":
      logger.warn(
        {
          event: `alert.${message.event}`,
          key: message.key,
          kind: message.kind,
          instance: message.instance,
          count: message.count,
          since: message.since,
          summary: message.summary,
          cure: message.cure,
        },
        "alert",
      );
      return;
    case "command":
      await runCommand(settings.command, JSON.stringify(message), settings.timeoutMs);
      return;
    case "webhook":
      await postJson(settings, JSON.stringify(message), deps.secret);
      return;
  }
}

/** Starts a program without a shell, gives it the text on standard input and waits for exit code 0. */
async function runCommand(command: readonly string[], input: string, timeoutMs: number): Promise<void> {
  const [program = "", ...args] = command;
  const signal = AbortSignal.timeout(timeoutMs);
  await new Promise<void>((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["pipe", "ignore", "ignore"], signal, killSignal: "SIGKILL" });
    child.on("error", (error) =>
      reject(signal.aborted ? new Error(`the command took longer than ${timeoutMs} ms`) : error),
    );
    child.on("exit", (code, ended) => {
      if (code === 0) resolve();
      else
        reject(
          new Error(code === null ? `the command was ended by ${ended}` : `the command ended with exit code ${code}`),
        );
    });
    // A program that does not read its input is told by its exit code, not by a broken pipe.
    child.stdin.on("error", () => {});
    child.stdin.end(`${input}\n`);
  });
}
