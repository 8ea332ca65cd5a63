import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { mailSettingsSchema } from "../../../src/engine/run/run-settings.ts";
import { sendMail } from "../../../src/operate/notify/mail.ts";
import { startMailServer } from "../../support/mail-server.ts";
import { folder } from "../../support/world/start.ts";

const none = (): string => {
  throw new Error("no secret is asked for");
};

function settings(port: number, fields: object = {}) {
  return mailSettingsSchema.parse({ host: "127.0.0.1", port, tls: "none", from: "crm-sync@example.com", ...fields });
}

describe("mail", () => {
  it("brings files to each recipient, and logs in with the secret", async () => {
    const server = await startMailServer();
    const path = join(folder(), "orders-2026-10.csv");
    writeFileSync(path, "order,amount\r\ncrm/10248,440.00\r\n");
    await sendMail(
      settings(server.port, { user: "crm-sync", password: "env:MAIL_PASSWORD" }),
      {
        to: ["finance@example.com", "audit@example.com"],
        subject: "orders 2026-10",
        text: "1 report",
        files: [{ name: "orders-2026-10.csv", path }],
      },
      (reference) => (reference === "env:MAIL_PASSWORD" ? "open sesame" : none()),
    );
    const [mail, ...others] = server.received;
    expect(others).toEqual([]);
    expect(mail).toMatchObject({
      login: "\0crm-sync\0open sesame",
      to: ["RCPT TO:<finance@example.com>", "RCPT TO:<audit@example.com>"],
    });
    expect(mail?.from).toContain("<crm-sync@example.com>");
    expect(mail?.raw).toContain("orders-2026-10.csv");
    expect(mail?.raw).toMatch(/order,amount|b3JkZXIsYW1vdW50/u);
    expect(mail?.raw).not.toContain("open sesame");
  });

  it("fails where the server refuses a recipient, is not there or does not encrypt, and never sends in clear then", async () => {
    const refusing = await startMailServer({ refuse: "550 nobody here" });
    const mail = { to: ["nobody@example.com"], subject: "s", text: "t", files: [] };
    await expect(sendMail(settings(refusing.port), mail, none)).rejects.toThrow("550 nobody here");
    await expect(sendMail(settings(1), mail, none)).rejects.toThrow(/ECONNREFUSED/u);
    const plain = await startMailServer();
    await expect(sendMail(settings(plain.port, { tls: "starttls" }), mail, none)).rejects.toThrow();
    expect(plain.received).toEqual([]);
  });

  it("is no success where one of several recipients is refused", async () => {
    const server = await startMailServer({ refuse: "550 nobody here", only: "audit@" });
    const mail = { to: ["finance@example.com", "audit@example.com"], subject: "s", text: "t", files: [] };
    await expect(sendMail(settings(server.port), mail, none)).rejects.toThrow("1 of 2 recipients were refused");
  });

  it("is not configured with half a login, or with a password over a network in clear", () => {
    const given = (fields: object): boolean =>
      mailSettingsSchema.safeParse({ from: "a@example.com", ...fields }).success;
    expect(given({ host: "mail.example.com" })).toBe(true);
    expect(given({ host: "mail.example.com", user: "u" })).toBe(false);
    expect(given({ host: "mail.example.com", user: "u", password: "env:P", tls: "none" })).toBe(false);
    expect(given({ host: "localhost", user: "u", password: "env:P", tls: "none" })).toBe(true);
    expect(given({ host: "mail.example.com", user: "u", password: "clear" })).toBe(false);
  });
});
