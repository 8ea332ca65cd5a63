import { createTransport } from "nodemailer";
import type { MailSettings } from "../engine/run/run-settings.ts";

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
export async function submitMail(
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
