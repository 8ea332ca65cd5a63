import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { pino } from "pino";
import { expect, it } from "vitest";
import { KnownSecrets } from "../../src/base/known-secrets.ts";
import { alertKinds, severities, severityOf } from "../../src/operate/notify/alert.ts";
import { testMessage } from "../../src/operate/notify/message.ts";
import { deliver } from "../../src/operate/notify/channels.ts";
import { startServer } from "../support/http-server.ts";
import { folder } from "../support/world/start.ts";
import { HandClock } from "../operate/hand-schedule.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/reference/alerts.md"), "utf8");
const block = (language: string): string =>
  new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\``, "mu").exec(page)?.[1] ?? "";

type Verify = (body: string, header: string | undefined, key: string, nowSeconds?: number) => boolean;

it("what the page says a receiver does takes what was signed with its key just now, and nothing else", async () => {
  const file = join(folder(), "verify.mjs");
  writeFileSync(file, block("js"));
  const { isFromCrmSync } = (await import(pathToFileURL(file).href)) as { isFromCrmSync: Verify };
  const got: { body: string; header: string | undefined }[] = [];
  const url = await startServer(({ body, headers }, response) => {
    const header = headers["crm-sync-signature"];
    got.push({ body, header: typeof header === "string" ? header : undefined });
    response.end();
  });
  const clock = new HandClock("2026-10-01T08:00:00Z");
  const settings = { kind: "webhook", url, signKey: "env:KEY", timeoutMs: 60_000, severity: "notice" } as const;
  const deps = {
    clock,
    logger: pino({ level: "silent" }),
    mail: undefined,
    environment: {},
    secret: () => "the key",
    known: new KnownSecrets(),
  };
  const message = testMessage({ instance: "Zürich", at: "2026-10-01T08:00:00.000Z", publicUrl: undefined });
  await deliver(message, { name: "hook", settings }, deps);
  const { body = "", header = "" } = got[0] ?? {};
  const now = clock.now() / 1_000;
  expect(isFromCrmSync(body, header, "the key", now)).toBe(true);
  expect(isFromCrmSync(body, header, "the key", now + 299)).toBe(true);
  expect(isFromCrmSync(body, header, "the key", now + 301)).toBe(false);
  expect(isFromCrmSync(body, header, "another key", now)).toBe(false);
  expect(isFromCrmSync(body.replace("notice", "critical"), header, "the key", now)).toBe(false);
  expect(isFromCrmSync(body, header.replace(/t=\d+/u, `t=${now + 1}`), "the key", now)).toBe(false);
  expect(isFromCrmSync(body, undefined, "the key", now)).toBe(false);
});

it("its table has every kind with its severity", () => {
  for (const severity of severities) {
    const [, listed = ""] = new RegExp(`^\\| ${severity} \\| (.+) \\|$`, "mu").exec(page) ?? [];
    const kinds = alertKinds.filter((kind) => severityOf(kind) === severity);
    expect([...listed.matchAll(/`([^`]+)`/gu)].map(([, kind]) => kind)).toEqual(kinds);
  }
});
