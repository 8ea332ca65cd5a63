import { createTransport } from "nodemailer";
import { messageOf } from "../../base/errors.ts";
import type { MailSettings } from "../../engine/run/run-settings.ts";
import { Unreached } from "../webhook.ts";
import type { Send } from "./channels.ts";
import { headlineOf, linesOf, plain } from "./message.ts";
import type { AlertMessage } from "./message.ts";

/** A message, maybe with files. It only has ids, counts and file names, because it passes through other servers. */
interface Mail {
  to: readonly string[];
  subject: string;
  text: string;
  html?: string;
  files: readonly { name: string; path: string }[];
}

/**
 * Sends a message once through the configured mail server, and returns how many recipients the server refused. Throws
 * an Error with the server's answer if it refused all of them, and after the time-out. The Error has no password.
 */
async function submitMail(
  { host, port, tls, user, password, from, timeoutMs }: MailSettings,
  { to, subject, text, html, files }: Mail,
  secret: (reference: string) => string,
): Promise<{ refused: number }> {
  const transport = createTransport({
    host,
    port,
    secure: tls === "implicit",
    requireTLS: tls === "starttls",
    ignoreTLS: tls === "none",
    dnsTimeout: timeoutMs,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    disableUrlAccess: true,
    ...(user !== undefined && password !== undefined && { auth: { user, pass: secret(password) } }),
  });
  try {
    const { rejected } = await transport.sendMail({
      from,
      to: [...to],
      subject,
      text,
      ...(html === undefined ? {} : { html }),
      attachments: files.map(({ name, path }) => ({ filename: name, path })),
    });
    return { refused: rejected.length };
  } finally {
    transport.close();
  }
}

/** The same for a message that all recipients must get: one refused recipient is an Error too. */
export async function sendMail(
  settings: MailSettings,
  mail: Mail,
  secret: (reference: string) => string,
): Promise<void> {
  const { refused } = await submitMail(settings, mail, secret);
  if (refused > 0) throw new Error(`${refused} of ${mail.to.length} recipients were refused`);
}

/**
 * Sends a message to each recipient. A refused recipient is reported. The others still get the message, and only once.
 */
export const toMail: Send<{ to: readonly string[] }> = async (message, { to }, { mail, secret }) => {
  if (mail === undefined) throw new Error("no mail server is configured");
  const content = { to, subject: subjectOf(message), text: textOf(message), html: htmlOf(message), files: [] };
  const sent = submitMail(mail, content, secret).catch((thrown: unknown) => {
    throw isAnswer(thrown) ? thrown : new Unreached(messageOf(thrown), { cause: thrown });
  });
  const { refused } = await Promise.race([sent, tooLong(mostSteps * mail.timeoutMs)]);
  return refused === 0 ? {} : { partly: `${refused} of ${to.length} recipients were refused` };
};

/** The steps of a mail conversation; each may take the time-out. */
const mostSteps = 6;

/** A server that sends a little again and again never reaches the silence time-out, and would block the run. */
async function tooLong(ms: number): Promise<never> {
  const signal = AbortSignal.timeout(ms);
  return await new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(new Unreached(`the mail server took longer than ${ms} ms`)));
  });
}

/** Whether the server answered with an error, and did not just stay silent. */
function isAnswer(thrown: unknown): boolean {
  return thrown instanceof Error && "responseCode" in thrown && typeof thrown.responseCode === "number";
}

/** Fixed words, a count and the name of the instance, because a header must have nothing from a record. */
function subjectOf(message: AlertMessage): string {
  return `crm-sync, ${plain(message.instance)}: ${headlineOf(message)}`;
}

function textOf(message: AlertMessage): string {
  const lines = linesOf(message).map(({ label, text }) => `${label}: ${plain(text)}`);
  const states = message.states.map((state) => `- ${plain(state.summary)}\n  ${plain(state.cure)}${linked(state)}`);
  return [lines.join("\n"), states.join("\n"), message.link ?? ""].filter((part) => part !== "").join("\n\n") + "\n";
}

function linked({ link }: { link?: string }): string {
  return link === undefined ? "" : `\n  ${link}`;
}

function htmlOf(message: AlertMessage): string {
  const rows = linesOf(message).map(
    ({ label, text }) => `<tr><th align="left">${escaped(label)}</th><td>${escaped(text)}</td></tr>`,
  );
  const states = message.states.map(
    ({ summary, cure, link }) => `<li>${anchor(summary, link)}<br>${escaped(cure)}</li>`,
  );
  const list = states.length === 0 ? "" : `<ul>${states.join("")}</ul>`;
  const link = message.link === undefined ? "" : `<p>${anchor(message.link, message.link)}</p>`;
  return `<!doctype html><html lang="en"><body><table>${rows.join("")}</table>${list}${link}</body></html>`;
}

function anchor(text: string, link: string | undefined): string {
  return link === undefined ? escaped(text) : `<a href="${escaped(link)}">${escaped(text)}</a>`;
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escaped(text: string): string {
  return plain(text).replaceAll(/[&<>"']/gu, (character) => entities[character] ?? "");
}
