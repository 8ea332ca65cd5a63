import { pageLink, pagePath } from "../../report/page-links.ts";
import {
  type Alert,
  type AlertKind,
  type Severity,
  countOf,
  manyOf,
  severityOf,
  type AlertEvent,
  type Change,
} from "./alert.ts";

export interface AlertMessage extends Omit<Alert, "page"> {
  event: AlertEvent | "test";
  severity: Severity;
  instance: string;
  count: number;
  link?: string;
  states: { key: string; summary: string; cure: string; link?: string }[];
  /** Start of the oldest state, ISO instant. */
  since: string;
  /** ISO instant. */
  at: string;
}

interface Speaker {
  instance: string;
  at: string;
  publicUrl: string | undefined;
}

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

/** For example `ended: hold (3)`. Only fixed words and a number, for a subject. */
export function headlineOf({ event, kind, count }: AlertMessage): string {
  return event === "test" ? "test" : `${eventWords[event]}: ${kindWords(kind)} (${count})`;
}

/** Replaces line breaks, invisible characters and characters that change the text direction. */
export function plain(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, " ");
}
