import { messageOf } from "../../base/errors.ts";
import type { KnownSecrets } from "../../base/known-secrets.ts";
import type { Logger } from "../../base/logger.ts";
import type { MailSettings } from "../../engine/run/run-settings.ts";
import { scrub } from "../../http/redaction.ts";
import type { AlertSettings, ChannelSettings } from "../notify-settings.ts";
import { postJson } from "../webhook.ts";
import type { Interest } from "./due.ts";
import { toMail } from "./mail.ts";
import type { AlertMessage } from "./message.ts";

export interface ChannelDependencies {
  logger: Logger;
  mail: MailSettings | undefined;
  secret: (reference: string) => string;
  known: KnownSecrets;
}

export interface Delivered {
  partly?: string;
}

export interface Channel extends Interest {
  name: string;
  settings: ChannelSettings | { kind: "log" };
}

export function channelsOf({ channels }: Pick<AlertSettings, "channels">): Channel[] {
  return [
    { name: "log", settings: { kind: "log" } },
    ...channels.map((settings) => {
      const { name = settings.kind, kinds, severity } = settings;
      return { name, settings, kinds, severity };
    }),
  ];
}

/** Delivers a message once. Throws if nobody got it; `reasonOf` gives the reason for display. */
export async function deliver(
  message: AlertMessage,
  { settings }: Channel,
  deps: ChannelDependencies,
): Promise<Delivered> {
  switch (settings.kind) {
    case "log":
      toLog(message, deps);
      return {};
    case "webhook":
      await postJson(settings, JSON.stringify(message), deps.secret);
      return {};
    case "mail":
      return await toMail(message, settings, deps);
  }
}

/** Why a delivery failed, without secrets and people's addresses, which servers often repeat. */
export function reasonOf(thrown: unknown, known: KnownSecrets): string {
  return scrub(known.words(messageOf(thrown)))
    .replaceAll(/\s+/gu, " ")
    .slice(0, 500);
}

function toLog(message: AlertMessage, { logger }: ChannelDependencies): void {
  const { event, states: _states, at: _at, ...fields } = message;
  if (event === "test") logger.warn({ event: "alert.test", ...fields }, "a test of alerts");
  else logger.warn({ event: `alert.${event}`, ...fields }, "alert");
}
