import type { DeliveryFacts } from "./facts.ts";
import type { Lines, View } from "./text.ts";
import { ageOf, counted, instantText, plainView, printable, section, textOf } from "./text.ts";

/** What stands, and who was told of it by which way. */
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
    /** The path of the page that shows it. */
    page: string;
    /** The ways that tell of it; `toldAt` is when each did so last, null where it has not. */
    ways: { way: string; toldAt: string | null }[];
  }[];
  /** What ended, and which way has not told so yet. */
  ending: { key: string; way: string }[];
  ways: AlertWayFacts[];
  switches: AlertWayFacts[];
}

/** A way of telling people or a dead man's switch that is configured. */
export type AlertWayFacts = Pick<DeliveryFacts, "name" | "doneAt" | "problem" | "failingSince"> & { kind: string };

/** What stands now, the oldest first, and how the ways are doing. `now` gives the ages. */
export function alertsText(facts: AlertFacts, now: string, view: View = plainView): string {
  const { alerts, ending, ways, switches } = facts;
  const lines: Lines = [alerts.length === 0 ? "nothing stands that needs a person" : counted(alerts.length, "alert")];
  for (const alert of alerts) {
    const since = `since ${instantText(alert.since, view)} (${ageOf(alert.since, now)})`;
    lines.push(
      section(printable(`${alert.severity}  ${alert.key}, ${since}`), [
        printable(alert.summary),
        `→ ${printable(alert.cure)}`,
        ...(alert.link === null ? [] : [printable(alert.link)]),
        toldLine(alert.ways, view),
      ]),
    );
  }
  lines.push(
    section(
      "ended, and not told yet",
      ending.map(({ key, way }) => printable(`${key}, by ${way}`)),
    ),
    section("ways", ways.length === 0 ? ["none: nobody is told"] : ways.map((way) => wayLine(way, now, view))),
    section(
      "dead man's switches",
      switches.map((one) => wayLine(one, now, view)),
    ),
  );
  return textOf(lines);
}

function toldLine(ways: AlertFacts["alerts"][number]["ways"], view: View): string {
  if (ways.length === 0) return "no way reports it";
  const each = ways.map(({ way, toldAt }) =>
    toldAt === null ? `not yet by ${way}` : `by ${way} ${instantText(toldAt, view)}`,
  );
  return printable(`told ${each.join(", ")}`);
}

function wayLine({ name, kind, doneAt, problem, failingSince }: AlertWayFacts, now: string, view: View): string {
  const last = doneAt === null ? "never yet" : `last ${instantText(doneAt, view)}`;
  const fails = problem === null ? "" : `; fails for ${ageOf(failingSince ?? now, now)}: ${problem}`;
  return printable(`${name === kind ? name : `${name} (${kind})`}: ${last}${fails}`);
}
