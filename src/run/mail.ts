import { createTransport } from "nodemailer";
import type { MailSettings } from "./run-settings.ts";

/** A message with files. What it says holds ids, counts and names of files: it passes servers of others. */
export interface Mail {
  to: readonly string[];
  subject: string;
  text: string;
  files: readonly { name: string; path: string }[];
}

/**
 * Sends a message through the mail server of the configuration, once. Throws an Error with what the server answered,
 * also where it refused one of several recipients, or after the time-out; what it says holds no password.
 */
export async function sendMail(
  { host, port, tls, user, password, from, timeoutMs }: MailSettings,
  { to, subject, text, files }: Mail,
  secret: (reference: string) => string,
): Promise<void> {
  const transport = createTransport({
    host,
    port,
    secure: tls === "implicit",
    requireTLS: tls === "starttls",
    ignoreTLS: tls === "none",
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
      attachments: files.map(({ name, path }) => ({ filename: name, path })),
    });
    if (rejected.length > 0) throw new Error(`${rejected.length} of ${to.length} recipients were refused`);
  } finally {
    transport.close();
  }
}
