import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { pino } from "pino";
import { afterEach, describe, expect, it } from "vitest";
import { KnownSecrets } from "../../src/base/known-secrets.ts";
import type { Json } from "../../src/base/canonical-json.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import type { Alert } from "../../src/operate/notify/alert.ts";
import { notifyChanges } from "../../src/operate/notify/tell.ts";
import { alertSettingsSchema } from "../../src/operate/notify-settings.ts";
import { channelsOf } from "../../src/operate/notify/channels.ts";
import { openLedger } from "../support/world/start.ts";
import { HandClock } from "./hand-schedule.ts";

const clock = new HandClock("2026-01-01T00:00:00Z");

const held: Alert = {
  key: "hold:h1",
  kind: "hold",
  summary: "7 revokes wait.",
  cure: "crm-sync approve h1 --reason TEXT",
};
const down: Alert = {
  key: "source-down:crm",
  kind: "source-down",
  summary: "The source crm is down.",
  cure: "crm-sync check",
};

interface Telling {
  settings: { kind: "log" } | { kind: "webhook"; url: string; token?: string; timeoutMs: number };
  lines?: string[];
  ledger?: Ledger;
  publicUrl?: string;
}

/** Tells by one channel, from a ledger of its own unless it is given one. */
async function telling({ settings, lines = [], ledger: given, publicUrl }: Telling) {
  const ledger = given ?? (await openLedger({ clock })).ledger;
  const logger = pino({ level: "info" }, { write: (line: string) => lines.push(line) });
  const deps = {
    channels: channelsOf(alertSettingsSchema.parse({ channels: settings.kind === "log" ? [] : [settings] })).slice(-1),
    remindAfterMs: undefined,
    publicUrl,
    mail: undefined,
    suggested: (text: string) => text,
    instance: "here (ledger_1)",
    store: ledger.schedule,
    clock,
    logger,
    known: new KnownSecrets(),
    secret: () => "\uFEFFhook-token\r\n\n",
  };
  return async (now: Alert[]) =>
    (await notifyChanges(now, deps)).map(({ message }) => `${message.event} ${message.key}`);
}

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function webhook(
  status: () => number | undefined,
): Promise<{ url: string; got: { body: Json; authorization: string | undefined }[] }> {
  const got: { body: Json; authorization: string | undefined }[] = [];
  server = createServer((incoming, answer) => {
    let text = "";
    incoming.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    incoming.on("end", () => {
      got.push({ body: JSON.parse(text) as Json, authorization: incoming.headers.authorization });
      const code = status();
      if (code !== undefined) answer.writeHead(code).end("x".repeat(200_000));
    });
  });
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, got };
}

