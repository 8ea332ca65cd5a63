import { getEventListeners } from "node:events";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Underway } from "../../src/http/transport.ts";

const timeoutMs = 1_000;

/** A call that leaves as it fails, as those of a transport do, and notes why. */
function callOf(underway: Underway, signal?: AbortSignal) {
  const call = {
    failed: undefined as string | undefined,
    fail: (reason: string) => {
      call.failed = reason;
      underway.delete(call);
    },
  };
  underway.add(call, signal);
  return call;
}

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

describe("the calls that are under way", () => {
  it("each take too long by themselves, and those that ended do not", () => {
    const underway = new Underway(timeoutMs);
    const first = callOf(underway);
    vi.advanceTimersByTime(400);
    const [second, ended] = [callOf(underway), callOf(underway)];
    underway.delete(ended);
    vi.advanceTimersByTime(600);
    expect([first.failed, second.failed, ended.failed]).toEqual(["the call took too long", undefined, undefined]);
    vi.advanceTimersByTime(400);
    expect([second.failed, ended.failed]).toEqual(["the call took too long", undefined]);
    const later = callOf(underway);
    vi.advanceTimersByTime(timeoutMs);
    expect(later.failed).toBe("the call took too long");
  });

  it("end with their own signal, to which one listener listens no longer than a time-out after the last", () => {
    const underway = new Underway(timeoutMs);
    const [one, other] = [new AbortController(), new AbortController()];
    const calls = [callOf(underway, one.signal), callOf(underway, one.signal)];
    const still = callOf(underway, other.signal);
    expect(getEventListeners(one.signal, "abort")).toHaveLength(1);
    one.abort();
    expect([...calls.map(({ failed }) => failed), still.failed]).toEqual(["stopped", "stopped", undefined]);
    underway.delete(still);
    callOf(underway, other.signal);
    vi.advanceTimersByTime(timeoutMs);
    expect(getEventListeners(other.signal, "abort")).toHaveLength(0);
  });
});
