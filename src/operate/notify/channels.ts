import { spawn } from "node:child_process";
import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { KnownSecrets } from "../../base/known-secrets.ts";
import type { Logger } from "../../base/logger.ts";
import type { MailSettings } from "../../engine/run/run-settings.ts";
import { environmentOf } from "../../http/token-sources.ts";
import { scrub } from "../../http/redaction.ts";
import { credentialOf } from "../../http/secrets.ts";
import type { AlertSettings, ChannelSettings, NotifySettings } from "../notify-settings.ts";
import { postJson, signatureHeader, signatureOf } from "../webhook.ts";
import type { WebhookTarget } from "../webhook.ts";
import type { Interest } from "./due.ts";
import { toMail } from "./mail.ts";
import type { AlertMessage } from "./message.ts";

/** What channels need for a delivery. */
export interface ChannelDependencies {
  clock: Clock;
  logger: Logger;
  /** The configured mail server, if any. */
  mail: MailSettings | undefined;
  /** The environment at the start of the program. */
  environment: Readonly<Record<string, string | undefined>>;
  /** Resolves a reference such as `env:NAME`. */
  secret: (reference: string) => string;
  known: KnownSecrets;
}

/** A delivered message. `partly`: why some recipients did not get it. */
interface Delivered {
  partly?: string;
}

/** Delivers a message once by one channel. Throws if nobody got it. */
export type Send<Settings> = (
  message: AlertMessage,
  settings: Settings,
  deps: ChannelDependencies,
) => Promise<Delivered>;

/** A channel for alerts. The ledger keeps its deliveries under its name. */
export interface Channel extends Interest {
  name: string;
  settings: ChannelSettings;
}

/** The channels of a configuration: the one of `notify`, and each of `alerts.channels`. */
export function channelsOf({ notify, alerts }: { notify: NotifySettings; alerts: AlertSettings }): Channel[] {
  const first: Channel[] = notify.kind === "none" ? [] : [{ name: notify.kind, settings: withInterest(notify) }];
  return [
    ...first,
    ...alerts.channels.map((settings) => ({
      name: settings.name ?? settings.kind,
      settings,
      kinds: settings.kinds,
      severity: settings.severity,
    })),
  ];
}

function withInterest(notify: Exclude<NotifySettings, { kind: "none" }>): ChannelSettings {
  return { ...notify, severity: "notice" };
}

/** Delivers a message once by a channel. Throws if nobody got it; `reasonOf` gives the reason for display. */
export async function deliver(
  message: AlertMessage,
  { settings }: Channel,
  deps: ChannelDependencies,
): Promise<Delivered> {
  switch (settings.kind) {
    case "log":
      return await toLog(message, settings, deps);
    case "command":
      return await toCommand(message, settings, deps);
    case "webhook":
      return await toWebhook(message, settings, deps);
    case "mail":
      return await toMail(message, settings, deps);
  }
}

/** Why a delivery failed, without secrets and without the addresses of people that servers often repeat. */
export function reasonOf(thrown: unknown, known: KnownSecrets): string {
  return scrub(known.words(messageOf(thrown)))
    .replaceAll(/\s+/gu, " ")
    .slice(0, 500);
}

/**
 * Starts a program without a shell, writes the message to its standard input and waits for exit code 0. The program
 * only gets the named environment variables: the others may have secrets.
 */
const toCommand: Send<{
  command: readonly string[];
  environment: readonly string[];
  timeoutMs: number;
}> = async (message, { command, environment, timeoutMs }, deps) => {
  const env = environmentOf(environment, deps.environment);
  const [program = "", ...args] = command;
  const signal = AbortSignal.timeout(timeoutMs);
  await new Promise<void>((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["pipe", "ignore", "ignore"], env, signal, killSignal: "SIGKILL" });
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
    // If a program does not read its input, its exit code decides, not the broken pipe.
    child.stdin.on("error", () => {});
    child.stdin.end(`${JSON.stringify(message)}\n`);
  });
  return {};
};

const toLog: Send<unknown> = async (message, _settings, { logger }) => {
  const { event, key, kind, severity, instance, count, since, summary, cure, link } = message;
  const fields = {
    key,
    kind,
    severity,
    instance,
    count,
    since,
    summary,
    cure,
    ...(link === undefined ? {} : { link }),
  };
  if (event === "test") logger.warn({ event: "alert.test", ...fields }, "a test of alerts");
  else logger.warn({ event: `alert.${event}`, ...fields }, "alert");
  return {};
};

/** An HTTP POST of the message as JSON, signed if there is a key. */
const toWebhook: Send<WebhookTarget & { signKey?: string | undefined }> = async (
  message,
  { signKey, ...target },
  { clock, secret },
) => {
  const body = JSON.stringify(message);
  const signed =
    signKey === undefined ? {} : { [signatureHeader]: signatureOf(body, credentialOf(secret(signKey)), clock.now()) };
  await postJson(target, body, secret, signed);
  return {};
};
