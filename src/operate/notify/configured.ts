import { toInstant } from "../../base/clock.ts";
import { durationMs } from "../../base/duration.ts";
import { exitCodes, Problem, Problems, usage } from "../../base/errors.ts";
import type { Config } from "../../config/config.ts";
import type { Inquiry } from "../../inquiry/inquiry.ts";
import type { AlertChannelFacts, AlertFacts } from "../../report/alerts.ts";
import { pageLink, pagePath } from "../../report/page-links.ts";
import type { Application } from "../application.ts";
import type { BoundJob } from "../job.ts";
import { countOf, fromBody, severityOf, concerns } from "./alert.ts";
import { channelsOf, deliver, reasonOf } from "./channels.ts";
import { testMessage } from "./message.ts";
import type { NotifyDependencies } from "./tell.ts";

type Settings = Pick<Config, "alerts" | "mail" | "serve">;

export function tellingSettings({
  alerts,
  mail,
  serve,
}: Settings): Pick<NotifyDependencies, "channels" | "switches" | "mail" | "remindAfterMs" | "publicUrl"> {
  return {
    channels: channelsOf(alerts),
    switches: alerts.deadMansSwitches.map(({ name }) => name),
    mail,
    remindAfterMs: alerts.remindAfter === null ? undefined : durationMs(alerts.remindAfter),
    publicUrl: serve.publicUrl,
  };
}

/** Throws all mistakes of the alert settings together. */
export function requireAlertSettings(config: Settings, jobs: readonly Pick<BoundJob, "id">[]): void {
  const { alerts, mail } = config;
  const problems: Problem[] = [];
  const twice = (names: readonly string[]): Set<string> =>
    new Set(names.filter((name, index) => names.indexOf(name) !== index));
  for (const name of twice(channelsOf(alerts).map((channel) => channel.name)))
    problems.push(
      mistake(
        "channels",
        `has two channels with the name ${name} (the log counts too)`,
        "Give each of them its own `name`.",
      ),
    );
  for (const name of twice(alerts.deadMansSwitches.map((one) => one.name)))
    problems.push(
      mistake("deadMansSwitches", `has two entries with the name ${name}`, "Give each of them its own `name`."),
    );
  if (mail === undefined && alerts.channels.some(({ kind }) => kind === "mail"))
    problems.push(mistake("channels", "has a channel of kind mail, but no mail server is configured", "Add `mail`."));
  const known = jobs.map(({ id }) => id);
  for (const { name, jobs: named = [] } of alerts.deadMansSwitches)
    for (const job of named.filter((id) => !known.includes(id)))
      problems.push(
        mistake(
          "deadMansSwitches",
          `has the job ${job} in ${name}, but no such job exists`,
          `Use one of: ${known.join(", ")}.`,
        ),
      );
  if (problems.length > 0) throw new Problems(problems);
}

function mistake(key: string, what: string, cure: string): Problem {
  return new Problem({
    code: "config.alerts",
    message: `\`alerts.${key}\` ${what}.`,
    cure,
    place: "alerts",
    exitCode: exitCodes.configuration,
  });
}

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
    switches: application.config.alerts.deadMansSwitches.map(({ name }) => doing("switch", name, "GET")),
  };
}

interface TestedChannel {
  channel: string;
  kind: string;
  problem: string | null;
  partly: string | null;
}

/** Stores nothing. Calls no dead man's switch: that would report a good run. */
export async function testAlerts(application: Application, named: string | undefined): Promise<TestedChannel[]> {
  const { channels, mail, publicUrl } = tellingSettings(application.config);
  const chosen = channels.filter(({ name }) => named === undefined || name === named);
  if (named !== undefined && chosen.length === 0) {
    const known = channels.map(({ name }) => name).join(", ");
    throw usage(`there is no channel called ${named}`, `use one of: ${known}`);
  }
  const { clock, logger, secrets, instance } = application;
  const message = testMessage({ instance, at: toInstant(clock.now()), publicUrl });
  const secret = (reference: string): string => secrets.reveal(reference);
  const deps = { logger, mail, secret, known: secrets.known };
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
