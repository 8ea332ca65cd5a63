import { describe, expect, it } from "vitest";
import { againAfter, timeToLeave } from "../../src/engine/settle-time.ts";

const minute = 60_000;
const now = 100 * minute;
const landsMs = 2 * minute;
const clockSkewMs = 5 * minute;

/** Who held the lock when it was sent, and who holds it now. */
const holders = {
  "the same lock of the same boot": ["boot 1:7", "boot 1:7"],
  "another file's lock": ["boot 1:7", "boot 1:8"],
  "the same file after a restart of the machine": ["boot 1:7", "later 1:7"],
  "a lock that proves nothing, then": [undefined, "boot 1:7"],
  "a lock that proves nothing, now": ["boot 1:7", undefined],
  "no lock that proves anything": [undefined, undefined],
} as const;

/** When its token ends. */
const ends = { "not known": undefined, over: now - minute, soon: now + minute, later: now + 60 * minute } as const;

const paused = {
  "not known": { by: "asks", afterMs: 7 * minute },
  over: { by: "paused", afterMs: 7 * minute },
  soon: { by: "paused", afterMs: 7 * minute },
  later: { by: "paused", afterMs: 65 * minute },
};

describe("a call that was left in the middle is sent again", () => {
  it.each(
    Object.entries(holders).flatMap(([whose, [holder, taker]]) =>
      Object.entries(ends).map(([end, acceptedUntil]) => ({ whose, holder, taker, end, acceptedUntil })),
    ),
  )(
    "after the time that $whose and a token whose end is $end allow",
    async ({ whose, holder, taker, end, acceptedUntil }) => {
      const left = { holder, taker, startedAt: now - minute, acceptedUntil };
      const passedSince = async (instant: number): Promise<number> => now - instant;
      expect(await againAfter(left, { landsMs, clockSkewMs, passedSince })).toEqual(
        whose === "the same lock of the same boot"
          ? { by: "ended", afterMs: landsMs }
          : Object.entries(paused).find(([name]) => name === end)?.[1],
      );
    },
  );
});

describe("a call is late for its first byte", () => {
  it.each([
    ["no time", 0, 0, false],
    ["a moment less than half of the time", 2.5 * minute - 1, 2.5 * minute - 1, false],
    ["half of the time", 2.5 * minute, 2.5 * minute, true],
    ["half of the time, while the monotonic clock stood still", 0, 2.5 * minute, true],
    ["half of the time, while the wall clock was set back", 2.5 * minute, -minute, true],
  ])("after %s", (_, monotonicMs, wallMs, late) => {
    const at = { monotonic: 0, now: 0 };
    const clock = { monotonic: () => at.monotonic, now: () => at.now, sleep: () => Promise.resolve() };
    const isLate = timeToLeave(clock, clockSkewMs);
    Object.assign(at, { monotonic: monotonicMs, now: wallMs });
    expect(isLate()).toBe(late);
  });
});
