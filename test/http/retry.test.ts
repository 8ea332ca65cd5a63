import { describe, expect, test } from "vitest";
import { backoffMs, createRetryBudget, retryAfterMs, retryRead, type FailedAttempt } from "../../src/http/retry.ts";
import { createLeapClock } from "./scripted-service.ts";

const options = { baseMs: 200, capMs: 20_000 };

function waits(fraction: number): number[] {
  const random = { fraction: () => fraction, hex: () => "" };
  return Array.from({ length: 10 }, (_, attempt) => backoffMs(attempt, options, random));
}

describe("the wait before a repetition", () => {
  test("is anything from nothing to the whole step", () => {
    expect(waits(0)).toEqual(Array.from({ length: 10 }, () => 0));
    expect(waits(0.5)).toEqual([100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000, 10_000]);
  });

  test("grows to the double each time, up to the cap and never beyond", () => {
    expect(waits(1)).toEqual([200, 400, 800, 1_600, 3_200, 6_400, 12_800, 20_000, 20_000, 20_000]);
    const random = { fraction: () => 1, hex: () => "" };
    expect(backoffMs(5_000, options, random)).toBe(20_000);
  });
});

describe("the repetitions in store", () => {
  test("are spent one by one, and there are none left then", () => {
    const budget = createRetryBudget(2);
    expect([budget.take(), budget.take(), budget.take()]).toEqual([true, true, false]);
  });

  test("come back by one for ten calls that succeed, and never beyond the size", () => {
    const budget = createRetryBudget(1);
    budget.take();
    for (let call = 0; call < 9; call += 1) budget.earn();
    expect(budget.take()).toBe(false);
    budget.earn();
    expect(budget.take()).toBe(true);
    for (let call = 0; call < 100; call += 1) budget.earn();
    expect(budget.left()).toBe(1);
  });
});

describe("Retry-After", () => {
  test("is seconds or an HTTP date, never more than a day, and nothing where it is neither", () => {
    const now = Date.UTC(2026, 10, 22);
    const day = 86_400_000;
    const inAWeek = new Date(now + 7 * day).toUTCString();
    const found = [
      "7",
      " 0 ",
      "31536000",
      new Date(now + 90_000).toUTCString(),
      inAWeek,
      new Date(now - 1).toUTCString(),
    ];
    expect(found.map((header) => retryAfterMs(header, now))).toEqual([7_000, 0, day, 90_000, day, 0]);
    for (const header of [undefined, "", "-5", "1.5", "soon", "2026-11-22", "Sun, never"])
      expect(retryAfterMs(header, now)).toBeUndefined();
  });
});

describe("a read that fails", () => {
  const random = { fraction: () => 1, hex: () => "" };
  const wait = { kind: "wait" } as const;

  /** Fails as it is told, then succeeds; gives what came out and how often it was tried. */
  async function readWith(failures: FailedAttempt["again"][], attempts = 4, mayRepeat?: () => boolean) {
    const clock = createLeapClock();
    let tried = 0;
    const outcome = await retryRead<string>(
      () => {
        const again = failures[tried];
        tried += 1;
        return Promise.resolve(
          again === undefined ? { value: "read" } : { error: new Error(`failure ${tried}`), again },
        );
      },
      { attempts, ...options, clock, random, mayRepeat },
    ).catch((thrown: Error) => thrown.message);
    return [outcome, tried, clock.monotonic()];
  }

  test("is made again after a growing wait, not before the service asked for it, and not more often than is allowed", async () => {
    expect(await readWith([wait, wait])).toEqual(["read", 3, 600]);
    expect(await readWith([{ kind: "wait", afterMs: 7_000 }, wait])).toEqual(["read", 3, 7_400]);
    expect(await readWith([wait, wait, wait, wait, wait])).toEqual(["failure 4", 4, 1_400]);
    expect(await readWith(["never"])).toEqual(["failure 1", 1, 0]);
    expect(await readWith([wait, wait], 4, () => false)).toEqual(["failure 1", 1, 0]);
  });

  test("is made again at once for a renewed token, a single time for each, which counts as no attempt", async () => {
    const renewed = (token: string) => ({ kind: "at-once", once: token }) as const;
    expect(await readWith([renewed("a"), renewed("b"), wait], 2)).toEqual(["read", 4, 200]);
    expect(await readWith([renewed("a"), renewed("a")])).toEqual(["failure 2", 2, 0]);
    expect(
      await readWith([
        { ...wait, once: "odd" },
        { ...wait, once: "odd" },
      ]),
    ).toEqual(["failure 2", 2, 200]);
  });
});
