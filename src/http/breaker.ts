import type { Clock } from "../base/clock.ts";

export type BreakerState =
  | { state: "closed" }
  | { state: "open"; reason: string; probeInMs: number }
  | { state: "probing"; reason: string };

/** The leave that a call got from the breaker; `probe` decides alone whether the service is called again. */
export type Leave = { kind: "pass" } | { kind: "probe" } | { kind: "refused"; reason: string };

/** Leaves a service alone that fails, and lets one call try it again after a while. */
export interface Breaker {
  /** Asks for leave. A `probe` must be followed by `success`, `failure` or `release`. */
  ask(): Leave;
  /** The reason for which a call would be refused now, without asking for leave. */
  refusal(): string | undefined;
  /** Resolves when the probe that is under way has ended; undefined where none is. */
  probeEnds(): Promise<void> | undefined;
  success(leave: Leave): void;
  /** The service failed: no answer, 5xx, no JSON, "500". */
  failure(leave: Leave, reason: string): void;
  /** The call says nothing about the service. */
  release(leave: Leave): void;
  /** A code that the contract does not list: from three customers within five minutes, the service is left alone (A2). */
  unlistedCode(leave: Leave, code: string, customer: string): void;
  state(): BreakerState;
}

const unlistedWindowMs = 300_000;
const unlistedCustomers = 3;

export function createBreaker(options: {
  failures: number;
  openMs: number;
  clock: Clock;
  onChange?: (state: BreakerState) => void;
}): Breaker {
  const { clock, openMs } = options;
  let failuresInRow = 0;
  let opened: { reason: string; until: number; lastedMs: number } | undefined;
  let probe: { ended: Promise<void>; end: () => void } | undefined;
  const unlisted = new Map<string, number>();

  function endProbe(): void {
    probe?.end();
    probe = undefined;
  }

  function open(reason: string): void {
    const lastedMs = opened === undefined ? openMs : Math.min(opened.lastedMs * 2, openMs * 20);
    opened = { reason, until: clock.monotonic() + lastedMs, lastedMs };
    endProbe();
    options.onChange?.(state());
  }

  function close(): void {
    if (opened === undefined) return;
    opened = undefined;
    endProbe();
    unlisted.clear();
    options.onChange?.(state());
  }

  function state(): BreakerState {
    if (opened === undefined) return { state: "closed" };
    if (probe !== undefined) return { state: "probing", reason: opened.reason };
    return { state: "open", reason: opened.reason, probeInMs: Math.max(0, opened.until - clock.monotonic()) };
  }

  function refusal(): string | undefined {
    if (opened === undefined) return undefined;
    if (probe !== undefined) return `the service is being tried again after: ${opened.reason}`;
    return opened.until > clock.monotonic() ? `the service is left alone after: ${opened.reason}` : undefined;
  }

  return {
    refusal,
    probeEnds: () => probe?.ended,
    state,
    ask() {
      const reason = refusal();
      if (reason !== undefined) return { kind: "refused", reason };
      if (opened === undefined) return { kind: "pass" };
      let end = (): void => {};
      const ended = new Promise<void>((resolve) => {
        end = resolve;
      });
      probe = { ended, end };
      return { kind: "probe" };
    },
    success(leave) {
      failuresInRow = 0;
      // A call that was under way before the breaker opened does not close it.
      if (leave.kind === "probe") close();
    },
    failure(leave, reason) {
      failuresInRow += 1;
      if (leave.kind === "probe" || (opened === undefined && failuresInRow >= options.failures)) open(reason);
    },
    release(leave) {
      if (leave.kind === "probe") endProbe();
    },
    unlistedCode(leave, code, customer) {
      const now = clock.monotonic();
      for (const [seen, at] of unlisted) if (now - at > unlistedWindowMs) unlisted.delete(seen);
      unlisted.set(customer, now);
      const reason = `code ${code}, which the contract does not list`;
      if (leave.kind === "probe") open(reason);
      else if (opened === undefined && unlisted.size >= unlistedCustomers)
        open(`${reason}, met for ${unlisted.size} customers within five minutes`);
    },
  };
}
