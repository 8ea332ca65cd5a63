import { toInstant } from "../base/clock.ts";
import { usage } from "../base/errors.ts";
import { pageLink, pagePath } from "../report/page-links.ts";
import type { Inquiry } from "../inquiry/inquiry.ts";
import type { AlertFacts, AlertChannelFacts } from "../report/alerts.ts";
import { countOf, fromBody, severityOf } from "../operate/notify/alert.ts";
import { concerns } from "../operate/notify/due.ts";
import { testMessage } from "../operate/notify/message.ts";
import { deliver, reasonOf } from "../operate/notify/channels.ts";
import type { Application } from "./application.ts";
import { tellingSettings } from "./alert-settings.ts";

/** The open issues of the last look, who was notified of each by which channel, and the state of the channels. */
export async function alertsNow(
  application: Pick<Application, "config">,
  inquiry: Pick<Inquiry, "alerts">,
): Promise<AlertFacts> {
  const { channels, publicUrl } = tellingSettings(application.config);
  const { standing, told, deliveries } = await inquiry.alerts();
  const toldAt = new Map(told.map((row) => [JSON.stringify([row.channel, row.key]), row.toldAt]));
  const doing = (kind: "channel" | "switch", name: string, shown: string): AlertChannelFacts => {
    const found = deliveries.find((one) => one.kind === kind && one.name === name);
    const { doneAt = null, problem = null, failingSince = null } = found ?? {};
    return { name, kind: shown, doneAt, problem, failingSince };
  };
  const standingKeys = new Set(standing.map(({ key }) => key));
  return {
    alerts: standing.map(({ key, since, body }) => {
      const alert = fromBody(key, body);
      const { kind, summary, cure, page = pagePath.today() } = alert;
      return {
        key,
        kind,
        severity: severityOf(kind),
        summary,
        cure,
        count: countOf(alert),
        since,
        page,
        link: publicUrl === undefined ? null : pageLink(publicUrl, page),
        channels: channels
          .filter((channel) => concerns(channel, alert))
          .map(({ name }) => ({ channel: name, toldAt: toldAt.get(JSON.stringify([name, key])) ?? null })),
      };
    }),
    ending: told
      .filter(({ channel, key }) => !standingKeys.has(key) && channels.some(({ name }) => name === channel))
      .map(({ channel, key }) => ({ key, channel })),
    channels: channels.map(({ name, settings }) => doing("channel", name, settings.kind)),
    switches: application.config.alerts.deadMansSwitches.map(({ name, method }) => doing("switch", name, method)),
  };
}

/** What a channel answered to a test message. */
export interface TestedChannel {
  channel: string;
  kind: string;
  /** Why it did not deliver; null where it did. */
  problem: string | null;
  /** What of it was not delivered although it was to others. */
  partly: string | null;
}

/**
 * Sends a test message by each channel, or by the one that is named, and keeps nothing of it. No dead man's switch is
 * called: that would say that a run was good.
 */
export async function testAlerts(application: Application, named: string | undefined): Promise<TestedChannel[]> {
  const { channels, mail, publicUrl } = tellingSettings(application.config);
  const chosen = channels.filter(({ name }) => named === undefined || name === named);
  if (named !== undefined && chosen.length === 0) {
    const known = channels.map(({ name }) => name).join(", ");
    throw usage(`there is no channel called ${named}`, known === "" ? "none is configured" : `use one of: ${known}`);
  }
  const { clock, logger, environment, secrets, instance } = application;
  const message = testMessage({ instance, at: toInstant(clock.now()), publicUrl });
  const secret = (reference: string): string => secrets.reveal(reference);
  const deps = { clock, logger, environment, mail, secret, known: secrets.known };
  return await Promise.all(
    chosen.map(async (channel) => {
      const tested = { channel: channel.name, kind: channel.settings.kind };
      try {
        return { ...tested, problem: null, partly: (await deliver(message, channel, deps)).partly ?? null };
      } catch (thrown) {
        return { ...tested, problem: reasonOf(thrown, secrets.known), partly: null };
      }
    }),
  );
}
