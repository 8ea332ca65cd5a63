import fc from "fast-check";
import { expect, it } from "vitest";
import {
  type Alert,
  countOf,
  concerns,
  dueFor,
  channelDownKey,
  type Change,
  type Due,
  type Told,
} from "../../../src/operate/notify/alert.ts";

const day = 86_400_000;
const began = Date.parse("2026-10-01T00:00:00Z");
const at = (now: number): string => new Date(now).toISOString();

const states = ["hold:a", "unknown:b", "deferred:c"] as const;
const kindOf = (key: (typeof states)[number]): Alert["kind"] =>
  key === "hold:a" ? "hold" : key === "unknown:b" ? "unknown" : "deferred";
const alertOf = (key: (typeof states)[number], count: number): Alert => ({
  key,
  kind: kindOf(key),
  summary: key,
  cure: "look",
  count,
});

const step = fc.record({
  counts: fc.record({
    "hold:a": fc.nat({ max: 3 }),
    "unknown:b": fc.nat({ max: 3 }),
    "deferred:c": fc.nat({ max: 3 }),
  }),
  passes: fc.constantFrom(0, 60_000, day / 2, day, 3 * day),
  isUp: fc.boolean(),
});

/** What one channel told, kept as the ledger keeps it. */
class OneChannel {
  readonly told = new Map<string, Told>();
  readonly heard: { key: string; event: Change["event"]; now: number }[] = [];
  readonly channel;
  constructor(channel: Parameters<typeof dueFor>[0] = { name: "hook" }) {
    this.channel = channel;
  }

  look(now: number, counts: Readonly<Record<(typeof states)[number], number>>, isUp: boolean): Due {
    const standing = states
      .filter((key) => counts[key] > 0)
      .map((key) => ({ alert: alertOf(key, counts[key]), since: at(began) }));
    const due = dueFor(this.channel, standing, this.told, { now, remindAfterMs: day });
    for (const alert of due.fewer) {
      const told = this.told.get(alert.key);
      if (told !== undefined) this.told.set(alert.key, { ...told, alert });
    }
    for (const key of due.forgotten) this.told.delete(key);
    if (!isUp) return due;
    for (const { event, alert, since } of due.changes) {
      this.heard.push({ key: alert.key, event, now });
      if (event === "ended") this.told.delete(alert.key);
      else this.told.set(alert.key, { alert, since, toldAt: at(now) });
    }
    return due;
  }
}

it("a channel that delivers has told of all that stands and of nothing else, and has nothing more to tell at once", () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 12 }), (steps) => {
      const one = new OneChannel();
      let now = began;
      for (const { counts, passes, isUp } of steps) {
        now += passes;
        one.look(now, counts, isUp);
        if (!isUp) continue;
        const standing = states.filter((key) => counts[key] > 0).map((key) => [key, counts[key]] as const);
        const told = [...one.told].map(([key, { alert }]) => [key, countOf(alert)] as const);
        expect(new Map(told)).toEqual(new Map(standing));
        expect(one.look(now, counts, true)).toEqual({ changes: [], fewer: [], forgotten: [] });
      }
    }),
  );
});

it("of each state a channel says that it began, then maybe that it grew or still stands, and that it ended", () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 20 }), (steps) => {
      const one = new OneChannel();
      let now = began;
      for (const { counts, passes, isUp } of steps) one.look((now += passes), counts, isUp);
      for (const key of states) {
        const events = one.heard.filter((item) => item.key === key).map(({ event }) => event);
        expect(events.join(" ")).toMatch(/^(?:started(?: grew| reminder)*(?: ended(?: |$)|$))*$/u);
      }
    }),
  );
});

it("a reminder comes once the time to remind has passed since the channel told of it last, and not before", () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 20 }), (steps) => {
      const one = new OneChannel();
      let now = began;
      for (const { counts, passes, isUp } of steps) one.look((now += passes), counts, isUp);
      for (const [index, { key, event, now: then }] of one.heard.entries()) {
        if (event !== "reminder") continue;
        const before = one.heard.slice(0, index).findLast((item) => item.key === key);
        expect(then - (before?.now ?? then)).toBeGreaterThanOrEqual(day);
      }
    }),
  );
});

it("what still stands is told again after a day, once, and never where that is switched off", () => {
  const one = new OneChannel();
  const counts = { "hold:a": 1, "unknown:b": 0, "deferred:c": 0 };
  const events = (now: number): string[] => one.look(now, counts, true).changes.map(({ event }) => event);
  expect(events(began)).toEqual(["started"]);
  expect(events(began + day - 1)).toEqual([]);
  expect(events(began + day)).toEqual(["reminder"]);
  expect(events(began + day + 1)).toEqual([]);
  expect(events(began + 2 * day)).toEqual(["reminder"]);
  // A clock that was set back by a year.
  expect(events(began - 365 * day)).toEqual(["reminder"]);
  expect(events(began - 365 * day + 1)).toEqual([]);
  const standing = [{ alert: alertOf("hold:a", 1), since: at(began) }];
  const off = { now: began + 99 * day, remindAfterMs: undefined };
  expect(dueFor({ name: "hook" }, standing, one.told, off).changes).toEqual([]);
});

it("a channel tells of the kinds and from the severity that it is for, and never that it does not work itself", () => {
  const hold = alertOf("hold:a", 1);
  const unknown = alertOf("unknown:b", 1);
  const deferred = alertOf("deferred:c", 1);
  const told = (channel: Parameters<typeof concerns>[0]): string[] =>
    [hold, unknown, deferred].filter((alert) => concerns(channel, alert)).map(({ kind }) => kind);
  expect(told({ name: "a" })).toEqual(["hold", "unknown", "deferred"]);
  expect(told({ name: "a", kinds: ["hold"] })).toEqual(["hold"]);
  expect(told({ name: "a", severity: "warning" })).toEqual(["hold", "unknown"]);
  expect(told({ name: "a", severity: "critical" })).toEqual(["unknown"]);
  expect(told({ name: "a", kinds: ["hold"], severity: "critical" })).toEqual([]);
  const down: Alert = { key: channelDownKey("a"), kind: "channel-down", summary: "a is down", cure: "look" };
  expect(concerns({ name: "a" }, down)).toBe(false);
  expect(concerns({ name: "b" }, down)).toBe(true);
});

it("what a channel told of and is not for any more is forgotten without a word, and its end is told as long as it is known", () => {
  const one = new OneChannel();
  one.look(began, { "hold:a": 1, "unknown:b": 1, "deferred:c": 0 }, true);
  const standing = [{ alert: alertOf("hold:a", 1), since: at(began) }];
  const due = dueFor({ name: "hook", kinds: ["unknown"] }, standing, one.told, { now: began, remindAfterMs: day });
  expect(due.forgotten).toEqual(["hold:a"]);
  expect(due.changes.map(({ event, alert }) => `${event} ${alert.key}`)).toEqual(["ended unknown:b"]);
});

it("tells anew of a state that ended and began again, since a program that was killed may have told of its end", () => {
  const alert = alertOf("deferred:c", 1);
  const told = new Map([[alert.key, { alert, since: at(began), toldAt: at(began) }]]);
  const now = began + 60_000;
  const look = (since: number) =>
    dueFor({ name: "hook" }, [{ alert, since: at(since) }], told, { now, remindAfterMs: day }).changes;
  expect(look(began)).toEqual([]);
  expect(look(now)).toEqual([{ event: "started", alert, since: at(now) }]);
});
