import type { Clock } from "../../base/clock.ts";
import type { KnownSecrets } from "../../base/known-secrets.ts";
import type { Logger } from "../../base/logger.ts";
import type { MailSettings } from "../../engine/run/run-settings.ts";
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
export interface Delivered {
  partly?: string;
}

/** Delivers a message once by one channel. Throws if nobody got it. */
export type Send<Settings> = (
  message: AlertMessage,
  settings: Settings,
  deps: ChannelDependencies,
) => Promise<Delivered>;
