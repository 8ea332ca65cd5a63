import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { KnownSecrets } from "../../../src/base/known-secrets.ts";
import { mailSettingsSchema } from "../../../src/engine/run/run-settings.ts";
import { toMail } from "../../../src/operate/notify/channels.ts";
import { testMessage } from "../../../src/operate/notify/message.ts";
import { startMailServer } from "../../support/mail-server.ts";

describe("mail", () => {
  it("logs in with the secret, which stands in no message", async () => {
    const server = await startMailServer();
    const mail = mailSettingsSchema.parse({
      host: "127.0.0.1",
      port: server.port,
      tls: "none",
      from: "crm-sync@example.com",
      user: "crm-sync",
      password: "env:MAIL_PASSWORD",
    });
    const secret = (reference: string): string => (reference === "env:MAIL_PASSWORD" ? "open sesame" : "");
    const deps = { mail, secret, known: new KnownSecrets(), logger: pino({ level: "silent" }) };
    const message = testMessage({ instance: "here", at: "2026-10-01T08:00:00.000Z", publicUrl: undefined });
    await toMail(message, { to: ["ops@example.com"] }, deps);
    expect(server.received).toMatchObject([{ login: "\0crm-sync\0open sesame" }]);
    expect(server.received[0]?.from).toContain("<crm-sync@example.com>");
    expect(server.received[0]?.raw).not.toContain("open sesame");
  });

  it("is not configured with half a login, or with a password over a network in clear", () => {
    const given = (fields: object): boolean =>
      mailSettingsSchema.safeParse({ from: "a@example.com", ...fields }).success;
    expect(given({ host: "mail.example.com" })).toBe(true);
    expect(given({ host: "mail.example.com", user: "u" })).toBe(false);
    expect(given({ host: "mail.example.com", user: "u", password: "env:P", tls: "none" })).toBe(false);
    expect(given({ host: "localhost", user: "u", password: "env:P", tls: "none" })).toBe(true);
    expect(given({ host: "::1", user: "u", password: "env:P", tls: "none" })).toBe(true);
    expect(given({ host: "mail server", user: "u", password: "env:P", tls: "none" })).toBe(false);
    expect(given({ host: "mail.example.com", user: "u", password: "clear" })).toBe(false);
  });
});
