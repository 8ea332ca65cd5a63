import type { Clock } from "../../base/clock.ts";
import type { KnownSecrets } from "../../base/known-secrets.ts";
import type { Logger } from "../../base/logger.ts";
import type { MailSettings } from "../../engine/run/run-settings.ts";
import type { AlertMessage } from "./message.ts";

/** What channels deliver with. */
export interface ChannelDependencies {
  clock: Clock;
  logger: Logger;
  /** The mail server, where one is configured. */
  mail: MailSettings | undefined;
  /** The environment as it was read at the start. */
  environment: Readonly<Record<string, string | undefined>>;
  /** The value behind a reference such as `env:NAME`. */
  secret: (reference: string) => string;
  known: KnownSecrets;
}

/** What came of a message that was delivered: words about what of it was not, where that is so. */
export interface Delivered {
  partly?: string;
}

/** Delivers a message by one channel, once. Throws where nobody got it. */
export type Send<Settings> = (
  message: AlertMessage,
  settings: Settings,
  deps: ChannelDependencies,
) => Promise<Delivered>;
