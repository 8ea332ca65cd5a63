import { createTransport } from "nodemailer";
import { messageOf } from "../../base/errors.ts";
import type { MailSettings } from "../../engine/run/run-settings.ts";
import { Unreached } from "../webhook.ts";
import type { ChannelDependencies, Delivered } from "./channels.ts";
import { headlineOf, plain, type AlertMessage } from "./message.ts";

/** Only ids and counts, because it passes through other servers. */
interface Mail {
  to: readonly string[];
  subject: string;
  text: string;
}

/** Throws an Error without the password if all recipients were refused, and after the time-out. */
async function submitMail(
  { host, port, tls, user, password, from, timeoutMs }: MailSettings,
  mail: Mail,
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
    const { rejected } = await transport.sendMail({ ...mail, from, to: [...mail.to] });
    return { refused: rejected.length };
  } finally {
    transport.close();
  }
}

export async function toMail(
  message: AlertMessage,
  { to }: { to: readonly string[] },
  { mail, secret }: ChannelDependencies,
): Promise<Delivered> {
  if (mail === undefined) throw new Error("no mail server is configured");
  const content = { to, subject: subjectOf(message), text: textOf(message) };
  const sent = submitMail(mail, content, secret).catch((thrown: unknown) => {
    throw isAnswer(thrown) ? thrown : new Unreached(messageOf(thrown), { cause: thrown });
  });
  const { refused } = await Promise.race([sent, tooLong(mostSteps * mail.timeoutMs)]);
  return refused === 0 ? {} : { partly: `${refused} of ${to.length} recipients were refused` };
}

/** Steps of a mail conversation. Each may take the time-out. */
const mostSteps = 6;

/** A server that keeps sending a little never reaches the silence time-out, and would block the run. */
async function tooLong(ms: number): Promise<never> {
  const signal = AbortSignal.timeout(ms);
  return await new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(new Unreached(`the mail server took longer than ${ms} ms`)));
  });
}

function isAnswer(thrown: unknown): boolean {
  return thrown instanceof Error && "responseCode" in thrown && typeof thrown.responseCode === "number";
}

/** Only fixed words, a count and the instance name: a header must contain nothing from a record. */
function subjectOf(message: AlertMessage): string {
  return `crm-sync, ${plain(message.instance)}: ${headlineOf(message)}`;
}

function textOf(message: AlertMessage): string {
  const { summary, cure, since, severity, instance, states, link } = message;
  const lines = [`What: ${summary}`, `Do: ${cure}`, `Since: ${since}`, `Severity: ${severity}`, `From: ${instance}`];
  const named = states.map((state) => [`- ${state.summary}`, state.cure, state.link ?? ""].map(plain).filter(Boolean));
  const parts = [lines.map(plain), named.map((of) => of.join("\n  ")), link === undefined ? [] : [link]];
  return `${parts
    .filter((part) => part.length > 0)
    .map((part) => part.join("\n"))
    .join("\n\n")}\n`;
}