describe("alerts", () => {
  it("tell that something starts and stops needing a person, and nothing in between", async () => {
    const lines: string[] = [];
    const tell = await telling({ settings: { kind: "log" }, lines });
    expect(await tell([held])).toEqual(["started hold:h1"]);
    expect(await tell([held, { ...held, summary: "8 revokes wait." }])).toEqual([]);
    expect(await tell([down, held])).toEqual(["started source-down:crm"]);
    expect(await tell([down])).toEqual(["ended hold:h1"]);
    expect(await tell([])).toEqual(["ended source-down:crm"]);
    expect(await tell([])).toEqual([]);
    expect(lines).toHaveLength(4);
    expect(JSON.parse(lines[2] ?? "")).toMatchObject({
      event: "alert.ended",
      kind: "hold",
      summary: "this has ended: 7 revokes wait.",
      cure: "nothing: it has ended",
    });
  });

  it.each(["rejected", "deferred", "not-as-placed", "quarantine", "hold"] as const)(
    "of the kind %s end as what they began as, and end before others of their kind begin",
    async (kind) => {
      const lines: string[] = [];
      const tell = await telling({ settings: { kind: "log" }, lines });
      const alert = { key: `${kind}:a`, kind, summary: "One thing.", cure: "Look." };
      await tell([alert]);
      expect(await tell([{ ...alert, key: `${kind}:b` }])).toEqual([`ended ${kind}:a`, `started ${kind}:b`]);
      expect(lines.map((line) => (JSON.parse(line) as { kind: string }).kind)).toEqual([kind, kind, kind]);
    },
  );

  it("send a token over plain http to this machine only", () => {
    const said = (url: string, token?: string): string | undefined =>
      alertSettingsSchema.safeParse({ channels: [{ kind: "webhook", url, token }] }).error?.issues[0]?.message;
    expect(said("http://alerts.example.com/hook", "env:ALERT_TOKEN")).toContain("must be https");
    for (const [url, token] of [
      ["http://127.0.0.1:9/hook", "env:T"],
      ["https://alerts.example.com/hook", "env:T"],
    ] as const)
      expect(said(url, token)).toBeUndefined();
    expect(said("http://alerts.example.com/hook")).toBeUndefined();
  });

  it("of one kind are one message with a count and the first few, and one that grows is told again", async () => {
    const hook = await webhook(() => 204);
    const tell = await telling({ settings: { kind: "webhook", url: hook.url, timeoutMs: 60_000 } });
    const holds = Array.from({ length: 13 }, (_, n) => ({ ...held, key: `hold:h${n}`, summary: `C${n} is held` }));
    const group: Alert = { ...down, key: "deferred:orders:x", kind: "deferred", count: 400 };
    expect(await tell([...holds, group])).toEqual(["started hold", "started deferred:orders:x"]);
    expect(hook.got[0]?.body).toMatchObject({
      kind: "hold",
      count: 13,
      summary: "13 holds wait for approval: C0 is held; C1 is held; C2 is held; and 10 more",
      states: [{ key: "hold:h0" }, { key: "hold:h1" }, { key: "hold:h2" }],
    });
    expect(await tell([...holds, group])).toEqual([]);
    expect(await tell([...holds, { ...group, count: 10 }])).toEqual([]);
    expect(await tell([...holds, { ...group, count: 11 }])).toEqual(["grew deferred:orders:x"]);
    expect((await tell([])).toSorted()).toEqual(["ended deferred:orders:x", "ended hold"]);
  });

  it("are posted to a webhook as JSON with its token", async () => {
    const hook = await webhook(() => 204);
    const tell = await telling({ settings: { kind: "webhook", url: hook.url, token: "env:HOOK", timeoutMs: 60_000 } });
    expect(await tell([down])).toEqual(["started source-down:crm"]);
    expect(hook.got).toEqual([
      {
        authorization: "Bearer hook-token",
        body: {
          ...down,
          event: "started",
          severity: "warning",
          instance: "here (ledger_1)",
          count: 1,
          states: [],
          since: "2026-01-01T00:00:00.000Z",
          at: "2026-01-01T00:00:00.000Z",
        },
      },
    ]);
  });

  it(
    "that a webhook refused or never answered are logged, do not stop the run, and are tried again",
    { tags: "long" },
    async () => {
      const answers: (number | undefined)[] = [500, undefined, 302, 200, 200];
      const hook = await webhook(() => answers.shift());
      const lines: string[] = [];
      const { ledger } = await openLedger({ clock });
      const tell = await telling({ settings: { kind: "webhook", url: hook.url, timeoutMs: 60_000 }, lines, ledger });
      const tellInHaste = await telling({
        settings: { kind: "webhook", url: hook.url, timeoutMs: 2_000 },
        lines,
        ledger,
      });
      expect(await tell([held])).toEqual([]);
      expect(await tellInHaste([held])).toEqual([]);
      expect(await tell([held])).toEqual([]);
      expect(await tell([held])).toEqual(["started hold:h1"]);
      expect(await tell([])).toEqual(["ended hold:h1"]);
      expect(lines.map((line) => (JSON.parse(line) as { reason: string }).reason)).toEqual([
        "the webhook answered HTTP 500",
        "the webhook took longer than 2000 ms",
        "the webhook answered HTTP 302",
      ]);
      expect(lines.join("")).not.toContain("hook-token");
    },
  );

  it("of an end that could not be delivered are tried again, and of a start nobody heard of are dropped", async () => {
    let status = 200;
    const hook = await webhook(() => status);
    const { ledger } = await openLedger({ clock });
    const tell = await telling({ settings: { kind: "webhook", url: hook.url, timeoutMs: 60_000 }, ledger });
    await tell([held]);
    status = 503;
    expect(await tell([down])).toEqual([]);
    status = 200;
    expect(await tell([])).toEqual(["ended hold:h1"]);
    expect((await ledger.schedule.alerts()).size).toBe(0);
    expect(await ledger.schedule.toldAlerts()).toEqual([]);
  });
});
