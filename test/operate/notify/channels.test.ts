import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import { createServer as createPlainServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { pino } from "pino";
import { describe, expect, it, onTestFinished } from "vitest";
import { KnownSecrets } from "../../../src/base/known-secrets.ts";
import { messageOf } from "../../../src/base/errors.ts";
import { mailSettingsSchema } from "../../../src/engine/run/run-settings.ts";
import type { AlertMessage } from "../../../src/operate/notify/message.ts";
import { alertSettingsSchema } from "../../../src/operate/notify-settings.ts";
import { deliver, reasonOf, channelsOf, callSecret } from "../../../src/operate/notify/channels.ts";
import { startServer, type Asked } from "../../support/http-server.ts";
import { startMailServer } from "../../support/mail-server.ts";
import { folder } from "../../support/world/start.ts";
import { HandClock } from "../hand-schedule.ts";

const known = new KnownSecrets();

const at = "2026-10-01T08:00:00.000Z";

function message(fields: Partial<AlertMessage> = {}): AlertMessage {
  return {
    key: "hold:rev_1",
    kind: "hold",
    event: "started",
    severity: "warning",
    summary: "crm/C1: 7 revokes are more than the limit of 5",
    cure: "crm-sync approve rev_1 --reason TEXT, or reject",
    count: 1,
    link: "https://sync.example.com/hold/rev_1",
    states: [],
    instance: "north (ledger_1)",
    since: at,
    at,
    ...fields,
  };
}

/** What somebody may have called a customer. */
const hostile = 'C<!channel>&amp; <https://evil.example|x> [a](https://evil.example) "\r\nBcc: all@example.com\u202e';

async function send(
  channel: object,
  options: {
    secrets?: Record<string, string>;
    mailPort?: number;
    timeoutMs?: number;
    tls?: "none" | "starttls";
    told?: AlertMessage;
  } = {},
): Promise<{ problem: string | undefined; partly: string | undefined }> {
  const alerts = alertSettingsSchema.parse({ channels: [channel] });
  const [first] = channelsOf(alerts).slice(-1);
  if (first === undefined) throw new Error("there is no channel");
  const mail =
    options.mailPort === undefined
      ? undefined
      : mailSettingsSchema.parse({
          host: "127.0.0.1",
          port: options.mailPort,
          tls: options.tls ?? "none",
          from: "crm-sync@example.com",
          timeoutMs: options.timeoutMs ?? 2_000,
        });
  const deps = {
    clock: new HandClock(at),
    logger: pino({ level: "silent" }),
    mail,
    secret: (reference: string) => options.secrets?.[reference] ?? "",
    known,
  };
  try {
    const { partly } = await deliver(options.told ?? message(), first, deps);
    return { problem: undefined, partly };
  } catch (thrown) {
    return { problem: reasonOf(thrown, known), partly: undefined };
  }
}

async function receiver(status: number | undefined): Promise<{ url: string; got: Asked[] }> {
  const got: Asked[] = [];
  const url = await startServer((asked, response) => {
    got.push(asked);
    if (status !== undefined) response.writeHead(status).end("ok");
  });
  return { url: `${url}/services/T0/B0/chat-secret`, got };
}

/** What went wrong with a call to the address behind a reference. */
async function calling(url: string, timeoutMs = 60_000): Promise<string | undefined> {
  const target = { url: "env:PING", timeoutMs, what: "its address" };
  return await callSecret(target, () => url).then(
    () => undefined,
    (thrown) => reasonOf(thrown, known),
  );
}

describe("a call to an address that is a secret", () => {
  it.each([
    [429, "answered HTTP 429"],
    [500, "answered HTTP 500"],
    [302, "answered HTTP 302"],
    [undefined, "took longer than 1000 ms"],
  ])(
    "fails where the answer is %s, and no word of the address is in the reason",
    { tags: "long" },
    async (status, reason) => {
      const { url, got } = await receiver(status);
      const problem = await calling(url, status === undefined ? 1_000 : 60_000);
      expect(problem).toContain(reason);
      expect(problem).not.toMatch(/127\.0\.0\.1|chat-secret|services/u);
      expect(got).toHaveLength(1);
    },
  );

  it.each([
    ["http://hooks.example.com/chat-secret", "not https"],
    ["hooks.example.com/chat-secret", "no address"],
    ["http://127.0.0.1:1/chat-secret", "could not be reached (ECONNREFUSED)"],
    ["https://no-such-host.invalid/chat-secret", "could not be reached ("],
  ])("fails to %s", { tags: "long" }, async (url, reason) => {
    const problem = await calling(url);
    expect(problem).toContain(reason);
    expect(problem).not.toMatch(/chat-secret|example\.com|invalid/u);
  });

  it("fails to a server whose certificate nobody vouches for", { tags: "long" }, async () => {
    const place = folder();
    const [key, cert] = [join(place, "key.pem"), join(place, "cert.pem")];
    const subject = ["-subj", "/CN=127.0.0.1", "-days", "2", "-nodes", "-newkey", "rsa:2048"];
    execFileSync("openssl", ["req", "-x509", ...subject, "-keyout", key, "-out", cert], { stdio: "ignore" });
    let asked = 0;
    const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (_request, response) => {
      asked += 1;
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/chat-secret`;
    expect(await calling(url)).toContain("could not be reached (DEPTH_ZERO_SELF_SIGNED_CERT)");
    expect(asked).toBe(0);
  });
});

describe("a message by mail", () => {
  it("says what stands, and its subject is made of closed words, a count and the instance", async () => {
    const server = await startMailServer();
    const told = message({ summary: hostile, count: 3, instance: "north\r\nBcc: all@example.com (ledger_1)" });
    const channel = { kind: "mail", to: ["ops@example.com", "night@example.com"] };
    expect(await send(channel, { mailPort: server.port, told })).toEqual({ problem: undefined, partly: undefined });
    const [mail] = server.received;
    expect(mail?.to).toEqual(["RCPT TO:<ops@example.com>", "RCPT TO:<night@example.com>"]);
    const raw = mail?.raw ?? "";
    const [head = ""] = raw.split("\r\n\r\n");
    const unfolded = head.replaceAll(/\r\n[ \t]+/gu, " ");
    expect(unfolded).toMatch(
      /^Subject: crm-sync, north {2}?Bcc: all@example\.com \(ledger_1\): started: hold \(3\)$/mu,
    );
    expect(unfolded).not.toMatch(/^Bcc:/mu);
    expect(unfolded).not.toContain("evil.example");
    expect(raw).toContain("Content-Type: text/plain");
    expect(raw).not.toContain("text/html");
    expect(raw.replaceAll("=\r\n", "")).toContain("https://sync.example.com/hold/rev_1");
  });

  it("counts as told where one of several recipients is refused, and says so without the address", async () => {
    const server = await startMailServer({ refuse: "550 night@example.com is nobody here", only: "night@" });
    const sent = await send({ kind: "mail", to: ["ops@example.com", "night@example.com"] }, { mailPort: server.port });
    expect(sent).toEqual({ problem: undefined, partly: "1 of 2 recipients were refused" });
    expect(server.received).toHaveLength(1);
  });

  it("is given up where a server never comes to an end, however much it says", { tags: "long" }, async () => {
    const server = createPlainServer((socket) => {
      socket.write("220 welcome\r\n");
      const dripping = setInterval(() => socket.write("250-and more\r\n"), 20);
      socket.on("error", () => undefined).on("close", () => clearInterval(dripping));
      onTestFinished(() => void socket.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const mailPort = (server.address() as AddressInfo).port;
    const sent = await send({ kind: "mail", to: ["ops@example.com"] }, { mailPort, timeoutMs: 400 });
    // On a busy machine a pause between two of its lines may be longer than the time-out.
    expect(sent.problem).toMatch(/^the mail server took longer than 2400 ms$|^Timeout$/u);
  });

  it("goes over no connection that is not encrypted where that is asked for", async () => {
    const server = await startMailServer();
    const told = { mailPort: server.port, tls: "starttls" } as const;
    expect((await send({ kind: "mail", to: ["ops@example.com"] }, told)).problem).toBeDefined();
    expect(server.received).toEqual([]);
  });

  it("fails where all are refused or nobody answers, and no address stands in the reason", async () => {
    const server = await startMailServer({ refuse: "550 ops@example.com is nobody here" });
    const refused = await send({ kind: "mail", to: ["ops@example.com"] }, { mailPort: server.port });
    expect(refused.problem).toContain("550");
    expect(refused.problem).not.toContain("ops@example.com");
    expect((await send({ kind: "mail", to: ["ops@example.com"] }, { mailPort: 1 })).problem).toContain("ECONNREFUSED");
    expect((await send({ kind: "mail", to: ["ops@example.com"] })).problem).toBe("no mail server is configured");
  });
});

it("channels and switches hold their addresses as references, and what is no reference is refused", () => {
  const refused = (given: object): string => {
    const parsed = alertSettingsSchema.safeParse(given);
    return parsed.success ? "" : messageOf(parsed.error);
  };
  expect(refused({ deadMansSwitches: [{ url: "https://ping.example.com/secret" }] })).toContain("url");
  expect(refused({ channels: [{ kind: "webhook", url: "http://a.example.com", token: "env:T" }] })).toContain("https");
  expect(refused({ channels: [{ kind: "mail", to: ["a@example.com"], kinds: ["no-such-kind"] }] })).toContain("kinds");
});
