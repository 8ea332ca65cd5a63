import { pageLink, pagePath } from "../../report/page-links.ts";
import type { Alert, AlertKind, Severity } from "./alert.ts";
import { countOf, manyOf, severityOf } from "./alert.ts";
import type { AlertEvent, Change } from "./due.ts";

/** What is told: all that began, grew, still stands or ended together and is of one kind, as one message. */
export interface AlertMessage extends Omit<Alert, "page"> {
  event: AlertEvent | "test";
  severity: Severity;
  /** Who speaks: the name of this instance, and its ledger. */
  instance: string;
  count: number;
  /** The page that shows it, where the configuration says at which address the pages are reached. */
  link?: string;
  /** The first few states of the message, where it tells of several. */
  states: { key: string; summary: string; cure: string; link?: string }[];
  /** Since when the oldest of the states lasts, ISO instant. */
  since: string;
  /** When this message was made, ISO instant. */
  at: string;
}

/** Who speaks, when, and where the pages are. */
export interface Speaker {
  instance: string;
  at: string;
  publicUrl: string | undefined;
}

/** The same, and how the commands that a message suggests are completed. */
export interface Teller extends Speaker {
  suggested: (text: string) => string;
}

const mostNamed = 3;

/** What ended comes first: a receiver that goes by the key hears last of what stands. */
export function groupsOf(changes: readonly Change[]): Change[][] {
  const groups = new Map<string, Change[]>();
  const endedFirst = changes.toSorted((one, other) => Number(other.event === "ended") - Number(one.event === "ended"));
  for (const change of endedFirst) {
    const name = `${change.event} ${change.alert.kind}`;
    groups.set(name, [...(groups.get(name) ?? []), change]);
  }
  return [...groups.values()];
}

/** One message for changes that are the same event of the same kind. */
export function composed(standing: readonly Change[], { instance, at, publicUrl, suggested }: Teller): AlertMessage {
  const changes = standing.map((change) => {
    return { ...change, alert: { ...change.alert, cure: suggested(change.alert.cure) } };
  });
  const [first] = changes;
  if (first === undefined) throw new TypeError("a message has at least one state");
  const { event, alert } = first;
  const { kind } = alert;
  const count = changes.reduce((sum, change) => sum + countOf(change.alert), 0);
  const since = changes.map((change) => change.since).reduce((a, b) => (a < b ? a : b));
  const linkTo = (page = pagePath.today()): { link?: string } =>
    publicUrl === undefined ? {} : { link: pageLink(publicUrl, page) };
  const base = { kind, event, severity: severityOf(kind), instance, count, since, at };
  if (changes.length === 1)
    return { ...base, key: alert.key, ...said(event, alert), ...linkTo(alert.page), states: [] };
  const named = changes.slice(0, mostNamed).map((change) => change.alert);
  const more = changes.length > mostNamed ? [`and ${changes.length - mostNamed} more`] : [];
  const summary = `${count} ${manyOf(kind)}: ${[...named.map((item) => item.summary), ...more].join("; ")}`;
  const cure = [...new Set(named.map((item) => item.cure))].join("; ");
  return {
    ...base,
    key: kind,
    ...said(event, { summary, cure }),
    ...linkTo(),
    states: named.map((item) => ({ key: item.key, summary: item.summary, cure: item.cure, ...linkTo(item.page) })),
  };
}

function said(
  event: AlertEvent,
  { summary, cure }: Pick<Alert, "summary" | "cure">,
): Pick<AlertMessage, "summary" | "cure"> {
  if (event === "ended") return { summary: `this has ended: ${summary}`, cure: "nothing: it has ended" };
  return { summary: event === "reminder" ? `this still stands: ${summary}` : summary, cure };
}

/** What is sent to see that a channel works. */
export function testMessage({ instance, at, publicUrl }: Speaker): AlertMessage {
  return {
    key: "test",
    kind: "settings",
    event: "test",
    severity: "notice",
    summary: "this is a test: nothing is wrong, and alerts arrive here",
    cure: "nothing: somebody asked for this message with `crm-sync alerts test`",
    instance,
    count: 1,
    ...(publicUrl === undefined ? {} : { link: pageLink(publicUrl, pagePath.today()) }),
    states: [],
    since: at,
    at,
  };
}

const eventWords: Record<AlertMessage["event"], string> = {
  started: "started",
  grew: "grew",
  reminder: "still stands",
  ended: "ended",
  test: "test",
};

const kindWords = (kind: AlertKind): string => kind.replaceAll("-", " ");

/** `ended: 3 hold`, for a subject or a headline: made of closed words and a number alone. */
export function headlineOf({ event, kind, count }: AlertMessage): string {
  return event === "test" ? "test" : `${eventWords[event]}: ${kindWords(kind)} (${count})`;
}

/** Label and text of each line of a message for people, most important first. */
export function linesOf(message: AlertMessage): { label: string; text: string }[] {
  const { summary, cure, since, severity, instance } = message;
  return [
    { label: "What", text: summary },
    { label: "Do", text: cure },
    { label: "Since", text: since },
    { label: "Severity", text: severity },
    { label: "From", text: instance },
  ];
}

/** On one line, without characters that are not seen or turn the direction of what follows. */
export function plain(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, " ");
}
