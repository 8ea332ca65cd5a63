import { callSecret } from "../webhook.ts";
import type { AlertMessage } from "./message.ts";
import { headlineOf, linesOf, plain } from "./message.ts";
import type { Send } from "./way.ts";

/** Characters of one text: a message may have 28 KB in all. */
const mostText = 1_500;

/** A card by a webhook of Workflows in Microsoft Teams. */
export const toTeams: Send<{ url: string; timeoutMs: number }> = async (message, { url, timeoutMs }, { secret }) => {
  const json = JSON.stringify(teamsMessage(message));
  await callSecret({ url, timeoutMs, what: "Teams" }, secret, { method: "POST", json });
  return {};
};

/** The message as an Adaptive Card, in the form that "When a Teams webhook request is received" takes. */
export function teamsMessage(message: AlertMessage) {
  const open = (title: string, url: string | undefined) =>
    url === undefined ? [] : [{ type: "Action.OpenUrl", title, url }];
  return {
    type: "message",
    attachments: [
      {
        contentType: "application/vnd.microsoft.card.adaptive",
        contentUrl: null,
        content: {
          $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
          type: "AdaptiveCard",
          version: "1.4",
          body: [
            line([{ text: headlineOf(message), weight: "Bolder", size: "Large" }]),
            ...linesOf(message).map(({ label, text }) => line([{ text: `${label}: `, weight: "Bolder" }, { text }])),
            ...message.states.map(({ summary }) => line([{ text: `• ${summary}` }])),
          ],
          actions: open("Open the page", message.link),
        },
      },
    ],
  };
}

/** Runs of text, in which nothing is taken for markup as it would be in a TextBlock. */
function line(runs: readonly { text: string; weight?: string; size?: string }[]) {
  return {
    type: "RichTextBlock",
    inlines: runs.map(({ text, ...look }) => ({ type: "TextRun", text: cut(plain(text)), ...look })),
  };
}

function cut(text: string): string {
  return text.length <= mostText ? text : `${text.slice(0, mostText - 1).toWellFormed()}…`;
}
