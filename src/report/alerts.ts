import type { DeliveryFacts } from "./facts.ts";
import { type Lines, type View, ageOf, counted, instantText, plainView, printable, section, textOf } from "./text.ts";

export interface AlertFacts {
  alerts: {
    key: string;
    kind: string;
    severity: string;
    summary: string;
    cure: string;
    count: number;
    since: string;
    link: string | null;
    page: string;
    /** `toldAt`: when the channel last reported the alert; null if never. */
    channels: { channel: string; toldAt: string | null }[];
  }[];
  /** Ended alerts whose end the channel has not reported yet. */
  ending: { key: string; channel: string }[];
  channels: AlertChannelFacts[];
  switches: AlertChannelFacts[];
}

export type AlertChannelFacts = Pick<DeliveryFacts, "name" | "doneAt" | "problem" | "failingSince"> & { kind: string };

export function alertsText(facts: AlertFacts, now: string, view: View = plainView): string {
  const { alerts, ending, channels, switches } = facts;
  const lines: Lines = [alerts.length === 0 ? "nothing needs a person" : counted(alerts.length, "alert")];
  for (const alert of alerts) {
    const since = `since ${instantText(alert.since, view)} (${ageOf(alert.since, now)})`;
    lines.push(
      section(printable(`${alert.severity}  ${alert.key}, ${since}`), [
        printable(alert.summary),
        `→ ${printable(alert.cure)}`,
        ...(alert.link === null ? [] : [printable(alert.link)]),
        toldLine(alert.channels, view),
      ]),
    );
  }
  lines.push(
    section(
      "ended, and not told yet",
      ending.map(({ key, channel }) => printable(`${key}, by ${channel}`)),
    ),
    section(
      "channels",
      channels.length === 0 ? ["none: nobody is told"] : channels.map((channel) => channelLine(channel, now, view)),
    ),
    section(
      "dead man's switches",
      switches.map((one) => channelLine(one, now, view)),
    ),
  );
  return textOf(lines);
}

function toldLine(channels: AlertFacts["alerts"][number]["channels"], view: View): string {
  if (channels.length === 0) return "no channel reports it";
  const each = channels.map(({ channel, toldAt }) =>
    toldAt === null ? `not yet by ${channel}` : `by ${channel} ${instantText(toldAt, view)}`,
  );
  return printable(`told ${each.join(", ")}`);
}

function channelLine(
  { name, kind, doneAt, problem, failingSince }: AlertChannelFacts,
  now: string,
  view: View,
): string {
  const last = doneAt === null ? "never yet" : `last ${instantText(doneAt, view)}`;
  const fails = problem === null ? "" : `; fails for ${ageOf(failingSince ?? now, now)}: ${problem}`;
  return printable(`${name === kind ? name : `${name} (${kind})`}: ${last}${fails}`);
}
