import { spawn } from "node:child_process";
import { request } from "undici";
import type { Json } from "../base/canonical-json.ts";
import type { Clock } from "../base/clock.ts";
import { toInstant } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import type { NotifySettings } from "./settings.ts";

/** A state that needs a person. It is told when it starts and when it ends, not in between. */
export interface Notice {
  /** The same state has the same key in every run, such as `hold:rev_0mb3` or `source-down:crm`. */
  key: string;
  kind:
    | "source-down"
    | "hold"
    | "unknown"
    | "quarantine"
    | "does-not-balance"
    | "breaker"
    | "settings"
    | "service-down"
    | "not-as-placed"
    | "run-failed";
  /** One sentence. No personal data and no secret: ids, counts and names of sources only. */
  summary: string;
  /** What to type or do next. */
  cure: string;
}

/** What is told. */
export interface NoticeMessage extends Notice {
  event: "started" | "ended";
  /** Since when the state lasts, ISO instant. */
  since: string;
  /** When this message was made, ISO instant. */
  at: string;
}

/** The states that were there at the last look, and whether people were told. */
export interface NoticeStore {
  notices(): Promise<Map<string, { since: string; body: Json; sent: boolean }>>;
  setNotice(key: string, body: Json): Promise<void>;
  noticeSent(key: string): Promise<void>;
  dropNotice(key: string): Promise<void>;
}

export interface NotifyDependencies {
  settings: NotifySettings;
  store: NoticeStore;
  clock: Clock;
  logger: Logger;
  /** The value behind a reference such as `env:NAME`. */
  secret(reference: string): string;
}

/**
 * Tells people what has changed since the last call: states in `now` that were not there, and states that are there no longer. What could not
 * be delivered is logged and tried again by the next call. Never rejects because of a delivery. Answers the messages that were delivered.
 */
export async function notifyChanges(now: readonly Notice[], deps: NotifyDependencies): Promise<NoticeMessage[]> {
  const { store, clock } = deps;
  const before = await store.notices();
  const delivered: NoticeMessage[] = [];
  const at = toInstant(clock.now());
  const seen = new Set<string>();
  for (const notice of now) {
    if (seen.has(notice.key)) continue;
    seen.add(notice.key);
    const known = before.get(notice.key);
    if (known === undefined)
      await store.setNotice(notice.key, { kind: notice.kind, summary: notice.summary, cure: notice.cure });
    if (known?.sent === true) continue;
    const message: NoticeMessage = { ...notice, event: "started", since: known?.since ?? at, at };
    if (!(await delivers(message, deps))) continue;
    await store.noticeSent(notice.key);
    delivered.push(message);
  }
  for (const [key, known] of before) {
    if (seen.has(key)) continue;
    const notice = fromBody(key, known.body);
    // Nobody was told that it started, so nobody needs to hear that it ended.
    if (known.sent) {
      const message: NoticeMessage = { ...notice, event: "ended", since: known.since, at };
      if (!(await delivers(message, deps))) continue;
      delivered.push(message);
    }
    await store.dropNotice(key);
  }
  return delivered;
}

const kinds: readonly Notice["kind"][] = [
  "source-down",
  "hold",
  "unknown",
  "quarantine",
  "does-not-balance",
  "breaker",
  "settings",
  "service-down",
  "run-failed",
];

function fromBody(key: string, body: Json): Notice {
  const fields = typeof body === "object" && body !== null && !Array.isArray(body) ? body : {};
  const text = (value: Json | undefined): string => (typeof value === "string" ? value : "");
  return {
    key,
    kind: kinds.find((kind) => kind === fields["kind"]) ?? "run-failed",
    summary: text(fields["summary"]),
    cure: text(fields["cure"]),
  };
}

async function delivers(message: NoticeMessage, deps: NotifyDependencies): Promise<boolean> {
  try {
    await deliver(message, deps);
    return true;
  } catch (thrown) {
    deps.logger.error(
      { event: "notice.not-delivered", by: deps.settings.kind, key: message.key, reason: messageOf(thrown) },
      "a notice could not be delivered; it is tried again after the next run",
    );
    return false;
  }
}

async function deliver(message: NoticeMessage, deps: NotifyDependencies): Promise<void> {
  const { settings, logger } = deps;
  switch (settings.kind) {
    case "none":
      return;
    case "log":
      logger.warn(
        {
          event: `notice.${message.event}`,
          key: message.key,
          kind: message.kind,
          since: message.since,
          summary: message.summary,
          cure: message.cure,
        },
        "notice",
      );
      return;
    case "command":
      await runCommand(settings.command, JSON.stringify(message), settings.timeoutMs);
      return;
    case "webhook":
      await post(settings, message, deps);
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

async function post(
  settings: Extract<NotifySettings, { kind: "webhook" }>,
  message: NoticeMessage,
  deps: NotifyDependencies,
): Promise<void> {
  const signal = AbortSignal.timeout(settings.timeoutMs);
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (settings.token !== undefined) headers["authorization"] = `Bearer ${deps.secret(settings.token)}`;
  try {
    const answer = await request(settings.url, { method: "POST", headers, body: JSON.stringify(message), signal });
    await answer.body.dump({ limit: 65_536, signal });
    if (answer.statusCode < 200 || answer.statusCode > 299)
      throw new Error(`the webhook answered HTTP ${answer.statusCode}`);
  } catch (thrown) {
    throw signal.aborted
      ? new Error(`the webhook took longer than ${settings.timeoutMs} ms`, { cause: thrown })
      : thrown;
  }
}
