import { durationMs } from "../base/duration.ts";
import { exitCodes, Problem, Problems } from "../base/errors.ts";
import type { Config } from "../config/config.ts";
import type { BoundJob } from "../operate/job.ts";
import type { NotifyDependencies } from "../operate/notify/tell.ts";
import { channelsOf } from "../operate/notify/channels.ts";

type Settings = Pick<Config, "notify" | "alerts" | "mail" | "serve">;

/** What telling people needs of the configuration. */
export function tellingSettings({
  notify,
  alerts,
  mail,
  serve,
}: Settings): Pick<NotifyDependencies, "channels" | "switches" | "mail" | "remindAfterMs" | "publicUrl"> {
  return {
    channels: channelsOf({ notify, alerts }),
    switches: alerts.deadMansSwitches.map(({ name }) => name),
    mail,
    remindAfterMs: alerts.remindAfter === null ? undefined : durationMs(alerts.remindAfter),
    publicUrl: serve.publicUrl,
  };
}

/** Throws all that does not fit together of who is told of what, and by which channels. */
export function requireAlertSettings(config: Settings, jobs: readonly Pick<BoundJob, "id">[]): void {
  const { alerts, mail } = config;
  const problems: Problem[] = [];
  const twice = (names: readonly string[]): Set<string> =>
    new Set(names.filter((name, index) => names.indexOf(name) !== index));
  for (const name of twice(channelsOf(config).map((channel) => channel.name)))
    problems.push(
      mistake(
        "channels",
        `has two channels with the name ${name} (\`notify\` counts too)`,
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
