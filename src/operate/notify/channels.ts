import { messageOf } from "../../base/errors.ts";
import type { KnownSecrets } from "../../base/known-secrets.ts";
import type { Logger } from "../../base/logger.ts";
import type { MailSettings } from "../../engine/run/run-settings.ts";
import { scrub } from "../../http/redaction.ts";
import type { AlertSettings, ChannelSettings } from "../notify-settings.ts";
import type { Interest } from "./alert.ts";
import { createTransport } from "nodemailer";
import { headlineOf, plain, type AlertMessage } from "./message.ts";
import { isPlainHttp } from "../../base/loopback.ts";
import { credentialOf } from "../../http/secrets.ts";
import { undici } from "../../http/undici.ts";

export interface ChannelDependencies {
  logger: Logger;
  mail: MailSettings | undefined;
  secret: (reference: string) => string;
  known: KnownSecrets;
}

export interface Delivered {
  partly?: string;
}

export interface Channel extends Interest {
  name: string;
  settings: ChannelSettings | { kind: "log" };
}

export function channelsOf({ channels }: Pick<AlertSettings, "channels">): Channel[] {
  return [
    { name: "log", settings: { kind: "log" } },
    ...channels.map((settings) => {
      const { name = settings.kind, kinds, severity } = settings;
      return { name, settings, kinds, severity };
    }),
  ];
}

/** Delivers a message once. Throws if nobody got it; `reasonOf` gives the reason for display. */
export async function deliver(
  message: AlertMessage,
  { settings }: Channel,
  deps: ChannelDependencies,
): Promise<Delivered> {
  switch (settings.kind) {
    case "log":
      toLog(message, deps);
      return {};
    case "webhook":
      await postJson(settings, JSON.stringify(message), deps.secret);
      return {};
    case "mail":
      return await toMail(message, settings, deps);
  }
}

/** Why a delivery failed, without secrets and people's addresses, which servers often repeat. */
export function reasonOf(thrown: unknown, known: KnownSecrets): string {
  return scrub(known.words(messageOf(thrown)))
    .replaceAll(/\s+/gu, " ")
    .slice(0, 500);
}

function toLog(message: AlertMessage, { logger }: ChannelDependencies): void {
  const { event, states: _states, at: _at, ...fields } = message;
  if (event === "test") logger.warn({ event: "alert.test", ...fields }, "a test of alerts");
  else logger.warn({ event: `alert.${event}`, ...fields }, "alert");
}

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

interface WebhookTarget {
  url: string;
  token?: string | undefined;
  timeoutMs: number;
}

/** No answer came; further messages to this place would wait as long. */
export class Unreached extends Error {}

/** Posts JSON. Throws an Error for any answer but 2xx, and after the time-out. */
export async function postJson(
  { url, token, timeoutMs }: WebhookTarget,
  body: string,
  secret: (reference: string) => string,
): Promise<void> {
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (token !== undefined) headers["authorization"] = `Bearer ${credentialOf(secret(token))}`;
  await call({ url, method: "POST", headers, body, timeoutMs, what: "the webhook" });
}

/** Calls a secret address, which no error contains. Throws an Error for any answer but 2xx, and after the time-out. */
export async function callSecret(
  { url, timeoutMs, what }: { url: string; timeoutMs: number; what: string },
  secret: (reference: string) => string,
): Promise<void> {
  const address = credentialOf(secret(url)).trim();
  if (!/^https?:\/\//iu.test(address) || !URL.canParse(address))
    throw new Error(`${url} holds no address that begins with https://`);
  if (isPlainHttp(address)) throw new Error(`${url} holds an address that is not https, and it is a secret`);
  await call({ url: address, method: "GET", headers: {}, body: null, timeoutMs, what });
}

async function call(to: {
  url: string;
  method: "GET" | "POST";
  headers: Record<string, string>;
  body: string | null;
  timeoutMs: number;
  what: string;
}): Promise<void> {
  const { url, method, headers, body, timeoutMs, what } = to;
  const signal = AbortSignal.timeout(timeoutMs);
  let status;
  try {
    const answer = await undici().request(url, { method, headers, body, signal });
    status = answer.statusCode;
    await answer.body.dump({ limit: 65_536, signal });
  } catch (thrown) {
    if (signal.aborted) throw new Unreached(`${what} took longer than ${timeoutMs} ms`, { cause: thrown });
    throw new Unreached(`${what} could not be reached (${codeOf(thrown)})`, { cause: thrown });
  }
  if (status < 200 || status > 299) throw new Error(`${what} answered HTTP ${status}`);
}

/** The full message may contain the address. */
function codeOf(thrown: unknown): string {
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  return typeof code === "string" && /^[A-Z0-9_]{1,60}$/u.test(code) ? code : "no connection";
}
