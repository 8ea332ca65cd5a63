import { callSecret } from "../webhook.ts";
import type { AlertMessage } from "./message.ts";
import { headlineOf, linesOf, plain } from "./message.ts";
import type { Send } from "./way.ts";

/** Characters that Slack takes as the text of a section. */
const mostText = 3_000;

/** A message by an incoming webhook of Slack. */
export const toSlack: Send<{ url: string; timeoutMs: number }> = async (message, { url, timeoutMs }, { secret }) => {
  const json = JSON.stringify(slackMessage(message));
  await callSecret({ url, timeoutMs, what: "Slack" }, secret, { method: "POST", json });
  return {};
};

/** The message as blocks, and as one text for notifications. */
export function slackMessage(message: AlertMessage) {
  const headline = headlineOf(message);
  const states = message.states.map(({ summary, link }) =>
    section(link === undefined ? escaped(summary) : `${escaped(summary)} ${linkTo(link)}`),
  );
  return {
    text: cut(`${escaped(headline)}: ${escaped(message.summary)}`),
    unfurl_links: false,
    unfurl_media: false,
    blocks: [
      { type: "header", text: { type: "plain_text", text: headline.slice(0, 150), emoji: false } },
      ...linesOf(message).map(({ label, text }) => section(`*${label}:* ${escaped(text)}`)),
      ...states,
      ...(message.link === undefined ? [] : [section(linkTo(message.link))]),
    ],
  };
}

function section(text: string) {
  return { type: "section", text: { type: "mrkdwn", text: cut(text) } };
}

/** `|` ends the address of a link. */
function linkTo(link: string): string {
  return `<${escaped(link).replaceAll("|", "%7C")}|open the page>`;
}

/** So that an id neither calls everybody nor becomes a link: these three characters begin all of that. */
function escaped(text: string): string {
  return plain(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Not in the middle of an escape. */
function cut(text: string): string {
  return text.length <= mostText
    ? text
    : `${text
        .slice(0, mostText - 1)
        .replace(/&[a-z]{0,3}$/u, "")
        .toWellFormed()}…`;
}
