import { messageOf } from "../../base/errors.ts";
import type { KnownSecrets } from "../../base/known-secrets.ts";
import { scrub } from "../../http/redaction.ts";
import { toCommand } from "./command.ts";
import type { Interest } from "./due.ts";
import { toLog } from "./log.ts";
import { toMail } from "./mail.ts";
import type { AlertMessage } from "./message.ts";
import type { Delivered, ChannelDependencies } from "./channel.ts";
import type { AlertSettings, NotifySettings, ChannelSettings } from "../notify-settings.ts";
import { toWebhook } from "./webhook.ts";

/** A channel by which people are told, under the name that its deliveries are kept by. */
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

/** Delivers a message by a channel, once. Throws where nobody got it: see `reasonOf` for what may be said of that. */
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

/** Why something could not be delivered, without secrets and addresses of people, which servers like to repeat. */
export function reasonOf(thrown: unknown, known: KnownSecrets): string {
  return scrub(known.words(messageOf(thrown)))
    .replaceAll(/\s+/gu, " ")
    .slice(0, 500);
}
