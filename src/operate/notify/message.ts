import { pageLink, pagePath } from "../../report/page-links.ts";
import { type Alert, type AlertKind, type Severity, countOf, manyOf, severityOf } from "./alert.ts";
import type { AlertEvent, Change } from "./due.ts";

/** One message about all states of one kind that started, grew, ended or were due for a reminder together. */
export interface AlertMessage extends Omit<Alert, "page"> {
  event: AlertEvent | "test";
  severity: Severity;
  /** The sender: the name of this instance, and its ledger. */
  instance: string;
  count: number;
  /** The page that shows it, if the configuration has the public address of the pages. */
  link?: string;
  /** The first few states of the message, if it has several. */
  states: { key: string; summary: string; cure: string; link?: string }[];
  /** When the oldest of the states started, ISO instant. */
  since: string;
  /** When this message was made, ISO instant. */
  at: string;
}

/** The sender, the time, and the address of the pages. */
interface Speaker {
  instance: string;
  at: string;
  publicUrl: string | undefined;
}

/** The same, with the function that completes suggested commands. */
interface Teller extends Speaker {
  suggested: (text: string) => string;
}

const mostNamed = 3;

/** Ended states come first, so that a receiver that uses the key gets open states last. */
export function groupsOf(changes: readonly Change[]): Change[][] {
  const groups = new Map<string, Change[]>();
  const endedFirst = changes.toSorted((one, other) => Number(other.event === "ended") - Number(one.event === "ended"));
  for (const change of endedFirst) {
    const name = `${change.event} ${change.alert.kind}`;
    groups.set(name, [...(groups.get(name) ?? []), change]);
  }
  return [...groups.values()];
}

/** One message for changes with the same event and kind. */
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

/** A message for testing a channel. */
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

/** `ended: hold (3)`, for a subject or a headline. It only has fixed words and a number. */
export function headlineOf({ event, kind, count }: AlertMessage): string {
  return event === "test" ? "test" : `${eventWords[event]}: ${kindWords(kind)} (${count})`;
}

/** Replaces line breaks, invisible characters and characters that change the text direction. */
export function plain(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, " ");
}
