import fc from "fast-check";
import { pino } from "pino";
import { expect, it } from "vitest";
import { KnownSecrets } from "../../../src/base/known-secrets.ts";
import type { Alert } from "../../../src/operate/notify/alert.ts";
import { notifyChanges } from "../../../src/operate/notify/tell.ts";
import { alertSettingsSchema } from "../../../src/operate/notify-settings.ts";
import { channelsOf } from "../../../src/operate/notify/channels.ts";
import { tellPeople } from "../../../src/operate/alerts.ts";
import type { Ledger } from "../../../src/ledger/ledger.ts";
import { startServer } from "../../support/http-server.ts";
import { openLedger } from "../../support/world/start.ts";
import { day, HandClock } from "../hand-schedule.ts";

const hold = (id: string, count = 1): Alert => ({
  key: `hold:${id}`,
  kind: "hold",
  summary: `${id}: 7 revokes wait`,
  cure: "crm-sync approve",
  count,
});

interface Hook {
  url: string;
  got: string[];
  answer: number;
}

async function hook(): Promise<Hook> {
  const made: Hook = { url: "", got: [], answer: 200 };
  made.url = await startServer(({ body }, response) => {
    const { event, key, count, summary } = JSON.parse(body) as Record<string, string>;
    if (made.answer < 300) made.got.push(`${event} ${key} ${count}: ${summary}`);
    response.writeHead(made.answer).end();
  });
  return made;
}

function deps(ledger: Ledger, clock: HandClock, channels: Readonly<Record<string, Hook>>) {
  const alerts = alertSettingsSchema.parse({
    channels: Object.entries(channels).map(([name, { url }]) => ({ kind: "webhook", name, url })),
  });
  return {
    channels: channelsOf(alerts).slice(1),
    switches: [],
    remindAfterMs: day,
    publicUrl: undefined,
    mail: undefined,
    suggested: (text: string) => text,
    instance: "here",
    store: ledger.schedule,
    ledger,
    clock,
    logger: pino({ level: "silent" }),
    secret: () => "",
    known: new KnownSecrets(),
  };
}

it("what stands is told by each channel when it begins, grows, still stands a day later, and ends", async () => {
  const clock = new HandClock("2026-10-01T00:00:00Z");
  const { ledger } = await openLedger({ clock });
  const [a, b] = [await hook(), await hook()];
  const look = async (...now: Alert[]): Promise<void> => {
    await notifyChanges(now, deps(ledger, clock, { a, b }));
  };
  await look(hold("h1"), hold("h2"));
  clock.pass(day / 2);
  b.answer = 500;
  await look(hold("h1", 4), hold("h2"));
  clock.pass(day / 2);
  await look(hold("h1", 4), hold("h2"));
  b.answer = 200;
  clock.pass(day / 2);
  await look(hold("h1", 4), hold("h2"));
  await look(hold("h2"));
  expect(a.got).toEqual([
    "started hold 2: 2 holds wait for approval: h1: 7 revokes wait; h2: 7 revokes wait",
    "grew hold:h1 4: h1: 7 revokes wait",
    "reminder hold:h2 1: this still stands: h2: 7 revokes wait",
    "reminder hold:h1 4: this still stands: h1: 7 revokes wait",
    "ended hold:h1 4: this has ended: h1: 7 revokes wait",
  ]);
  // The channel that was down hears of the growth, and a reminder counts from when it heard last.
  expect(b.got).toEqual([
    "started hold 2: 2 holds wait for approval: h1: 7 revokes wait; h2: 7 revokes wait",
    "grew hold:h1 4: h1: 7 revokes wait",
    "reminder hold:h2 1: this still stands: h2: 7 revokes wait",
    "ended hold:h1 4: this has ended: h1: 7 revokes wait",
  ]);
});

it("a channel hears the same whatever becomes of another one", { tags: "long" }, async () => {
  const [a, b, alone] = [await hook(), await hook(), await hook()];
  const step = fc.record({
    counts: fc.array(fc.nat({ max: 2 }), { minLength: 3, maxLength: 3 }),
    passes: fc.constantFrom(1_000, day),
    a: fc.constantFrom(200, 200, 500),
    b: fc.constantFrom(200, 429, 503),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
      const clock = new HandClock("2026-10-01T00:00:00Z");
      const [one, other] = [await openLedger({ clock }), await openLedger({ clock })];
      for (const each of [a, b, alone]) each.got = [];
      for (const { counts, passes, a: answer, b: others } of steps) {
        clock.pass(passes);
        a.answer = answer;
        alone.answer = answer;
        b.answer = others;
        const now = counts.flatMap((count, index) => (count === 0 ? [] : [hold(`h${index}`, count)]));
        await notifyChanges(now, deps(one.ledger, clock, { a, b }));
        await notifyChanges(now, deps(other.ledger, clock, { a: alone }));
      }
      expect(a.got).toEqual(alone.got);
      one.ledger.close();
      other.ledger.close();
    }),
    { numRuns: 40 },
  );
});

it("a channel that is added hears what stands, and one that is taken away is forgotten with what it had to tell", async () => {
  const clock = new HandClock("2026-10-01T00:00:00Z");
  const { ledger } = await openLedger({ clock });
  const [a, b] = [await hook(), await hook()];
  await notifyChanges([hold("h1")], deps(ledger, clock, { a }));
  await notifyChanges([hold("h1")], deps(ledger, clock, { a, b }));
  expect([a.got.length, b.got.length]).toEqual([1, 1]);
  a.answer = 500;
  await tellPeople(deps(ledger, clock, { a, b }), undefined);
  expect(b.got.slice(1)).toEqual([
    "ended hold:h1 1: this has ended: h1: 7 revokes wait",
    expect.stringContaining("started channel-down:a 1: a does not deliver alerts: the webhook answered HTTP 500"),
  ]);
  await tellPeople(deps(ledger, clock, { b }), undefined);
  expect(b.got.slice(3)).toEqual([expect.stringContaining("ended channel-down:a")]);
  expect(await ledger.schedule.toldAlerts()).toEqual([]);
  expect((await ledger.schedule.deliveries()).map(({ name }) => name)).toEqual(["b"]);
});

it("a message that is refused keeps none of the others from being told, and one that is not answered does", async () => {
  const clock = new HandClock("2026-10-01T00:00:00Z");
  const { ledger } = await openLedger({ clock });
  const asked: string[] = [];
  let isGone = false;
  const url = await startServer(({ body }, response, request) => {
    const { kind } = JSON.parse(body) as { kind: string };
    asked.push(kind);
    if (isGone) request.socket.destroy();
    else response.writeHead(kind === "hold" ? 400 : 200).end();
  });
  const down: Alert = { key: "source-down:crm", kind: "source-down", summary: "s", cure: "c" };
  const failed: Alert = { key: "run-failed:j", kind: "run-failed", summary: "s", cure: "c" };
  const channel = { a: { url, got: [], answer: 200 } };
  isGone = true;
  expect(await notifyChanges([hold("h1"), down, failed], deps(ledger, clock, channel))).toEqual([]);
  expect(asked).toEqual(["hold"]);
  isGone = false;
  const delivered = await notifyChanges([hold("h1"), down, failed], deps(ledger, clock, channel));
  expect(delivered.map(({ message }) => message.kind)).toEqual(["source-down", "run-failed"]);
});
